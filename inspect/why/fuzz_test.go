package why

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/urls"
)

// Whatever times stand in records and whatever is asked for, there are words for
// it, in one line, and a URL that is as it was given has not been changed.
func FuzzWords(f *testing.F) {
	f.Add("http://EXAMPLE.com:80/a/../b?c#d", int64(0), int64(1), int64(2))
	f.Add("https://u@é.example\\x?%7e", int64(1)<<62, -int64(1)<<62, int64(math.MinInt64))
	f.Add("http:/\t/a.example/%2E%2e/", int64(-1), int64(1e12), int64(math.MaxInt64))
	f.Fuzz(func(t *testing.T, given string, nowMS, atMS, took int64) {
		zone := time.FixedZone("there", 13*60*60)
		c := clock{time.UnixMilli(nowMS), zone}
		for _, said := range []string{span(time.Duration(took)), c.Time(moment(atMS)), c.When(moment(atMS)), percent(nowMS, atMS)} {
			if said == "" || strings.Contains(said, "\n") {
				t.Fatalf("%d, %d, %d: said %q", nowMS, atMS, took, said)
			}
		}
		url, refusal := urls.Parse(given)
		if refusal != urls.Accepted {
			return
		}
		rules := changes(given, url)
		if given == url.String() && len(rules) > 0 {
			t.Fatalf("%q is as it was, and %q", given, rules)
		}
		for i, rule := range rules {
			for _, other := range rules[:i] {
				if rule == other {
					t.Fatalf("%q: said twice: %s", given, rule)
				}
			}
		}
	})
}
