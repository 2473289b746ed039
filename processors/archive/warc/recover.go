package warc

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/klauspost/compress/gzip"
)

// openName matches the files of earlier versions that were not finished.
var openName = regexp.MustCompile(`^[^-]+-\d{14}-\d{5,}-.*\.warc\.gz\.open$`)

const openSuffix = ".open"

// Recover finishes the files that a killed process of an earlier version left open in a
// folder: their exchanges are committed, and are not read again.
func Recover(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("warc: %w", err)
	}
	for _, e := range entries {
		if openName.MatchString(e.Name()) {
			if err := recoverFile(filepath.Join(dir, e.Name())); err != nil {
				return fmt.Errorf("warc: recover %s: %w", e.Name(), err)
			}
		}
	}
	return nil
}

// recoverFile cuts a file after its last whole member and gives it its final name. A file
// without a whole member is removed.
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

// rename removes the suffix. The serial number keeps the name unique.
func rename(name string) error { return os.Rename(name, strings.TrimSuffix(name, openSuffix)) }

// wholeMembers is the length of the gzip members at the beginning of a file that can be
// read to their end and whose checksums are right.
func wholeMembers(name string) (int64, error) {
	f, err := os.Open(name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	in := bufio.NewReaderSize(f, 1<<20)
	var whole int64
	var gz *gzip.Reader
	for {
		// Each member is opened alone: in a stream of members the reader does not tell
		// where one of them ends.
		if gz == nil {
			gz, err = gzip.NewReader(in)
		} else {
			err = gz.Reset(in)
		}
		if err == nil {
			gz.Multistream(false)
			_, err = io.Copy(io.Discard, gz)
		}
		if failed := (&fs.PathError{}); errors.As(err, &failed) {
			return 0, fmt.Errorf("read %s: %w", name, failed)
		}
		if err != nil {
			return whole, nil // the end, or a torn member
		}
		at, err := f.Seek(0, io.SeekCurrent)
		if err != nil {
			return 0, fmt.Errorf("read %s: %w", name, err)
		}
		whole = at - int64(in.Buffered()) // the decompressor does not read ahead
	}
}
