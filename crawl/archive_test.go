package crawl_test

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/crawl"
	"github.com/weftcrawl/weft/inspect/kept"
	"github.com/weftcrawl/weft/internal/blob"
	"github.com/weftcrawl/weft/internal/broker"
	"github.com/weftcrawl/weft/internal/urls"
	"github.com/weftcrawl/weft/processors/archive"
	"github.com/weftcrawl/weft/test/webserver"
	"github.com/weftcrawl/weft/topics"
)

// A crawl whose exchanges an earlier version has written goes on behind them, and a crawl
// with an archive goes on with it, until it is told not to.
func TestArchiveGoesOnForTheFormerWriter(t *testing.T) {
	t.Parallel()
	w := serve(t, webserver.Options{Pages: 20, Domains: 2}, webserver.ServerOptions{})
	o := options(t, w)
	run(t, o, crawl.EndedDrained)
	written := asFormerWriter(t, o)

	o.WARC, o.Seeds = true, nil
	run(t, o, crawl.EndedDrained)
	if names, err := filepath.Glob(filepath.Join(o.Dir, "warc", "*"+archive.IndexExtension)); err != nil || len(names) > 0 {
		t.Errorf("exchanges were written again: %q, %v", names, err)
	}
	o.WARC, o.Seeds = false, [][]byte{[]byte(w.server.Seeds()[0] + "?another")}
	run(t, o, crawl.EndedDrained)
	if ends := commitsOf(t, o, topics.Loop(topics.DefaultCrawl).Group(topics.Archive)); ends <= written {
		t.Errorf("archived up to %d, and the former writer up to %d", ends, written)
	}
}

// An archive that keeps a domain for a time loses what is older, before the crawl ends.
func TestArchiveKeepsForATime(t *testing.T) {
	t.Parallel()
	w := serve(t, webserver.Options{Pages: 20, Domains: 2}, webserver.ServerOptions{})
	o := options(t, w)
	o.WARC = true
	run(t, o, crawl.EndedDrained)
	bucket, err := blob.Open(t.Context(), filepath.Join(o.Dir, "warc"))
	if err != nil {
		t.Fatal(err)
	}
	short, long := w.server.Seeds()[0], w.server.Seeds()[1]
	for _, seed := range []string{short, long} {
		if _, err := kept.Find(t.Context(), bucket, seed, time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(1100 * time.Millisecond) // indexes have times in seconds
	o.Redefine = func(d topics.Definition) topics.Definition {
		d.KeepMS, d.KeepOfMS = time.Hour.Milliseconds(), map[string]int64{urls.DomainOf(short): 1}
		return d
	}
	o.Seeds = nil
	run(t, o, crawl.EndedDrained)
	if _, err := kept.Find(t.Context(), bucket, short, time.Now()); !errors.Is(err, kept.ErrNone) {
		t.Errorf("%s is kept: %v", short, err)
	}
	if _, err := kept.Find(t.Context(), bucket, long, time.Now()); err != nil {
		t.Error(err)
	}
}

// asFormerWriter commits all of fetched for the writer of earlier versions, and returns the
// sum of the offsets.
func asFormerWriter(t *testing.T, o crawl.Options) (sum int64) {
	t.Helper()
	names := topics.Loop(topics.DefaultCrawl)
	inside(t, o, func(admin *kadm.Client) {
		ends, err := admin.ListEndOffsets(t.Context(), names.Fetched)
		if err != nil {
			t.Fatal(err)
		}
		var all kadm.Offsets
		ends.Each(func(e kadm.ListedOffset) {
			all.AddOffset(e.Topic, e.Partition, e.Offset, -1)
			sum += e.Offset
		})
		if answer, err := admin.CommitOffsets(t.Context(), names.Crawl+".warc", all); errors.Join(err, answer.Error()) != nil {
			t.Fatal(err, answer.Error())
		}
	})
	return sum
}

func commitsOf(t *testing.T, o crawl.Options, group string) (sum int64) {
	t.Helper()
	inside(t, o, func(admin *kadm.Client) {
		commits, err := admin.FetchOffsets(t.Context(), group)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range commits[topics.Loop(topics.DefaultCrawl).Fetched] {
			sum += max(c.At, 0)
		}
	})
	return sum
}

// inside opens the broker of a crawl that does not run.
func inside(t *testing.T, o crawl.Options, do func(*kadm.Client)) {
	t.Helper()
	b, err := broker.Open(broker.Options{Dir: filepath.Join(o.Dir, "broker"), Listen: "127.0.0.1:0", Listener: broker.Listener{Trusted: true}})
	if err != nil {
		t.Fatal(err)
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(b.Addr()))
	if err != nil {
		t.Fatal(err)
	}
	do(kadm.NewClient(client))
	client.Close()
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
}
