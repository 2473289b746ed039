package frontier

import (
	"bytes"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/kv"
	"github.com/weftcrawl/weft/internal/politeness"
)

const (
	// maxRulesTTL is how long robots rules hold at most (RFC 9309 section 2.4).
	maxRulesTTL = 24 * time.Hour
	// maxKept is the greatest age of rules that hold in place of a robots.txt that cannot be
	// fetched (RFC 9309 section 2.3.1.4).
	maxKept = 30 * 24 * time.Hour
	// maxRulesBytes is how much of a robots.txt counts (RFC 9309 section 2.5).
	maxRulesBytes = 500 << 10
	// maxSkew is how far the clock of an earlier owner of the partition may be ahead. Times that
	// are further ahead are ignored.
	maxSkew = time.Hour
)

// origin is the record of one scheme, host and port, with the queues of its URLs. The zero value
// is an unknown origin.
type origin struct {
	// id is its number in its domain, from 1 on: the keys of its URLs begin with it.
	id      uint32
	queues  [priorities]queue
	retries retries
	// at says which entries the origin has in the indexes of its domain; see places.go.
	at place

	// robotsOut: a visit for its robots.txt is out. answered: that visit was redirected to another
	// domain, and the answer of that domain came before the report of the visit.
	robotsOut, answered bool
	// unrestricted: robots.txt allows everything.
	unrestricted bool
	// fetchedMS and ttlMS say how long the rules hold; 0: there are no rules.
	fetchedMS, ttlMS int64
	crawlDelayMS     uint32
	hash             string
	// failures is the number of failures in a row to fetch robots.txt, since failingMS. The next
	// try is at retryMS. Before the first request retryMS is the time at which the origin became
	// known.
	failures  uint32
	failingMS int64
	retryMS   int64
	// refuse is the reason with which URLs are settled until then.
	refuse string
	// referred: another domain fetches robots.txt, and answers before retryMS.
	referred bool
	// kept: the last rules hold until retryMS.
	kept bool
	// elsewhere counts how often in a row robots.txt redirected to a name that does not exist, or
	// to an address that is refused.
	elsewhere uint32
	// missing: the name of its host does not exist. If refuse is empty, one more look-up at
	// retryMS has to confirm this. Only events of earlier versions say so; today host.missing
	// does.
	missing bool
	// health has the failures to connect. They count for this origin only.
	health health
}

// queue is a first-in-first-out queue. Its entries have the sequence numbers [head, tail)
// without a gap, so neither end has to be searched for.
type queue struct{ head, tail uint64 }

func (q queue) len() uint64 { return q.tail - q.head }

type retries struct {
	count uint64
	// headMS is the time of the first retry. Scans begin there, because deleted entries leave
	// traces in the store that a scan would have to skip.
	headMS int64
	// seq is the sequence number of the next retry.
	seq uint64
	// passed is the number of URLs that left the queues of the origin since a retry left. It is at
	// most run, and 0 without retries.
	passed uint32
}

// ready tells whether the time of the first retry has come.
func (r *retries) ready(nowMS int64) bool {
	return r.count > 0 && (r.headMS <= nowMS || absurd(r.headMS, nowMS))
}

// queued returns the number of URLs that were not released since they were admitted.
func (o *origin) queued() (n uint64) {
	for _, q := range o.queues {
		n += q.len()
	}
	return n
}

// held is the number of its URLs in queues and retries.
func (o *origin) held() uint64 { return o.queued() + o.retries.count }

// down tells whether the origin or its host failed so often that only probes go out.
func (o *origin) down(h *host) bool {
	return h.breaker.Open || o.health.breaker.Open || o.failures >= robotsDown && o.refuse == "" && !o.kept
}

// robotsDown is the number of failures in a row to fetch robots.txt after which an origin is
// down.
const robotsDown = 5

// upURLs returns what an origin adds to domain.upURLs, the URLs in queues of origins that are not
// down.
func (o *origin) upURLs(h *host) (n [priorities]uint64) {
	if o.down(h) {
		return n
	}
	for p, q := range o.queues {
		n[p] = q.len()
	}
	return n
}

// downURLs returns what an origin adds to the gauge of URLs that wait for hosts that are down.
func (o *origin) downURLs(h *host) int64 {
	if !o.down(h) {
		return 0
	}
	return int64(o.held())
}

// Standing is whether URLs of an origin may go out, as far as its robots.txt is
// concerned.
type Standing string

const (
	// Unasked says that robots.txt must be fetched first.
	Unasked Standing = "unasked"
	// Asking says that a visit for robots.txt is out.
	Asking Standing = "asking"
	// Referred says that robots.txt redirects to another domain, which fetches it.
	Referred Standing = "referred"
	// Waiting says that robots.txt could not be fetched and is asked for again later.
	Waiting Standing = "waiting"
	// Refused says that robots.txt could not be fetched and URLs are refused for now.
	Refused Standing = "refused"
	// InForce says that there are rules in force.
	InForce Standing = "in_force"
)

// standing is that of an agent since it has its name (Options.AgentSinceMS).
func (o *origin) standing(nowMS, agentSinceMS int64) Standing {
	age, ours := nowMS-o.fetchedMS, o.fetchedMS >= agentSinceMS
	switch {
	case o.robotsOut:
		return Asking
	case !o.missing && o.fetchedMS > 0 && ours && age < o.ttlMS && age >= -maxSkew.Milliseconds():
		return InForce
	case o.retryMS <= nowMS || absurd(o.retryMS, nowMS):
		return Unasked
	case o.kept && ours:
		return InForce
	case o.referred:
		return Referred
	case o.refuse != "":
		return Refused
	}
	return Waiting
}

// retryAt is when robots.txt is asked for again, zero if it has not been asked for yet.
func (o *origin) retryAt() time.Time {
	if o.failures == 0 && !o.referred {
		return time.Time{}
	}
	return moment(o.retryMS)
}

// learn folds what an event that was decided at nowMS says about the origin's robots.txt.
func (o *origin) learn(r *weftpb.OriginRules, nowMS int64) {
	o.answered = o.robotsOut // if the rules are in the report of the visit, the same fold soon ends both
	if r.Robots.GetAccess() == weftpb.Robots_ACCESS_DISALLOW_ALL {
		if !r.Missing && (!r.Referred || o.referred) { // a new referral is not a failure yet: its answer decides
			if o.failures++; o.failures == 1 {
				o.failingMS = nowMS
			}
		}
		switch {
		case r.Redirected:
			o.elsewhere = min(o.elsewhere, 1<<20) + 1
		case !r.Referred:
			o.elsewhere = 0
		}
		o.retryMS, o.refuse, o.referred, o.kept, o.missing = r.RetryMs, r.Refuse, r.Referred, r.Kept, r.Missing
		return
	}
	*o = origin{
		id: o.id, queues: o.queues, retries: o.retries, at: o.at,
		robotsOut:    o.robotsOut,
		answered:     o.answered,
		unrestricted: r.Robots.GetAccess() == weftpb.Robots_ACCESS_ALLOW_ALL,
		fetchedMS:    nowMS,
		ttlMS:        r.Robots.GetTtlMs(),
		crawlDelayMS: r.Robots.GetCrawlDelayMs(),
		hash:         string(r.Robots.GetHash()),
		health:       o.health,
	}
}

// inForce returns the part of a fetched robots.txt that the ledger keeps: not its sitemaps,
// which parse follows, and no more bytes of rules than count.
func inForce(r *weftpb.Robots) *weftpb.Robots {
	ttl := r.TtlMs
	if ttl <= 0 || ttl > maxRulesTTL.Milliseconds() {
		ttl = maxRulesTTL.Milliseconds()
	}
	rules, usage := r.Rules, r.Usage
	if r.Access != weftpb.Robots_ACCESS_RULES {
		rules, usage = "", ""
	}
	if len(rules) > maxRulesBytes {
		rules = rules[:strings.LastIndexByte(rules[:maxRulesBytes], '\n')+1]
	}
	return &weftpb.Robots{
		Access:       r.Access,
		Rules:        rules,
		CrawlDelayMs: min(r.CrawlDelayMs, uint32(politeness.MaxCrawlDelay.Milliseconds())),
		Hash:         r.Hash,
		Usage:        usage,
		TtlMs:        ttl,
		Status:       r.Status,
	}
}

// sameRules tells whether a fetched robots.txt is the one in force.
func (o *origin) sameRules(r *weftpb.Robots) bool {
	return o.fetchedMS > 0 && len(r.Hash) > 0 && bytes.Equal([]byte(o.hash), r.Hash) &&
		o.unrestricted == (r.Access == weftpb.Robots_ACCESS_ALLOW_ALL)
}

// keepable tells whether the last rules may hold on while robots.txt cannot be fetched.
func (o *origin) keepable(nowMS, agentSinceMS int64) bool {
	age := nowMS - o.fetchedMS
	return o.fetchedMS > 0 && o.fetchedMS >= agentSinceMS && age < maxKept.Milliseconds() && age >= -maxSkew.Milliseconds()
}

// fields are the fields of a record. Flags tell which of the rare fields are there.
func (o *origin) fields(f *kv.Fields) {
	unhealthy, retried := o.health != (health{}), o.retries != (retries{})
	troubled := o.failures > 0 || o.retryMS != 0 || o.refuse != ""
	misled, passed := o.elsewhere > 0, o.retries.passed > 0
	f.Bools(
		&o.robotsOut, &o.unrestricted, &o.referred, &o.kept, &o.answered, &o.missing,
		&unhealthy, &retried, &troubled, &misled, &passed,
	)
	f.Uint32(&o.id)
	for i := range o.queues {
		q := &o.queues[i]
		n := q.len()
		f.Uint(&q.head)
		f.Uint(&n)
		q.tail = q.head + n
	}
	f.Byte(&o.at.ready)
	f.Int(&o.at.waitMS)
	f.Int(&o.fetchedMS)
	f.Int(&o.ttlMS)
	f.Uint32(&o.crawlDelayMS)
	f.String(&o.hash)
	if retried {
		f.Uint(&o.retries.count)
		f.Int(&o.retries.headMS)
		f.Uint(&o.retries.seq)
	}
	if passed {
		f.Uint32(&o.retries.passed)
	}
	if troubled {
		f.Uint32(&o.failures)
		f.Int(&o.failingMS)
		f.Int(&o.retryMS)
		f.String(&o.refuse)
	}
	if misled {
		f.Uint32(&o.elsewhere)
	}
	if unhealthy {
		o.health.fields(f)
	}
}

func (o *origin) encode() []byte { return kv.Encode(64+len(o.hash)+len(o.refuse), o.fields) }

func decodeOrigin(b []byte) (*origin, error) {
	o := &origin{}
	return o, kv.Decode(b, o.fields)
}

// originOf returns the origin of a canonical absolute URL and true, or false if the text is not
// such a URL.
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
		return nil, kv.ErrValue
	}
	return r, nil
}
