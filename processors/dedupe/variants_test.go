package dedupe

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/ledger"
	"github.com/weftcrawl/weft/test/memstore"
	"github.com/weftcrawl/weft/topics"
)

// tally keeps what dedupe said of URLs.
type tally struct {
	stage.NoMeter
	counts [][3]int
}

func (c *tally) Deduped(fresh, seen, merged int) {
	c.counts = append(c.counts, [3]int{fresh, seen, merged})
}

// Merged URLs are not new and not seen; the variant that each is merged into is new. At the
// second time all of them are seen.
func TestMergedURLsAreCounted(t *testing.T) {
	counted := new(tally)
	def := Define(stage.Env{Names: topics.Loop("test"), Meter: counted, Definition: topics.Definition{
		Crawl: "test", Scope: "any", MaxDepth: -1, PerDomain: 1, Partitions: 1, UserAgent: "weft", SamePage: []string{"no-slash"},
	}})
	s, err := def.Open(0, new(memstore.Store))
	if err != nil {
		t.Fatal(err)
	}
	n := &weftpb.Normalized{Source: "https://a.example/"}
	for _, url := range []string{"https://a.example/x", "https://a.example/x/", "https://a.example/y/"} {
		n.Targets = append(n.Targets, &weftpb.Target{Url: url, Depth: 1, Via: weftpb.Via_VIA_LINK, ScopeRoot: "https://a.example/"})
	}
	for i := range 2 {
		event, err := s.Decide(ledger.InputRecord{Topic: "test.normalized", Key: "a.example", Value: stage.Encode(n), Offset: int64(i)}, time.Unix(1e9, 0), 0)
		if err == nil && event != nil {
			err = s.Apply("a.example", event, int64(i))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if d := cmp.Diff([][3]int{{2, 0, 2}, {0, 3, 0}}, counted.counts); d != "" {
		t.Errorf("new, seen, merged (-want +got):\n%s", d)
	}
}
