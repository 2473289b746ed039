package processors

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/frontier/memstore"
	"github.com/weftcrawl/weft/ledger"
	"github.com/weftcrawl/weft/topics"
)

// tally keeps what dedupe said of URLs.
type tally struct {
	silent
	counts [][3]int
}

func (c *tally) Deduped(fresh, seen, merged int) {
	c.counts = append(c.counts, [3]int{fresh, seen, merged})
}

// URLs that are given up are neither new nor seen, but what stands for them is new;
// asked about again, they are seen.
func TestMergedURLsAreCounted(t *testing.T) {
	counted := new(tally)
	stage := dedupeStage(Env{Names: topics.Loop("test"), Meter: counted, Definition: topics.Definition{
		Crawl: "test", Scope: "any", MaxDepth: -1, PerDomain: 1, Partitions: 1, UserAgent: "weft", SamePage: []string{"no-slash"},
	}})
	s, err := stage.Open(0, new(memstore.Store))
	if err != nil {
		t.Fatal(err)
	}
	n := &weftpb.Normalized{Source: "https://a.example/"}
	for _, url := range []string{"https://a.example/x", "https://a.example/x/", "https://a.example/y/"} {
		n.Targets = append(n.Targets, &weftpb.Target{Url: url, Depth: 1, Via: weftpb.Via_VIA_LINK, ScopeRoot: "https://a.example/"})
	}
	for i := range 2 {
		event, err := stage.Inputs[0].Decide(s, ledger.Record{Topic: "test.normalized", Key: "a.example", Value: encode(n), Offset: int64(i)}, time.Unix(1e9, 0), 0)
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
