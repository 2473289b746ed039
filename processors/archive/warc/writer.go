package warc

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/google/uuid"
	"github.com/klauspost/compress/gzip"

	"github.com/weftcrawl/weft/codecs/weftpb"
)

// openSuffix of a file that is being written.
const openSuffix = ".open"

// Writer writes exchanges. It is not safe for concurrent use.
type Writer struct {
	options Options
	serial  int
	file    *os.File // nil between files
	out     *bufio.Writer
	gz      *gzip.Writer
	// written bytes of the file, compressed.
	written int64
	err     error
}

// Open repairs the files that an earlier run left open, and returns a Writer. The first
// Write creates a file.
func Open(options Options) (*Writer, error) {
	if err := options.Validate(); err != nil {
		return nil, err
	}
	o, err := options.withDefaults()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(o.Dir, 0o755); err != nil {
		return nil, fmt.Errorf("warc: %w", err)
	}
	serial, err := recoverDir(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("warc: recover %s: %w", o.Dir, err)
	}
	w := &Writer{options: o, serial: serial}
	w.out = bufio.NewWriterSize(countTo{w}, 256<<10)
	if w.gz, err = gzip.NewWriterLevel(w.out, o.Level); err != nil {
		return nil, fmt.Errorf("warc: %w", err)
	}
	return w, nil
}

type countTo struct{ w *Writer }

func (c countTo) Write(p []byte) (int, error) {
	n, err := c.w.file.Write(p)
	c.w.written += int64(n)
	return n, err
}

// Write adds the records of an exchange. An exchange without a response (status 0) has no
// records. The exchange is not kept after the call.
func (w *Writer) Write(f *weftpb.Fetched) error {
	if w.err != nil {
		return w.err
	}
	if f.GetRobots() != nil {
		f = f.GetRobots()
	}
	if f.GetOutcome().GetStatus() == 0 {
		return nil
	}
	if w.file != nil && w.written+int64(w.out.Buffered()) >= w.options.MaxBytes {
		if err := w.finish(); err != nil {
			return w.fail(err)
		}
	}
	if w.file == nil {
		if err := w.create(); err != nil {
			return w.fail(err)
		}
	}
	response, request := records(f)
	for _, r := range []*record{&response, &request} {
		if err := w.member(r); err != nil {
			return w.fail(err)
		}
	}
	return nil
}

func (w *Writer) member(r *record) error {
	w.gz.Reset(w.out)
	for _, part := range [][]byte{r.finish(), r.head, r.payload, []byte("\r\n\r\n")} {
		if _, err := w.gz.Write(part); err != nil {
			return err
		}
	}
	return w.gz.Close()
}

func (w *Writer) create() error {
	now := w.options.Now().UTC()
	w.serial++
	name := fmt.Sprintf("%s-%s-%05d-%s.warc.gz", w.options.Prefix, now.Format("20060102150405"), w.serial, w.options.Host)
	file, err := os.OpenFile(filepath.Join(w.options.Dir, name+openSuffix), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	w.file, w.written = file, 0
	w.out.Reset(countTo{w})
	info := append([]Field{
		{"hostname", w.options.Host},
		{"format", "WARC File Format 1.1"},
		{"conformsTo", "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"},
	}, w.options.Info...)
	var block []byte
	for _, f := range info {
		block = appendField(block, f.Name, f.Value)
	}
	return w.member(&record{
		fields: []Field{
			{"WARC-Type", "warcinfo"},
			{"WARC-Record-ID", "<urn:uuid:" + uuid.NewSHA1(uuid.NameSpaceURL, []byte(name)).String() + ">"},
			{"WARC-Date", now.Format(time.RFC3339)},
			{"WARC-Filename", name},
			{"Content-Type", "application/warc-fields"},
		},
		head: block,
	})
}

// Flush hands what was written to the kernel.
func (w *Writer) Flush() error {
	if w.err != nil || w.file == nil {
		return w.err
	}
	if err := w.out.Flush(); err != nil {
		return w.fail(err)
	}
	return nil
}

// finish completes the current file and gives it its final name. After an error the file
// keeps its name, and the next Open repairs it.
func (w *Writer) finish() error {
	file := w.file
	err := errors.Join(w.out.Flush(), file.Sync(), file.Close())
	w.file = nil
	if err != nil {
		return err
	}
	return rename(file.Name())
}

// Close completes the current file. After an error the next Open repairs the file.
func (w *Writer) Close() error {
	switch {
	case w.err != nil && w.file != nil:
		err := errors.Join(w.err, w.file.Close())
		w.file = nil
		return err
	case w.err != nil:
		return w.err
	case w.file != nil:
		if err := w.finish(); err != nil {
			return w.fail(err)
		}
	}
	w.err = errClosed
	return nil
}

var errClosed = errors.New("warc: closed")

func (w *Writer) fail(err error) error {
	w.err = fmt.Errorf("write WARC: %w", err)
	return w.err
}
