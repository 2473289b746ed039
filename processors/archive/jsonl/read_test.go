package jsonl

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/weftcrawl/weft/internal/blob"
)

func TestIsFile(t *testing.T) {
	for name, want := range map[string]bool{
		"pages-000001.jsonl": true, "a/b.jsonl.gz": true, "c.jsonl.zst": true,
		"pages.state": false, "c.parquet": false, "c.json": false, "jsonl.gz": false, "c.jsonl.zst.gz": false, "c.jsonl.bz2": false,
	} {
		if IsFile(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}

// Lines are those that a writer wrote, with each compression. The first error ends the reading.
func TestLines(t *testing.T) {
	b, err := blob.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for c, extension := range extensions {
		name, want := "p.jsonl"+extension, []string{`{"n":1}`, `{"n":2}`}
		putLines(t, b, name, c, want)
		if got, err := readLines(t.Context(), b, name); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		failed := errors.New("enough")
		if err := Lines(t.Context(), b, name, func([]byte) error { return failed }); !errors.Is(err, failed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := readLines(t.Context(), b, "none.jsonl"); !errors.Is(err, blob.ErrNotExist) {
		t.Error(err)
	}
}

func putLines(t *testing.T, b blob.Bucket, name string, c Compression, lines []string) {
	t.Helper()
	var text bytes.Buffer
	w, err := NewWriter(&text, c)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range lines {
		_, failed := w.Write([]byte(line + "\n"))
		err = errors.Join(err, failed)
	}
	if err = errors.Join(err, w.Close(), b.Put(t.Context(), name, bytes.NewReader(text.Bytes()), int64(text.Len()))); err != nil {
		t.Fatal(err)
	}
}

func readLines(ctx context.Context, b blob.Bucket, name string) (lines []string, err error) {
	err = Lines(ctx, b, name, func(line []byte) error {
		lines = append(lines, string(line))
		return nil
	})
	return lines, err
}
