package reparse

import (
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/blob"
	"github.com/weftcrawl/weft/processors/archive/warc"
	"github.com/weftcrawl/weft/test/archived"
	"github.com/weftcrawl/weft/test/webserver"
)

// BenchmarkReparse parses an archive again: whole, and the function of the stage parse alone, with the
// exchanges in memory. Both use all cores. The archive is that in the folder WEFT_ARCHIVE, or else one
// of generated pages.
func BenchmarkReparse(b *testing.B) {
	archive := archived.Folder(b)
	if where := os.Getenv("WEFT_ARCHIVE"); where != "" {
		var err error
		if archive, err = blob.Open(b.Context(), where); err != nil {
			b.Fatal(err)
		}
	} else {
		generate(b, archive)
	}
	b.Run("whole", func(b *testing.B) {
		var pages int64
		for b.Loop() {
			pages += run1(b, options(archive, archived.Folder(b))).Outcomes[Page]
		}
		b.ReportMetric(float64(pages)/b.Elapsed().Seconds(), "pages/s")
	})
	b.Run("parse", func(b *testing.B) {
		p, records := exchanges(b, archive)
		var pages atomic.Int64
		for b.Loop() {
			var wait sync.WaitGroup
			var next atomic.Int64
			for range options(archive, nil).workers() {
				wait.Go(func() {
					for i := next.Add(1) - 1; i < int64(len(records)); i = next.Add(1) - 1 {
						if _, outcome, _ := p.parse(records[i]); outcome == Page {
							pages.Add(1)
						}
					}
				})
			}
			wait.Wait()
		}
		b.ReportMetric(float64(pages.Load())/b.Elapsed().Seconds(), "pages/s")
	})
}

// generate makes an archive of two files with 300 pages each.
func generate(b *testing.B, archive blob.Bucket) {
	web, err := webserver.NewGenerated(webserver.Options{Pages: 600, Domains: 1})
	if err != nil {
		b.Fatal(err)
	}
	var all []*weftpb.Fetched
	for domain, path := range web.Pages() {
		all = append(all, pageOf(webserver.Origin(domain, 80)+path, string(web.Answer(domain, 80, path, nil).Body)))
	}
	keep(b, archive, warc.Gzip, "c-0f-00000-000", all[:len(all)/2]...)
	keep(b, archive, warc.Gzip, "c-0f-00001-000", all[len(all)/2:]...)
}

// exchanges are all responses of an archive as records of fetched, and a parser for them.
func exchanges(b *testing.B, archive blob.Bucket) (p *parser, all []*kgo.Record) {
	o := options(archive, nil)
	r := &run{Options: o, responses: newRestorer(), parsers: map[string]*parser{}}
	names, err := r.files(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	for _, name := range names {
		s, err := openSource(b.Context(), archive, name)
		if err != nil {
			b.Fatal(err)
		}
		if p, err = r.parser(s.definition); err != nil {
			b.Fatal(err)
		}
		index, err := s.index(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		for one, err := range s.responses(b.Context(), index) {
			if err != nil {
				b.Fatal(err)
			}
			if f, outcome, _ := p.fetched(b.Context(), one.record, one.payload, room(b)); one.outcome == "" && outcome == "" {
				all = append(all, f)
			}
		}
	}
	return p, all
}

// room is a seat of a flight that is large enough for any body.
func room(b *testing.B) *seat {
	s, err := newFlight(1<<40).enter(b.Context(), 0)
	if err != nil {
		b.Fatal(err)
	}
	return s
}
