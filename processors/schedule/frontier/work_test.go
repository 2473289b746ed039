package frontier

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/test/memstore"
)

// crowd is a partition whose domains get what they ask for at once, and for every
// robots.txt the same rules.
type crowd struct {
	t      *testing.T
	f      *Frontier
	rules  string
	offset int64
	// asked are the rules that were asked since a turn began, one for each URL, and
	// most is of how many origins they were by one event.
	asked []*weftpb.Robots
	most  int
}

func newCrowd(t *testing.T, rules string) *crowd {
	c := &crowd{t: t, rules: rules}
	opts := DefaultOptions()
	opts.Delay = 0
	opts.Allowed = func(rules *weftpb.Robots, url string) bool {
		c.asked = append(c.asked, rules)
		return !strings.Contains(url, "/private")
	}
	c.f = New(opts, &memstore.Store{})
	return c
}

// decide folds an event and those that come of what it released.
func (c *crowd) decide(domain string, decide func(Moment) (*weftpb.Scheduled, error)) {
	asked := len(c.asked)
	ev, err := decide(Moment{Now: epoch, Offset: c.offset})
	if err == nil {
		err = c.f.Apply(domain, ev, c.offset)
		c.offset++
	}
	if err != nil {
		c.t.Fatal(err)
	}
	origins := map[*weftpb.Robots]bool{}
	for _, rules := range c.asked[asked:] {
		origins[rules] = true
	}
	c.most = max(c.most, len(origins))
	for _, v := range ev.Released {
		c.decide(domain, func(at Moment) (*weftpb.Scheduled, error) { return c.f.Settle(domain, c.report(v), at) })
	}
}

func (c *crowd) report(v *weftpb.Visit) *weftpb.Visited {
	report := &weftpb.Visited{Visit: v.Id, Done: true}
	for i := range v.Requests {
		report.Outcomes = append(report.Outcomes, &weftpb.Outcome{Index: uint32(i), Status: 200})
	}
	if v.Robots {
		origin, _ := originOf(v.Requests[0].Target.Url)
		report.Rules = &weftpb.OriginRules{Origin: origin, Robots: &weftpb.Robots{
			Access: weftpb.Robots_ACCESS_RULES, Rules: c.rules, Hash: []byte("one"), Status: 200,
		}}
	}
	return report
}

// admit queues URLs, so that the domain is due.
func (c *crowd) admit(domain string, urls ...string) {
	c.decide(domain, func(at Moment) (*weftpb.Scheduled, error) {
		at.Paused = true
		return c.f.Admit(domain, targets(urls), at)
	})
}

// turn ticks a domain that is due.
func (c *crowd) turn(domain string) {
	c.asked, c.most = nil, 0
	c.decide(domain, func(at Moment) (*weftpb.Scheduled, error) { return c.f.Tick(domain, at) })
}

func (c *crowd) due() []string { return c.f.Due(Moment{Now: epoch}, 512) }

// TestDisallowedQueueKeepsNobodyWaiting checks that a domain whose URLs are all
// disallowed, by rules that cost much, has one chunk between two turns of others
// that are due, and that its chunks end by their work.
func TestDisallowedQueueKeepsNobodyWaiting(t *testing.T) {
	const lines = 4000
	c := newCrowd(t, strings.Repeat("+*1f*~\n", lines))
	prefix := "https://a.example/private/" + strings.Repeat("1f0123456789", 160)
	var long []string
	for i := range 30 {
		long = append(long, fmt.Sprint(prefix, i))
	}
	c.admit("a.example", long...)
	enough := chunkWork/(lines*len(prefix)) + 1
	domains := []string{"a.example", "b.example", "c.example"}
	for round := range len(long) / enough {
		for _, honest := range domains[1:] {
			c.admit(honest, fmt.Sprintf("https://%s/%d", honest, round))
		}
		due := c.due()
		if !slices.Equal(due, domains) {
			t.Fatalf("round %d: %v are due", round, due)
		}
		for _, domain := range due {
			c.turn(domain)
			if len(c.asked) == 0 || len(c.asked) > enough {
				t.Fatalf("round %d: %d URLs of %s were judged, %d are enough", round, len(c.asked), domain, enough)
			}
		}
	}
	if due := c.due(); len(due) > 0 {
		t.Errorf("%v are still due", due)
	}
}

// TestRulesOfManyOrigins checks that an event reads the long rules of two origins at
// most, whether or not they are cached, and short ones of many.
func TestRulesOfManyOrigins(t *testing.T) {
	for name, test := range map[string]struct {
		rules       string
		least, most int
	}{
		"long":  {strings.Repeat("-/private\n", maxRulesBytes/10), 2, 2},
		"short": {"-/private\n", 10, 30},
	} {
		c := newCrowd(t, test.rules)
		var urls, roots []string
		for i := range 30 {
			roots = append(roots, fmt.Sprintf("https://h%d.a.example/", i))
		}
		for i := range 300 {
			urls = append(urls, fmt.Sprintf("https://h%d.a.example/private/%d", i%30, i))
		}
		most := 0
		for _, urls := range [][]string{roots, urls} { // all rules are there before the second
			c.admit("a.example", urls...)
			for most = 0; len(c.due()) > 0; {
				c.turn("a.example")
				most = max(most, c.most)
			}
		}
		if most < test.least || most > test.most {
			t.Errorf("%s: one event judged by the rules of %d origins, not %d to %d", name, most, test.least, test.most)
		}
	}
}
