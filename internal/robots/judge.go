package robots

import (
	"strings"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/urls"
)

// Judge returns a function that tells whether rules allow a URL. The function is not
// safe for concurrent use: each partition of the frontier has its own. It keeps
// compiled rules by their pointer, which the frontier does not change as long as it
// caches the rules. When they take too much memory, all are dropped.
func Judge() func(*weftpb.Robots, string) bool {
	compiled := map[*weftpb.Robots]*Rules{}
	bytes := 0
	return func(rules *weftpb.Robots, url string) bool {
		u, refusal := urls.Parse(url)
		if refusal != urls.Accepted {
			return false
		}
		c, ok := compiled[rules]
		if !ok {
			if bytes > maxCompiledBytes {
				clear(compiled)
				bytes = 0
			}
			c = Compile(rules)
			compiled[rules] = c
			bytes += len(rules.GetRules()) + strings.Count(rules.GetRules(), "\n")*ruleBytes + 1<<10
		}
		return c.Allowed(u.PathAndQuery())
	}
}

const (
	// maxCompiledBytes bounds the memory of compiled rules, about.
	maxCompiledBytes = 8 << 20
	// ruleBytes is what a rule takes beside its text.
	ruleBytes = 128
)
