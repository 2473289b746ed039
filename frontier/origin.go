package frontier

import (
	"bytes"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/politeness"
)

const (
	// maxRulesTTL is how long robots rules hold at most (RFC 9309 section 2.4).
	maxRulesTTL = 24 * time.Hour
	// maxKept is how old rules may be that are used in place of a robots.txt
	// that cannot be had (RFC 9309 section 2.3.1.4).
	maxKept = 30 * 24 * time.Hour
	// maxRulesBytes is how much of a robots.txt counts (RFC 9309 section 2.5).
	maxRulesBytes = 500 << 10
	// maxSkew is how far the clock of an earlier owner of the partition may be
	// ahead before its times are not believed.
	maxSkew = time.Hour
)

// origin is what a domain knows of one scheme, host and port. The zero value
// is one that was never asked.
type origin struct {
	// asked: a robots visit for it is out. answered: another domain has answered
	// since, quicker than the report that the visit was redirected there.
	asked, answered bool
	// reached: its robots.txt was had once.
	reached bool
	// unrestricted: there are no rules to look at.
	unrestricted bool
	// fetchedMS and ttlMS tell how long the rules hold; 0: there are none.
	fetchedMS, ttlMS int64
	crawlDelayMS     uint32
	hash             string
	// failures in a row to get robots.txt; it is asked for again at retryMS.
	failures uint32
	retryMS  int64
	// refuse is the reason with which URLs are settled until then.
	refuse string
	// referred: another domain is asked for it, and answers by then.
	referred bool
	// kept: the rules that were had last hold until then.
	kept bool
	// missing: the name of its host does not exist. Without refuse that is to be
	// confirmed at retryMS.
	missing bool
	// health is what is held against it alone.
	health health
}

// standing is whether URLs of an origin may go out.
type standing uint8

const (
	unknown  standing = iota // robots.txt has to be had first
	asking                   // it is on its way
	referred                 // it is on its way from another domain
	waiting                  // it could not be had; later again
	refused                  // it could not be had; the origin is given up
	known                    // there are rules in force
)

func (o *origin) standing(nowMS int64) standing {
	age := nowMS - o.fetchedMS
	switch {
	case o.asked:
		return asking
	case o.missing:
		return o.name(nowMS)
	case o.fetchedMS > 0 && age < o.ttlMS && age >= -maxSkew.Milliseconds():
		return known
	case o.retryMS <= nowMS || absurd(o.retryMS, nowMS):
		return unknown
	case o.kept:
		return known
	case o.referred:
		return referred
	case o.refuse != "":
		return refused
	}
	return waiting
}

// name is the standing of an origin whose host's name was not found.
func (o *origin) name(nowMS int64) standing {
	switch {
	case o.retryMS <= nowMS || absurd(o.retryMS, nowMS):
		return unknown
	case o.refuse != "":
		return refused
	}
	return waiting
}

// learn folds the facts of an event decided at nowMS.
func (o *origin) learn(r *weftpb.OriginRules, nowMS int64) {
	o.answered = o.asked // not for long, if this is from the report of the visit
	if r.Robots.GetAccess() == weftpb.Robots_ACCESS_DISALLOW_ALL {
		if !r.Missing && (!r.Referred || o.referred) { // one that is answered fails or not with its answer
			o.failures++
		}
		o.retryMS, o.refuse, o.referred, o.kept, o.missing = r.RetryMs, r.Refuse, r.Referred, r.Kept, r.Missing
		return
	}
	*o = origin{
		asked:        o.asked,
		answered:     o.answered,
		reached:      true,
		unrestricted: r.Robots.GetAccess() == weftpb.Robots_ACCESS_ALLOW_ALL,
		fetchedMS:    nowMS,
		ttlMS:        r.Robots.GetTtlMs(),
		crawlDelayMS: r.Robots.GetCrawlDelayMs(),
		hash:         string(r.Robots.GetHash()),
		health:       o.health,
	}
}

// inForce returns what of a fetched robots.txt the ledger remembers: neither
// sitemaps, which parse has followed, nor more than counts.
func inForce(r *weftpb.Robots) *weftpb.Robots {
	ttl := r.TtlMs
	if ttl <= 0 || ttl > maxRulesTTL.Milliseconds() {
		ttl = maxRulesTTL.Milliseconds()
	}
	rules := r.Rules
	if r.Access != weftpb.Robots_ACCESS_RULES {
		rules = ""
	}
	if len(rules) > maxRulesBytes {
		rules = rules[:strings.LastIndexByte(rules[:maxRulesBytes], '\n')+1]
	}
	return &weftpb.Robots{
		Access:       r.Access,
		Rules:        rules,
		CrawlDelayMs: min(r.CrawlDelayMs, uint32(politeness.MaxCrawlDelay.Milliseconds())),
		Hash:         r.Hash,
		TtlMs:        ttl,
		Status:       r.Status,
	}
}

// sameRules tells whether a fetched robots.txt is the one in force.
func (o *origin) sameRules(r *weftpb.Robots) bool {
	return o.fetchedMS > 0 && len(r.Hash) > 0 && bytes.Equal([]byte(o.hash), r.Hash) &&
		o.unrestricted == (r.Access == weftpb.Robots_ACCESS_ALLOW_ALL)
}

// keepable tells whether the rules that were had last may hold on while
// robots.txt cannot be had.
func (o *origin) keepable(nowMS int64) bool {
	age := nowMS - o.fetchedMS
	return o.fetchedMS > 0 && age < maxKept.Milliseconds() && age >= -maxSkew.Milliseconds()
}

func (o *origin) encode() []byte {
	w := make(writer, 0, 48+len(o.hash)+len(o.refuse))
	unhealthy := o.health != health{}
	w.bool(o.asked, o.reached, o.unrestricted, o.referred, o.kept, o.answered, o.missing, unhealthy)
	w.int(o.fetchedMS)
	w.int(o.ttlMS)
	w.uint(uint64(o.crawlDelayMS))
	w.string(o.hash)
	w.uint(uint64(o.failures))
	w.int(o.retryMS)
	w.string(o.refuse)
	if unhealthy {
		o.health.encode(&w)
	}
	return w
}

func decodeOrigin(b []byte) (*origin, error) {
	r := reader{rest: b}
	flags := r.bits(8)
	o := &origin{
		asked:        flags&1 != 0,
		reached:      flags&2 != 0,
		unrestricted: flags&4 != 0,
		referred:     flags&8 != 0,
		kept:         flags&16 != 0,
		answered:     flags&32 != 0,
		missing:      flags&64 != 0,
		fetchedMS:    r.int(),
		ttlMS:        r.int(),
		crawlDelayMS: r.uint32(),
		hash:         r.string(),
		failures:     r.uint32(),
		retryMS:      r.int(),
		refuse:       r.string(),
	}
	if flags&128 != 0 {
		o.health = decodeHealth(&r)
	}
	return o, r.err()
}

// originOf returns the origin of a canonical absolute URL and true, or false
// when it is none.
func originOf(url string) (string, bool) {
	_, rest, ok := strings.Cut(url, "://")
	if !ok {
		return "", false
	}
	scheme := len(url) - len(rest)
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	return url[:scheme+end], end > 0
}

func decodeRobots(b []byte) (*weftpb.Robots, error) {
	r := &weftpb.Robots{}
	if err := proto.Unmarshal(b, r); err != nil {
		return nil, errValue
	}
	return r, nil
}
