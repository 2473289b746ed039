package frontier

import (
	"fmt"
	"strings"

	"github.com/weftcrawl/weft/codecs/weftpb"
)

// cache keeps values by key, within a bound. It forgets values that were not read for long. It
// keeps two generations: when the young one is full, it drops the old one.
type cache[V any] struct {
	young, old map[string]V
	cost       int
	limit      int // of one generation's cost
}

func newCache[V any](limit int) *cache[V] {
	return &cache[V]{young: map[string]V{}, limit: limit / 2}
}

func (c *cache[V]) get(key string) (V, bool) {
	if v, ok := c.young[key]; ok {
		return v, true
	}
	v, ok := c.old[key]
	return v, ok
}

func (c *cache[V]) put(key string, v V, cost int) {
	if c.cost += cost; c.cost > c.limit {
		c.old, c.young, c.cost = c.young, make(map[string]V, len(c.young)), cost
	}
	c.young[key] = v
}

// rulesCacheBytes bounds the robots rules in memory.
const rulesCacheBytes = 8 << 20

// cachedRules are robots rules, with the time at which they were fetched. The time tells them
// from later rules of the same origin.
type cachedRules struct {
	fetchedMS int64
	hash      string
	robots    *weftpb.Robots
	// wildcards is the number of rules that have a wildcard.
	wildcards int
}

// rulesOf returns the rules in force of an origin. The origin must have rules.
func (p *plan) rulesOf(name string, o *origin) cachedRules {
	held, ok := p.f.rules.get(name)
	if ok && held.fetchedMS == o.fetchedMS && held.hash == o.hash {
		return held
	}
	b := p.store.Get(p.keys.policy(name))
	robots, err := decodeRobots(b)
	if err != nil {
		p.fail(fmt.Errorf("read robots rules of %s: %w", name, err))
		return cachedRules{}
	}
	held = cachedRules{o.fetchedMS, o.hash, robots, wildcards(robots.GetRules())}
	p.f.rules.put(name, held, len(b)+len(name)+256)
	return held
}

// wildcards returns the number of lines of a record's rules that have a wildcard.
func wildcards(rules string) (n int) {
	for line := range strings.Lines(rules) {
		if strings.Contains(line, "*") {
			n++
		}
	}
	return n
}
