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

	"github.com/weftcrawl/weft/inspect/scratch"
	"github.com/weftcrawl/weft/internal/blob"
	"github.com/weftcrawl/weft/processors/archive/jsonl"
)

// manifest says how a generation is made. It is the same for all processes that make it.
type manifest struct {
	Version     string          `json:"version"`
	Format      Format          `json:"format,omitempty"` // empty: JSONLines
	Compression Compression     `json:"compression"`
	Partition   Partition       `json:"partition,omitempty"`
	Settings    json.RawMessage `json:"settings"`
}

// ErrOther means that a generation is made with another version or other settings.
var ErrOther = errors.New("this generation was begun in another way")

// begin writes the manifest of a generation, or compares it with the one that is there. It removes
// what processes left that were killed long ago.
func (o *Options) begin(ctx context.Context) error {
	if err := o.Generation.Sweep(ctx, "", time.Now().Add(-blob.DeadUploadAge)); err != nil {
		return err
	}
	m := manifest{o.Version, o.Format, o.Compression, o.Partition, o.Settings}
	if m.Format == JSONLines {
		m.Format = "" // as versions wrote it that had no other one
	}
	mine, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return fmt.Errorf("describe the generation: %w", err)
	}
	mine = append(mine, '\n')
	err = o.Generation.PutNew(ctx, jsonl.ManifestName, bytes.NewReader(mine), int64(len(mine)))
	if !errors.Is(err, blob.ErrExists) {
		return err
	}
	var there bytes.Buffer
	if err := o.Generation.Get(ctx, jsonl.ManifestName, &there); err != nil {
		return err
	}
	if !bytes.Equal(mine, there.Bytes()) {
		return fmt.Errorf("%w, see %s in %s: take another place, or the same version and flags", ErrOther, jsonl.ManifestName, o.Generation)
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
	file  *os.File
	out   *bufio.Writer
	pages encoder
}

// newDraft makes a draft for a file of the archive.
func (o *Options) newDraft(s *source) (*draft, error) {
	file, err := scratch.File()
	if err != nil {
		return nil, err
	}
	d := &draft{file: file, out: bufio.NewWriterSize(file, 256<<10)}
	if d.pages, err = o.newEncoder(d.out, s); err != nil {
		return nil, errors.Join(fmt.Errorf("make a draft: %w", err), file.Close())
	}
	return d, nil
}

func (d *draft) add(p page, left func()) error {
	defer left()
	if err := d.pages.add(p); err != nil {
		return fmt.Errorf("write a draft: %w", err)
	}
	return nil
}

// publish gives the draft its name. The error is blob.ErrExists if there is a file of this name.
func (d *draft) publish(ctx context.Context, to blob.Bucket, key string) error {
	if err := errors.Join(d.pages.close(), d.out.Flush()); err != nil {
		return fmt.Errorf("write a draft: %w", err)
	}
	size, err := d.file.Seek(0, io.SeekEnd)
	if err != nil {
		return fmt.Errorf("read a draft: %w", err)
	}
	return to.PutNew(ctx, key, io.NewSectionReader(d.file, 0, size), size)
}

func (d *draft) close() { _ = d.file.Close() }
