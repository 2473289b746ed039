package verify

import (
	"fmt"
	"strings"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/robots"
	"github.com/weftcrawl/weft/internal/urls"
)

const (
	// rulesHold is how long rules hold at most, milliseconds (RFC 9309 section
	// 2.4).
	rulesHold = 24 * 60 * 60 * 1000
	// rulesKept is the largest age of rules that stay in force while robots.txt cannot be fetched,
	// milliseconds (RFC 9309 section 2.3.1.4).
	rulesKept = 30 * rulesHold
	// clockBack is how far the clock of a new owner may be behind the clock of the
	// owner that learned the rules, milliseconds.
	clockBack = 60 * 60 * 1000
)

// origin is what the ledger says about the rules of one scheme, host and port.
type origin struct {
	// learnedMS is when rules were learned last, 0 for never; they hold for ttlMS.
	learnedMS, ttlMS int64
	// keptMS is until when they hold although robots.txt cannot be fetched.
	keptMS       int64
	crawlDelayMS uint32
	rules        *robots.Rules // nil: none were learned
	// history is every change of the rules.
	history []ruling
	pace    pace
}

// ruling is rules with the time from which they held.
type ruling struct {
	fromMS       int64
	rules        *robots.Rules
	crawlDelayMS uint32
}

// library keeps compiled rules: each different robots.txt once.
type library map[string]*robots.Rules

func (l library) compile(r *weftpb.Robots) *robots.Rules {
	key := string(r.GetHash())
	if key == "" {
		return robots.Compile(r)
	}
	compiled, ok := l[key]
	if !ok {
		compiled = robots.Compile(r)
		l[key] = compiled
	}
	return compiled
}

// learn folds the rules of an origin in an event that was decided at nowMS. It returns
// what is wrong with them, or "". A robots.txt that cannot be fetched leaves rules in
// force until their time is over, or as long as the event says.
func (o *origin) learn(r *weftpb.OriginRules, nowMS int64, shelf library) string {
	if r.Robots.GetAccess() == weftpb.Robots_ACCESS_DISALLOW_ALL {
		o.keptMS = 0
		if r.Kept {
			o.keptMS = min(r.RetryMs, nowMS+rulesHold)
		}
		if r.Kept && nowMS-o.learnedMS >= rulesKept {
			return "rules hold on that are older than 30 days"
		}
		return ""
	}
	o.keptMS = 0
	o.learnedMS, o.ttlMS = nowMS, min(r.Robots.GetTtlMs(), rulesHold)
	o.crawlDelayMS = min(r.Robots.GetCrawlDelayMs(), uint32(robots.MaxCrawlDelay.Milliseconds()))
	if r.Unchanged {
		if o.rules == nil {
			return "rules are unchanged that never were"
		}
		return ""
	}
	o.rules = shelf.compile(r.Robots)
	if n := len(o.history); n == 0 || o.history[n-1].rules != o.rules {
		o.history = append(o.history, ruling{nowMS, o.rules, o.crawlDelayMS})
	}
	return ""
}

// inForce reports whether there are rules that hold at nowMS.
func (o *origin) inForce(nowMS int64) bool {
	age := nowMS - o.learnedMS
	return o.rules != nil && (age < o.ttlMS && age >= -clockBack || nowMS < o.keptMS)
}

// held returns the rules that were in force at any moment between two times.
func (o *origin) held(fromMS, toMS int64) []ruling {
	from, to := 0, len(o.history)
	for from+1 < to && o.history[from+1].fromMS <= fromMS {
		from++
	}
	for to > from && o.history[to-1].fromMS > toMS {
		to--
	}
	return o.history[from:to]
}

func splitURL(url string) (origin, path string) {
	host := strings.Index(url, "://") + len("://")
	if slash := strings.IndexByte(url[host:], '/'); slash >= 0 {
		return url[:host+slash], url[host+slash:]
	}
	return url, ""
}

// hostOf is the host of an origin, without a port.
func hostOf(origin string) string {
	u, refusal := urls.Parse(origin + "/")
	if refusal != urls.Accepted {
		return ""
	}
	return strings.TrimSuffix(u.Hostname(), ".")
}

func (o *origin) ruled() string {
	if o == nil || o.learnedMS == 0 {
		return "no rules were ever learned"
	}
	return fmt.Sprintf("rules were learned at %s and hold for %d s", clock(o.learnedMS), o.ttlMS/1000)
}
