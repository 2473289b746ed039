package processors

import (
	"fmt"
	"testing"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/scope"
)

// A server that redirects to a new URL every time is followed so far and no
// further, whatever became of the target on its way through the loop.
func TestChainOfRedirectsEnds(t *testing.T) {
	for _, via := range []weftpb.Via{weftpb.Via_VIA_SEED, weftpb.Via_VIA_LINK, weftpb.Via_VIA_REDIRECT} {
		n := newNormalizer(t, scope.DefaultOptions())
		target := &weftpb.Target{Url: "https://example.org/0", Via: via}
		hops := 0
		for ; hops < 1000; hops++ {
			f := &weftpb.Fetched{
				Request: &weftpb.Request{Target: target}, Outcome: &weftpb.Outcome{Status: 302},
				Location: fmt.Sprintf("https://example.org/%d", hops+1),
			}
			named, reason := n.discovered(redirected(f))
			if reason != "" {
				t.Fatal(reason)
			}
			if len(named.list) == 0 {
				break
			}
			target = named.list[0].record.Targets[0]
		}
		if hops != scope.MaxRedirects {
			t.Errorf("%v: followed %d redirects in a row, want %d", via, hops, scope.MaxRedirects)
		}
	}
}
