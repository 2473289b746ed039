package why

import (
	"fmt"
	"testing"
	"time"

	"github.com/weftcrawl/weft/codecs/weftpb"
)

// BenchmarkMillion asks a crawl of a million URLs: a thousand domains of 900
// URLs and one of 100,000, found five at a time, a third of them fetched.
func BenchmarkMillion(b *testing.B) {
	w := newWorld(b, nil)
	w.bulk = true
	begun := time.Now()
	for d := range 1000 {
		w.grow(fmt.Sprintf("d%d.example", d), 900)
	}
	w.grow("example.com", 100_000)
	if err := w.client.Flush(w.ctx); err != nil {
		b.Fatal(err)
	}
	w.bulk = false
	w.consumed()
	w.pass(time.Second)
	b.Logf("made in %v", time.Since(begun))
	a := w.asker()
	for _, q := range []struct {
		name string
		question
	}{
		{"url_of_900", "https://d7.example/800"},
		{"url_of_100000", site + "99999"},
		{"url_unknown", site + "nowhere"},
		{"domain_of_900", "d7.example"},
		{"domain_of_100000", "example.com"},
		{"crawl", ""},
	} {
		b.Run(q.name, func(b *testing.B) {
			for b.Loop() {
				ask(b, w, a, q.question)
			}
		})
	}
}

// grow makes a domain of n URLs, found five at a time, and fetches a third.
func (w *world) grow(domain string, n int) {
	url := func(i int) string { return fmt.Sprintf("https://%s/%d", domain, i) }
	w.seeds(url(0))
	w.robots(domain, 404, "")
	for i := 1; i < n; i += 5 {
		d := &weftpb.Deduped{Source: url(i / 5)}
		for j := i; j < min(i+5, n); j++ {
			d.Targets = append(d.Targets, &weftpb.Target{Url: url(j), Depth: 2, Via: link})
		}
		w.event(w.names.Deduped, w.partition(domain), domain, d)
		w.admit(domain, d.Targets)
		if i%3 == 0 {
			var outcomes []*weftpb.Outcome
			v := w.visits(domain)
			if len(v) == 0 {
				w.pass(time.Second)
				w.tick(domain)
				v = w.visits(domain)
			}
			for range min(v[0].Unsettled(), 5) {
				outcomes = append(outcomes, answer(200))
			}
			w.answers(domain, outcomes...)
		}
	}
}
