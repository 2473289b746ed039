package traps

import (
	"fmt"
	"testing"

	"github.com/weftcrawl/weft/codecs/weftpb"
)

// page is what a site of a test answers.
type page struct {
	again bool // it shows what others show
	via   weftpb.Via
	names []string
}

// crawl asks a site for a path and all that it names, one after another, and
// returns how often it asked, at most 10,000 times.
func (s *stage) crawl(path string, answer func(path string) page) (asked int) {
	for queue := []string{root + path}; len(queue) > 0 && asked < 10_000; asked++ {
		source := queue[0]
		queue = queue[1:]
		p := answer(source[len(root):])
		event := &weftpb.Deduped{Source: source}
		switch {
		case p.via == weftpb.Via_VIA_REDIRECT:
		case p.again:
			event.Showing = weftpb.Showing_SHOWING_AGAIN
		default:
			event.Showing = weftpb.Showing_SHOWING_NEW
		}
		for _, name := range p.names {
			event.Targets = append(event.Targets, &weftpb.Target{Url: root + name, Via: p.via})
		}
		event.Targets, event.Parked = s.book.Judge(s.options, domain, event.Showing, event.Targets)
		s.append(event)
		for _, t := range event.Targets {
			queue = append(queue, t.Url)
		}
	}
	return asked
}

// TestMazes checks the cost of mazes whose pages never name each other: what lies between them
// shows nothing, or something new.
func TestMazes(t *testing.T) {
	made := 0
	fresh := func(format string) string {
		made++
		return fmt.Sprintf(format, uint64(made)*0x9e3779b97f4a7c15)
	}
	spelt := func(format string) string {
		made++
		return fmt.Sprintf(format, letters(made*7919), letters(made*31), letters(made))
	}
	spelling := func(path string) string {
		made++
		b := []byte(path)
		for i, c := range b {
			if 'a' <= c && c <= 'z' && made>>(i%16)&1 == 1 {
				b[i] -= 0x20
			}
		}
		return string(b)
	}
	between := func(lobby page) func(string) page {
		return func(path string) page {
			if path[:3] == "/p/" {
				return page{again: true, via: weftpb.Via_VIA_LINK, names: []string{fresh("/r/%d"), fresh("/r/%d")}}
			}
			lobby.names = []string{fresh("/p/%d")}
			return lobby
		}
	}
	for _, c := range []struct {
		name   string
		most   int
		answer func(path string) page
	}{
		{"redirects", 50, between(page{via: weftpb.Via_VIA_REDIRECT})},
		{"directories", 3*mostNamed + 100, func(string) page {
			return page{again: true, via: weftpb.Via_VIA_LINK, names: []string{spelt("/%s/%s/%s"), spelt("/%s/%s/%s"), spelt("/%s/%s/%s")}}
		}},
		{"spellings", 50, func(string) page {
			return page{again: true, via: weftpb.Via_VIA_LINK, names: []string{spelling("/documents/listing.html"), spelling("/documents/listing.html")}}
		}},
		{"pages that refresh", 4*mostSpared + 100, between(page{via: weftpb.Via_VIA_LINK})},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := open(DefaultOptions())
			asked := s.crawl("/p/1", c.answer)
			t.Logf("%d requests", asked)
			if asked > c.most {
				t.Errorf("%d requests", asked)
			}
		})
	}
}
