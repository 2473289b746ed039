package erase

import (
	"context"
	"errors"
	"io"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/inspect/kept"
	"github.com/weftcrawl/weft/inspect/table"
	"github.com/weftcrawl/weft/internal/blob"
	"github.com/weftcrawl/weft/processors/archive/warc"
	"github.com/weftcrawl/weft/test/archived"
)

const day = 24 * time.Hour

func at(b blob.Bucket, now time.Time) Options { return Options{Archive: b, Now: now, Patience: -1} }

// A crawl erases once a day, unless its ages change. Files that are too young are not read.
func TestExpire(t *testing.T) {
	b, pages := archived.Folder(t), archived.Folder(t)
	fill(t, b, pages)
	archived.PutText(t, b, "erasures/20990101T000000.000Z.json", "of a clock that was wrong")
	archived.PutText(t, b, "erasures/notes.txt", "of somebody")
	old := Keep{Domains: map[string]time.Duration{"a.example": 90 * day}}
	for _, c := range []struct {
		keep      Keep
		at        time.Time
		due       bool
		read, has int64 // files that were read, and records that went
	}{
		{Keep{}, now, false, 0, 0},
		{Keep{Default: 100 * day}, now, true, 0, 0},
		{old, now, true, 5, 19},
		{old, now.Add(23 * time.Hour), false, 0, 0},
		{Keep{Domains: map[string]time.Duration{"a.example": 80 * day}}, now.Add(23 * time.Hour), true, 0, 0},
		{old, now.Add(25 * time.Hour), true, 0, 0},
	} {
		report, due, err := Expire(t.Context(), at(b, c.at), c.keep)
		if err != nil || due != c.due || report.Read != c.read || report.Records != c.has {
			t.Errorf("%v at %v: %+v, due %v, %v", c.keep, c.at, report, due, err)
		}
	}
}

// An erasure by age that was killed is finished with its own time and ages, which may have changed since. So
// the pages that stay can be read.
func TestExpireAfterAKill(t *testing.T) {
	x, y := strings.Repeat("the text x ", 200), strings.Repeat("the text y ", 300)
	first := archived.Began.Add(90*day + time.Minute)
	for step := 1; step < 8; step++ {
		for _, later := range []Keep{{Default: 90 * day}, {Default: 30 * day}, {}} {
			b := archived.Folder(t)
			archived.Put(t, b, warc.Gzip, "c-0f-00000-000", nil,
				archived.Exchange("http://a.example/1", x, archived.Began),
				archived.Exchange("http://a.example/0", y, archived.Began.Add(30*time.Minute)), // too old an hour later
				archived.Exchange("http://b.example/0", y, archived.Began.Add(80*day)),
				archived.Exchange("http://b.example/1", x, archived.Began.Add(80*day)))
			ctx, die := context.WithCancel(t.Context())
			left := step
			_, _, _ = Expire(ctx, at(dying{b, &left, true, die}, first), Keep{Default: 90 * day})
			die()
			if _, _, err := Expire(t.Context(), at(b, first.Add(time.Hour)), later); err != nil {
				t.Errorf("step %d, then %v: %v", step, later, err)
			}
			for url, want := range map[string]string{"http://b.example/0": y, "http://b.example/1": x} {
				found, err := kept.Find(t.Context(), b, url, first)
				var body []byte
				if err == nil {
					body, err = found.Body(t.Context())
				}
				if err != nil || string(body) != want {
					t.Errorf("step %d, then %v: %s has %.20q, %v", step, later, url, body, err)
				}
			}
			if contents(t, b)[unfinishedName] != "" {
				t.Errorf("step %d, then %v: it is not finished", step, later)
			}
		}
	}
}

// A file may have a record that is older than the first one, for example of a crawl that replays an archive.
func TestOldRecordInAYoungFile(t *testing.T) {
	b := archived.Folder(t)
	archived.Put(t, b, warc.Gzip, "c-0f-00000-000", nil,
		archived.Exchange("http://a.example/new", "new", archived.Began),
		archived.Exchange("http://a.example/old", "old", archived.Began.Add(-300*day)))
	if report, _, err := Expire(t.Context(), at(b, archived.Began.Add(day)), Keep{Default: 90 * day}); err != nil || report.Records != 2 {
		t.Errorf("%+v, %v", report, err)
	}
	if _, err := kept.Find(t.Context(), b, "http://a.example/new", now); err != nil {
		t.Error(err)
	}
}

// What is made of other objects is not made again if it had nothing to erase.
func TestNothingIsMadeAgain(t *testing.T) {
	b := archived.Folder(t)
	archived.Put(t, b, warc.Gzip, "c-0f-00000-000", nil, archived.Exchange("http://a.example/1", "x", archived.Began))
	if _, err := table.Make(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	if _, _, err := kept.Merge(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	archived.Put(t, b, warc.Gzip, "c-0f-00001-000", nil, archived.Exchange("http://a.example/2", "x", archived.Began))
	before := contents(t, b)
	if _, due, err := Expire(t.Context(), at(b, archived.Began.Add(day)), Keep{Default: 90 * day}); err != nil || !due {
		t.Fatal(due, err)
	}
	for name := range contents(t, b) {
		if before[name] == "" && !strings.HasPrefix(name, logFolder) {
			t.Errorf("%s was made", name)
		}
	}
}

// halting is a bucket that waits before it reads a file a second time, which is to replace it.
type halting struct {
	blob.Bucket
	reached, goOn chan struct{}
}

func (h halting) Get(ctx context.Context, key string, w io.Writer) error {
	if strings.HasSuffix(key, ".warc.gz") {
		h.reached <- struct{}{}
		<-h.goOn
	}
	return h.Bucket.Get(ctx, key, w)
}

// A process that lives has its erasure for itself. One that shows no life loses it, and then changes nothing.
func TestTwoErase(t *testing.T) {
	t.Run("alive", func(t *testing.T) { twoErase(t, true) })
	t.Run("frozen", func(t *testing.T) { twoErase(t, false) })
}

// twoErase takes real time: Parquet's compressors wait in a pool, and one that was made in virtual time fails in other tests.
func twoErase(t *testing.T, alive bool) {
	t.Parallel()
	b, pages := archived.Folder(t), archived.Folder(t)
	fill(t, b, pages)
	halt := halting{b, make(chan struct{}, 9), make(chan struct{})}
	first, second := options(halt, pages), options(b, pages)
	if alive {
		first.Patience, second.Patience = 5*time.Second, 5*time.Second
	}
	ended := make(chan error)
	go func() {
		_, err := Run(t.Context(), first)
		ended <- err
	}()
	<-halt.reached
	if _, err := Run(t.Context(), second); errors.Is(err, ErrBusy) != alive || err != nil && !alive {
		t.Errorf("the second process: %v", err)
	}
	before := contents(t, b)
	close(halt.goOn)
	if err := <-ended; (err == nil) != alive {
		t.Errorf("the first process: %v", err)
	}
	if after := contents(t, b); !alive && !maps.Equal(after, before) {
		t.Error("the first process has changed the archive")
	}
}
