package reparse

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/weftcrawl/weft/inspect/scratch"
	"github.com/weftcrawl/weft/internal/blob"
)

// Compression of the files of a generation.
type Compression string

// Compressions.
const (
	None Compression = "none"
	Gzip Compression = "gzip"
	Zstd Compression = "zstd"
)

// Extension is the end of a file's name.
func (c Compression) Extension() string {
	return ".jsonl" + map[Compression]string{Gzip: ".gz", Zstd: ".zst"}[c]
}

// manifestName is the object that says how a generation is made.
const manifestName = "generation.json"

// manifest says how a generation is made. It is the same for all processes that make it.
type manifest struct {
	Version     string          `json:"version"`
	Compression Compression     `json:"compression"`
	Settings    json.RawMessage `json:"settings"`
}

// ErrOther means that a generation is made with another version or other settings.
var ErrOther = errors.New("this generation was begun in another way")

// sweepAge is the age of an upload that no process can still be busy with.
const sweepAge = 24 * time.Hour

// begin writes the manifest of a generation, or compares it with the one that is there. It removes
// what processes left that were killed long ago.
func (o *Options) begin(ctx context.Context) error {
	if err := o.Generation.Sweep(ctx, "", time.Now().Add(-sweepAge)); err != nil {
		return err
	}
	mine, err := json.MarshalIndent(manifest{o.Version, o.Compression, o.Settings}, "", "  ")
	if err != nil {
		return fmt.Errorf("describe the generation: %w", err)
	}
	mine = append(mine, '\n')
	err = o.Generation.PutNew(ctx, manifestName, bytes.NewReader(mine), int64(len(mine)))
	if !errors.Is(err, blob.ErrExists) {
		return err
	}
	var there bytes.Buffer
	if err := o.Generation.Get(ctx, manifestName, &there); err != nil {
		return err
	}
	if !bytes.Equal(mine, there.Bytes()) {
		return fmt.Errorf("%w, see %s in %s: take another place, or the same version and flags", ErrOther, manifestName, o.Generation)
	}
	return nil
}

// exists tells whether there is an object.
func exists(ctx context.Context, b blob.Bucket, key string) (bool, error) {
	for object, err := range b.List(ctx, key) {
		if err != nil || object.Key == key {
			return err == nil, err
		}
	}
	return false, nil
}

// draft is a file that is not published. Its file has no name in the file system, so that it ends
// with the process.
type draft struct {
	file *os.File
	size counter
	out  *bufio.Writer
	pack io.WriteCloser
}

type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

func newDraft(c Compression) (*draft, error) {
	file, err := scratch.File()
	if err != nil {
		return nil, err
	}
	d := &draft{file: file, size: counter{w: file}}
	d.out = bufio.NewWriterSize(&d.size, 256<<10)
	switch c {
	case Gzip:
		d.pack = gzip.NewWriter(d.out)
	case Zstd:
		// With a concurrency of one it works within Write, without goroutines.
		if d.pack, err = zstd.NewWriter(d.out, zstd.WithEncoderConcurrency(1)); err != nil {
			return nil, errors.Join(fmt.Errorf("make a draft: %w", err), file.Close())
		}
	default:
		d.pack = plain{d.out}
	}
	return d, nil
}

// plain is a writer that does not compress.
type plain struct{ io.Writer }

func (plain) Close() error { return nil }

func (d *draft) add(line []byte) error {
	_, err := d.pack.Write(append(line, '\n'))
	if err != nil {
		return fmt.Errorf("write a draft: %w", err)
	}
	return nil
}

// publish gives the draft its name. The error is blob.ErrExists if there is a file of this name.
func (d *draft) publish(ctx context.Context, to blob.Bucket, key string) error {
	if err := errors.Join(d.pack.Close(), d.out.Flush()); err != nil {
		return fmt.Errorf("write a draft: %w", err)
	}
	return to.PutNew(ctx, key, io.NewSectionReader(d.file, 0, d.size.n), d.size.n)
}

func (d *draft) close() { _ = d.file.Close() }
