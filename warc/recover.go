package warc

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/klauspost/compress/gzip"
)

// fileName matches what this package writes and finds the serial number.
var fileName = regexp.MustCompile(`^[^-]+-\d{14}-(\d{5,})-.*\.warc\.gz(\.open)?$`)

// recoverDir finishes files that were left open and returns the highest serial
// number in use.
func recoverDir(dir string) (serial int, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0, err
	}
	for _, e := range entries {
		m := fileName.FindStringSubmatch(e.Name())
		if m == nil {
			continue
		}
		n, err := strconv.Atoi(m[1])
		if err != nil {
			return 0, fmt.Errorf("serial number of %s: %w", e.Name(), err)
		}
		serial = max(serial, n)
		if m[2] != "" {
			if err := recoverFile(filepath.Join(dir, e.Name())); err != nil {
				return 0, err
			}
		}
	}
	return serial, nil
}

// recoverFile cuts a file after its last whole member and gives it its final
// name, or removes it when nothing is whole.
func recoverFile(name string) error {
	whole, err := wholeMembers(name)
	if err != nil {
		return err
	}
	if whole == 0 {
		return os.Remove(name)
	}
	if err := os.Truncate(name, whole); err != nil {
		return err
	}
	return rename(name)
}

// rename takes the suffix off. The serial number keeps the name unique.
func rename(name string) error { return os.Rename(name, strings.TrimSuffix(name, openSuffix)) }

// wholeMembers is the length of the gzip members at the beginning of a file
// that can be read to their end and have the checksum they state.
func wholeMembers(name string) (int64, error) {
	f, err := os.Open(name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	in := &counted{r: bufio.NewReaderSize(f, 1<<20)}
	var whole int64
	var gz *gzip.Reader
	for {
		// Each member is opened on its own: within a stream of members the
		// reader could not tell where one ends.
		if gz == nil {
			gz, err = gzip.NewReader(in)
		} else {
			err = gz.Reset(in)
		}
		if err == nil {
			gz.Multistream(false)
			_, err = io.Copy(io.Discard, gz)
		}
		if in.err != nil {
			return 0, fmt.Errorf("read %s: %w", name, in.err)
		}
		if err != nil {
			return whole, nil // the end, or a torn member
		}
		whole = in.n
	}
}

// counted counts bytes as the decompressor takes them. Being a ByteReader it
// is not read ahead of, so the count after a member is where it ends.
type counted struct {
	r   *bufio.Reader
	n   int64
	err error // of the file, other than its end
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	c.note(err)
	return n, err
}

func (c *counted) ReadByte() (byte, error) {
	b, err := c.r.ReadByte()
	if err == nil {
		c.n++
	}
	c.note(err)
	return b, err
}

func (c *counted) note(err error) {
	if err != nil && !errors.Is(err, io.EOF) {
		c.err = err
	}
}
