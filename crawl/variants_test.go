package crawl_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/weftcrawl/weft/crawl"
	"github.com/weftcrawl/weft/test/webserver"
)

// A server answers /a and /a/ alike, and the links of some pages lead where they
// should from /a/ only: all that they name is found, though others are named without
// a slash, and though pages without such links are the same with a slash and without.
func TestRelativeLinksAreFound(t *testing.T) {
	t.Parallel()
	for name, site := range map[string]*slashed{
		"sections named both ways":           {bare: 8},
		"sections named with a slash":        {notes: 8},
		"both, and notes named both ways":    {bare: 8, notes: 8},
		"sections of few words, after notes": {notes: 8, few: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			site.found = map[string]bool{}
			server := serveSite(t, site)
			o := configured(t.TempDir())
			o.Definition.Crawl = "weft"
			o.Seeds = [][]byte{[]byte(server.Seeds()[0])}
			run(t, o, crawl.EndedDrained)
			if n, want := len(site.found), slashedSections*slashedParts; n != want {
				t.Errorf("%d of %d parts were asked for", n, want)
			}
			proven(t, o)
		})
	}
}

const slashedSections, slashedParts = 30, 4

// slashed is a site of sections, with relative links to their parts, and of notes,
// whose only link is the root.
type slashed struct {
	bare, notes int  // sections named without a slash, notes named both ways
	few         bool // words of a section

	mu    sync.Mutex
	found map[string]bool
}

func (s *slashed) Domains() []string { return []string{webserver.DomainAddr(0)} }

// Answer names sections and notes without a slash first, with it in the pages of a
// list: notes in all of them, sections in those behind the second.
func (s *slashed) Answer(_ string, _ int, path string, _ []byte) webserver.Response {
	var section, part, note int
	body := "<a href=/>Home</a>"
	link := func(format string, args ...any) {
		body += fmt.Sprintf("<li><a href='"+format+"'>more</a>", args...)
	}
	bare := strings.TrimSuffix(path, "/")
	switch {
	case path == "/":
		for i := range s.notes {
			link("/note-%d", i)
		}
		for i := range s.bare {
			link("/section-%d", i)
		}
		link("/list-0.html")
	case scans(path, "/list-%d.html", &section):
		for i := range s.notes {
			link("/note-%d/", i)
		}
		for i := (section - 2) * 10; section > 1 && i < (section-1)*10; i++ {
			link("/section-%d/", i)
		}
		if section < slashedSections/10+1 {
			link("/list-%d.html", section+1)
		}
	case scans(path, "/section-%d/part-%d.html", &section, &part):
		s.mu.Lock()
		s.found[path] = true
		s.mu.Unlock()
	case scans(bare, "/section-%d", &section):
		for i := range slashedParts {
			link("part-%d.html", i)
		}
		if s.few {
			return webserver.Response{Status: 200, Type: "text/html", Body: []byte(body)}
		}
	case scans(bare, "/note-%d", &note):
	default:
		return webserver.Response{Status: 404}
	}
	return webserver.Response{Status: 200, Type: "text/html", Body: []byte(body + "<p>" + words(bare))}
}

// scans tells whether text is of a format, to its end.
func scans(text, format string, into ...any) bool {
	if _, err := fmt.Sscanf(text, format, into...); err != nil {
		return false
	}
	values := make([]any, len(into))
	for i, v := range into {
		values[i] = *v.(*int)
	}
	return fmt.Sprintf(format, values...) == text
}

// words are a text that no other page has.
func words(page string) string {
	var seed [32]byte
	copy(seed[:], page)
	random := rand.New(rand.NewChaCha8(seed))
	var text strings.Builder
	for range 120 {
		fmt.Fprintf(&text, "%c%x ", 'a'+random.IntN(26), random.IntN(1<<16))
	}
	return text.String()
}
