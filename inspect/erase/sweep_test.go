package erase

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/blob"
	"github.com/weftcrawl/weft/test/archived"
	"github.com/weftcrawl/weft/test/s3server"
)

// A process that was killed while it put a file has left a copy of the page. An upload may take a day.
func TestRemainsAreRemoved(t *testing.T) {
	archive, copies := t.TempDir(), t.TempDir()
	open := func(dir string) blob.Bucket {
		b, err := blob.Open(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	b, pages := open(archive), open(copies)
	fill(t, b, pages)
	remains := map[string]time.Duration{ // with their ages
		filepath.Join(archive, ".put-1234567"):          25 * time.Hour,
		filepath.Join(archive, "index", ".put-1234567"): 25 * time.Hour,
		filepath.Join(copies, ".put-1234567"):           25 * time.Hour,
		filepath.Join(copies, ".put-7654321"):           23 * time.Hour,
	}
	for name, age := range remains {
		err := os.WriteFile(name, []byte(erased), 0o600)
		if err = errors.Join(err, os.Chtimes(name, now.Add(-age), now.Add(-age))); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Run(t.Context(), options(b, pages)); err != nil {
		t.Fatal(err)
	}
	for name, age := range remains {
		_, err := os.Stat(name)
		if stays := age < blob.DeadUploadAge; stays != (err == nil) || !stays && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s, after %v: %v", name, age, err)
		}
	}
}

// In a bucket the remains are parts of an upload.
func TestUploadsAreAborted(t *testing.T) {
	location := s3server.Gateway(t, "erase")
	b, pages := archived.In(t, location, "archive"), archived.In(t, location, "pages")
	fill(t, b, pages)
	body := &stuck{rest: strings.NewReader(strings.Repeat("x", 40<<20)), half: make(chan struct{}), goOn: make(chan struct{})}
	ended := make(chan error)
	go func() { ended <- b.Put(context.WithoutCancel(t.Context()), "c-0f-00007-000.warc.gz", body, 40<<20) }()
	<-body.half
	_, err := Run(t.Context(), options(b, pages))
	close(body.goOn)
	if failed := <-ended; err != nil || failed == nil {
		t.Errorf("the erasure: %v; an upload that began long ago: %v", err, failed)
	}
}

// stuck is a body that waits after 20 MiB, when its upload has begun.
type stuck struct {
	rest       *strings.Reader
	half, goOn chan struct{}
	reached    bool
}

func (s *stuck) Read(p []byte) (int, error) {
	if !s.reached && s.rest.Len() <= 20<<20 {
		s.reached = true
		close(s.half)
		<-s.goOn
	}
	return io.LimitReader(s.rest, 1<<20).Read(p)
}
