package traps

import (
	"maps"
	"reflect"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
)

// A record of a store is read as it was written, or as none.
func FuzzRecord(f *testing.F) {
	f.Add((&pattern{admitted: 7, pages: 3, again: 2, reason: Calendar, exempt: true, last: [2]uint64{1 << 63, 1}, first: 1, next: 1 << 40, alike: 9, originals: []uint64{5, 1 << 63}}).encode())
	f.Add(census{admitted: 1, patterns: 2, hosts: 3}.encode())
	f.Add([]byte{0, 200, 0, 0})
	f.Fuzz(func(t *testing.T, value []byte) {
		if p := decodePattern(value); p != nil {
			if again := decodePattern(p.encode()); again == nil || !reflect.DeepEqual(again, p) {
				t.Errorf("%+v becomes %+v", p, again)
			}
		}
		c := decodeCensus(value)
		if again := decodeCensus(c.encode()); *again != *c {
			t.Errorf("%+v becomes %+v", c, again)
		}
	})
}

// Whatever URLs pages name and whatever they show, each URL is admitted or held
// back, once; the book is the fold of its events, with or without what it
// remembers; and lifting what is held back brings every URL back, once.
func FuzzBook(f *testing.F) {
	f.Add("https://a.example/cal/2024-05-01\nhttps://a.example/cal/2024-05-02\nhttps://b.a.example/x?y=1", []byte{1, 1, 1, 1, 2, 1, 1}, int64(3), int64(2))
	f.Add("https://a.example/\n\n://\n*\n(pages)\n/{word}\nhttps://a.example*/", []byte{0, 1, 2, 3}, int64(1), int64(0))
	f.Fuzz(func(t *testing.T, list string, shows []byte, perTemplate, perDomain int64) {
		o := Options{Evidence: 2, URLsPerTemplate: max(perTemplate, 0), PagesPerDomain: max(perDomain, 0)}
		live, store := memory{}, memory{}
		var listing Listing
		book, seen := Open(live), map[string]int{} // 100 for a URL that is held back
		fold := func(event *weftpb.Deduped) {
			event = proto.CloneOf(event)
			book.Apply(domain, event)
			Open(store).Apply(domain, event) // which remembers nothing
		}
		// URLs have no zero byte.
		lines := strings.Split(strings.ReplaceAll(strings.ToValidUTF8(list, "\ufffd"), "\x00", ""), "\n")
		known := map[string]bool{}
		for i, show := range shows[:min(len(shows), 40)] {
			event := &weftpb.Deduped{Source: lines[i%len(lines)], Showing: weftpb.Showing(show % 4), Original: uint64(show)}
			var fresh []*weftpb.Target
			for n := range show % 5 {
				url := lines[(i+int(n))%len(lines)]
				if n > 2 {
					url += string(rune('a' + i))
				}
				if !known[url] {
					fresh = append(fresh, &weftpb.Target{Url: url, Via: weftpb.Via_VIA_LINK})
				}
				known[url] = true
			}
			event.Targets, event.Parked = book.Judge(o, domain, event.Showing, fresh)
			fold(event)
			listing.Apply(domain, event)
			for _, target := range event.Targets {
				seen[target.Url]++
			}
			for _, parked := range event.Parked {
				for _, target := range parked.Targets {
					seen[target.Url] += 100
				}
			}
		}
		if !maps.Equal(live, store) {
			t.Fatalf("folded\n%q\nand by one that remembers nothing\n%q", live, store)
		}
		for _, trap := range listing.Traps() {
			for range trap.Lifts() + 1 {
				event := book.Lift(domain, &weftpb.Lift{Host: trap.Host, Template: trap.Template})
				if event == nil {
					break
				}
				fold(event)
				for _, target := range event.Targets {
					seen[target.Url] -= 99
				}
			}
		}
		for url := range known {
			if seen[url] != 1 {
				t.Fatalf("%q was admitted or came back: %d", url, seen[url])
			}
		}
	})
}
