package sim

import (
	"fmt"
	"maps"
	"net/http"
	"net/netip"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/internal/urls"
	"github.com/weftcrawl/weft/ledger"
	"github.com/weftcrawl/weft/processors/fetch"
	"github.com/weftcrawl/weft/processors/fetch/hostqueue"
	"github.com/weftcrawl/weft/processors/fetch/httpclient"
	"github.com/weftcrawl/weft/topics"
)

// Bug is a mistake that tests plant, to see that it is found. It is never in
// production's code, but in the shells, or in what they pass to that code or get
// from it.
type Bug string

// plantable are the bugs, and the rules that they break.
var plantable = map[Bug]string{
	// Ledgers.
	"writer-goes-on":        "an error of the writer does not end the partition",
	"resume-from-commits":   "inputs go on at the commits of the group, which are made when a record is taken, as goka does",
	"commit-early":          "a ledger commits before its event is acknowledged",
	"no-claim":              "a new owner goes on under the claim of the one before",
	"any-epoch":             "events of older owners count",
	"any-offset":            "events count at any offset",
	"foreign-records-count": "an event that a foreign writer has copied counts",
	"holes-ignored":         "an event counts though a foreign record is at the offset that it was made for",
	"impure-apply":          "live folds write the time of the clock",
	"checkpoint-early":      "a checkpoint is published before its last event is acknowledged",
	"settle-unknown":        "outcomes of a visit that is not out settle the one that is",
	"trust-filter":          "dedupe takes a maybe of its filter for a yes",
	"merges-unwritten":      "dedupe does not write which URLs are merged",
	"health-unwritten":      "the scheduler does not write which origin fails, and which one answered last",
	"missing-ignored":       "dedupe does not read that there is no page",
	"recalls-ignored":       "schedule does not read that a URL has left its group",
	"groups-ignored":        "schedule does not read that a group comes back",
	"release-pause-ignored": "the scheduler releases while releases are paused",
	"settings-ignored":      "the scheduler does not read what people ask for domains",
	"per-day-ignored":       "the scheduler does not read how many requests a day people permit for a domain",
	// Workers.
	"worker-commits-early": "a worker finishes a record before its output is acknowledged",
	"marks-jump":           "a worker commits the newest finished record",
	"trim-too-far":         "the janitor does not wait for commits",
	// Fetch.
	"report-early":           "an outcome is reported before its exchange is acknowledged",
	"ignore-oldest":          "a takeover begins at the end of scheduled",
	"foreign-record-decides": "a takeover takes a foreign record for the last decision, after which nothing is out",
	"no-takeover-pause":      "a takeover makes requests at once",
	"lease-unchecked":        "requests are made without a lease",
	"lease-from-answer":      "the lease runs from the answer to a heartbeat, even from a bad one",
	"delay-from-start":       "the delay runs from the start of a request",
	"delay-skipped":          "no delay runs from any request",
	"referral-forgotten":     "a fetcher forgets that another domain has the robots.txt of a host, and perhaps a Crawl-delay",
	"silence-untold":         "a fetcher does not say for how long a host asked for no request",
	"silence-ignored":        "a host that asked for no request is asked in the rest of the visit",
	"no-robots":              "robots.txt is not fetched",
	"pause-ignored":          "a fetcher that is paused goes on",
	"block-overlooked":       "a fetcher goes on with a domain that people have blocked",
	"backlog-ignored":        "a fetcher does not wait for parse",
	"reservation-kept":       "a request that is over keeps its reservation of what it may bring",
	"dead-names-fail":        "a host name that does not exist counts as a host that is down",
	"names-remembered":       "a host name that was not found once is never looked up again",
	"hanging-forgotten":      "a request that hangs is given back, although it goes on",
	"stop-cuts":              "a fetcher that ends in good order cuts off the requests in flight",
	// Addresses.
	"budget-whole":    "each fetcher takes the whole budget of an address",
	"budget-of-names": "each name has a budget of its own",
	"at-once-ignored": "a request leaves the line for its address when it begins, and not at its end",
	"line-forgotten":  "a request that ends gives no turn to those in line",
	"crowd-unsaid":    "a fetcher does not say for how long an address is asked enough",
	"crowd-for-ever":  "a fetcher says that for an hour longer",
	// Servers that ask for fewer requests, or do not answer.
	"throttled-fails":    "an answer 429 counts as a failed attempt of its URL",
	"throttled-unpaced":  "the scheduler takes 429 for 503, which slows a host down only if it counts against the host",
	"retry-after-unread": "a fetcher does not report Retry-After",
	"outage-gives-up":    "hosts are given up after a minute",
	"outage-for-pages":   "what does not answer is held against the URL alone",
	"probes-seldom":      "a host that does not answer is left alone for a day",
	"probes-hasty":       "a request that is not answered counts as one that was not made",
	// Limits, and the drained test.
	"per-domain-exceeded":      "a domain has one connection more than allowed",
	"depth-ignored":            "links are followed to any depth",
	"pages-per-domain-ignored": "any number of URLs of a domain is admitted",
	"pages-forgotten":          "pages of earlier instances do not count against the limit",
	"drain-without-before":     "the drained test leaves out its first step",
	"drain-ends-first":         "the drained test reads the ends before the commits",
}

// Bugs are all bugs that can be planted.
func Bugs() []Bug { return keys(plantable) }

// bugs changes what production's code gets from the shells, and the reverse, if a
// bug is planted.
type bugs struct {
	w      *world
	latest map[topicPartition]int64 // epoch of the latest claim in a ledger
	maybe  map[int32]uint64         // a small filter of each partition's URLs
	absent map[string]bool          // origins whose host name was not found
}

func (w *world) bug(b Bug) bool {
	if w.c.Bug == "" {
		return false
	}
	if plantable[b] == "" {
		panic("sim: no bug " + string(b))
	}
	return w.c.Bug == b
}

// writer returns what a table appends with.
func (b *bugs) writer(t *table, sound *ledger.Writer) writer {
	if b.w.bug("writer-goes-on") {
		return &careless{Writer: sound, t: t}
	}
	return sound
}

type careless struct {
	*ledger.Writer
	t     *table
	acked int64
}

func (c *careless) Append(key string, value []byte, done func(int64, error)) {
	c.t.out.send(c.t.ledger().topicPartition, key, value, func(offset int64, err error) {
		if err == nil {
			c.acked = max(c.acked, offset)
		}
		done(offset, nil)
	})
}

func (c *careless) Err() error   { return nil }
func (c *careless) Acked() int64 { return c.acked }

// unclaimed tells that the table goes on without a claim. A ledger needs its first
// claim for any event to be valid.
func (b *bugs) unclaimed(t *table) bool {
	return b.w.bug("no-claim") && t.core.Folded().Epoch > 0
}

func (b *bugs) resume(t *table, next map[string]int64) map[string]int64 {
	if b.w.bug("resume-from-commits") {
		for topic := range next {
			next[topic] = max(next[topic], t.member.group.committed(t.at(topic)))
		}
	}
	return next
}

// reread returns the value of a ledger's record as a fold reads it.
func (b *bugs) reread(r record) []byte {
	if b.w.c.Bug == "" {
		return r.value
	}
	var ev weftpb.Event
	undecodable := proto.Unmarshal(r.value, &ev) != nil || ev.Claim == nil && ev.Epoch == 0
	switch {
	case ev.Claim != nil:
		return r.value
	case b.w.bug("holes-ignored") && r.foreign && r.latest > 0:
		ev = weftpb.Event{Epoch: r.latest, Offset: r.offset, Unacknowledged: r.offset}
	case undecodable:
		return r.value
	case b.w.bug("any-offset"):
		ev.Offset = r.offset
	case b.w.bug("any-epoch"), b.w.bug("foreign-records-count") && r.foreign:
		ev.Epoch, ev.Offset = max(ev.Epoch, r.latest), r.offset
	default:
		return r.value
	}
	return encodeEvent(&ev)
}

// arrived changes a record that is appended to its log.
func (b *bugs) arrived(l *log, r *record) {
	var ev weftpb.Event
	if b.w.bug("merges-unwritten") && l.topic == b.w.names.Deduped {
		r.value = edited(r.value, &weftpb.Deduped{}, func(d *weftpb.Deduped) bool {
			merges := len(d.Merged) > 0
			d.Merged = nil
			return merges
		})
	}
	if b.w.bug("health-unwritten") && l.topic == b.w.names.Scheduled {
		r.value = edited(r.value, &weftpb.Scheduled{}, func(s *weftpb.Scheduled) bool {
			if s.Timing.GetAnsweredBy() == 0 && len(s.Health) == 0 {
				return false
			}
			s.Health, s.Timing.AnsweredBy = nil, 0
			return true
		})
	}
	if !b.w.isLedger(l.topic) {
		return
	}
	if proto.Unmarshal(r.value, &ev) == nil && ev.Claim != nil {
		b.latest[l.topicPartition] = r.offset + 1
	}
	r.latest = b.latest[l.topicPartition]
}

// edited returns an event with its body changed. edit returns false if the event is
// to stay as it is.
func edited[M proto.Message](event []byte, body M, edit func(M) bool) []byte {
	var ev weftpb.Event
	if proto.Unmarshal(event, &ev) != nil || ev.Claim != nil || proto.Unmarshal(ev.Body, body) != nil || !edit(body) {
		return event
	}
	ev.Body = encode(body)
	return encodeEvent(&ev)
}

// encodeEvent marshals an event of a ledger with the checksum of its content.
func encodeEvent(ev *weftpb.Event) []byte {
	value, err := ledger.Encode(ev)
	if err != nil {
		panic(fmt.Sprintf("sim: marshal event: %v", err))
	}
	return value
}

// exchange returns an exchange as the fetcher sees it.
func (b *bugs) exchange(origin string, x *httpclient.Exchange) *httpclient.Exchange {
	missing := x.Class == httpclient.ClassDNSNotFound
	switch {
	case b.w.bug("dead-names-fail") && missing:
		return &httpclient.Exchange{URL: x.URL, Class: httpclient.ClassDNSError, Started: x.Started, Total: x.Total}
	case b.w.bug("names-remembered") && b.absent[origin]:
		return &httpclient.Exchange{URL: x.URL, Class: httpclient.ClassDNSNotFound, Started: x.Started, Total: x.Total}
	case missing:
		b.absent[origin] = true
	}
	return b.sick(x)
}

// sick returns the exchange with a server that asks for fewer requests, or does not answer,
// as the fetcher sees it.
func (b *bugs) sick(x *httpclient.Exchange) *httpclient.Exchange {
	changed := *x
	throttled := x.Status == http.StatusTooManyRequests
	unanswered := x.Class == httpclient.ClassConnectRefused || x.Class == httpclient.ClassFirstByteTimeout
	switch {
	case b.w.bug("throttled-fails") && throttled:
		changed.Status = http.StatusInternalServerError
	case b.w.bug("throttled-unpaced") && throttled:
		changed.Status = http.StatusServiceUnavailable
	case b.w.bug("retry-after-unread"):
		changed.RetryAfter = 0
	case b.w.bug("outage-for-pages") && unanswered:
		changed.Class = httpclient.ClassLocalError
	case b.w.bug("probes-hasty") && unanswered:
		changed.Class = httpclient.ClassLeaseLost
	case b.w.bug("probes-seldom") && unanswered:
		changed.Class, changed.Status, changed.RetryAfter = "", http.StatusServiceUnavailable, 24*time.Hour
	}
	return &changed
}

// charged is the address whose budget a request takes.
func (b *bugs) charged(url string) netip.Addr {
	a := b.w.web.addressOf(url)
	if b.w.bug("budget-of-names") && b.w.budget.Limits(a) {
		names := slices.Sorted(maps.Keys(b.w.web.addresses))
		return netip.AddrFrom4([4]byte{203, 0, 113, byte(slices.Index(names, urls.HostOf(url)))})
	}
	return a
}

// crowd notes in a report that the line for an address is too long.
func (b *bugs) crowd(r *fetch.Report, wait time.Duration) {
	switch {
	case b.w.bug("crowd-unsaid"):
		return
	case b.w.bug("crowd-for-ever"):
		wait += time.Hour
	}
	r.Crowd(wait)
}

// answer returns the answer to a request as its host queue sees it.
func (b *bugs) answer(a hostqueue.Answer) hostqueue.Answer {
	a.Unreached = a.Unreached || b.w.bug("delay-skipped")
	a.Referred = a.Referred && !b.w.bug("referral-forgotten")
	if b.w.bug("silence-ignored") {
		a.Failed, a.RetryAfter = false, 0
	}
	return a
}

// input returns the value of an input's record as a decision reads it.
func (b *bugs) input(t *table, topic string, r record) []byte {
	switch {
	case topic == b.w.names.Deduped:
		return b.fromDedupe(b.reread(r))
	case topic == b.w.names.Normalized && b.w.bug("trust-filter"):
		return b.filtered(t, r)
	case topic == b.w.names.Normalized && b.w.bug("missing-ignored"):
		return withoutMissing(r.value)
	case topic == b.w.names.Visited && b.w.bug("settle-unknown"):
		return b.anyVisit(t, r)
	}
	return r.value
}

// fromDedupe returns an event of deduped as schedule reads it.
func (b *bugs) fromDedupe(event []byte) []byte {
	switch {
	case b.w.bug("recalls-ignored"):
		return edited(event, &weftpb.Deduped{}, func(d *weftpb.Deduped) bool {
			d.Recalled = nil
			return true
		})
	case b.w.bug("groups-ignored"):
		return edited(event, &weftpb.Deduped{}, func(d *weftpb.Deduped) bool {
			d.Groups = slices.DeleteFunc(d.Groups, func(g *weftpb.Group) bool { return g.State != weftpb.Group_STATE_WITHDRAWN })
			return true
		})
	}
	return event
}

// withoutMissing is a record of normalized that does not tell which URLs have no page.
func withoutMissing(value []byte) []byte {
	var n weftpb.Normalized
	if proto.Unmarshal(value, &n) != nil {
		return value
	}
	n.Evidence = slices.DeleteFunc(n.Evidence, func(e *weftpb.Evidence) bool { return e.Kind == weftpb.Evidence_KIND_MISSING })
	return encode(&n)
}

// filtered removes the URLs that are known by a small filter.
func (b *bugs) filtered(t *table, r record) []byte {
	var n weftpb.Normalized
	if proto.Unmarshal(r.value, &n) != nil {
		return r.value
	}
	kept := n.Targets[:0]
	for _, target := range n.Targets {
		var sum uint64
		for _, c := range []byte(target.Url) {
			sum = sum*31 + uint64(c)
		}
		bit := uint64(1) << (sum % 64)
		if b.maybe[t.partition]&bit == 0 || b.isSeed(target.Url) {
			kept = append(kept, target)
		}
		b.maybe[t.partition] |= bit
	}
	n.Targets = kept
	return encode(&n)
}

// isSeed tells whether the filter lets a URL pass, so that there is a crawl.
func (b *bugs) isSeed(url string) bool { return slices.Contains(b.w.web.seeds, url) }

// anyVisit gives a report the id of the domain's visit that is out.
func (b *bugs) anyVisit(t *table, r record) []byte {
	var v weftpb.Visited
	f := b.w.frontier(t.partition, t.store)
	out, err := f.Visits(string(r.key))
	if proto.Unmarshal(r.value, &v) != nil || err != nil || len(out) == 0 || v.Rules != nil || out[0].Robots {
		return r.value
	}
	v.Visit = out[0].ID
	return encode(&v)
}

// store returns the store that the stage's state is kept in.
func (b *bugs) store(t *table) ledger.Store {
	if b.w.bug("impure-apply") {
		return clocked{t.store, t}
	}
	return t.store
}

// clocked is a store that writes the time beside each value.
type clocked struct {
	ledger.Store
	t *table
}

func (c clocked) Set(key, value []byte) {
	c.Store.Set(key, value)
	if c.t.live {
		c.Store.Set([]byte("\xfftime"), []byte(c.t.instance.proc.wall().String()))
	}
}

// takeover returns what a fetcher has read before a takeover.
func (b *bugs) takeover(l *log, found fetch.Takeover) fetch.Takeover {
	if last := l.records[:min(found.End, l.end())]; b.w.bug("foreign-record-decides") && len(last) > 0 && last[len(last)-1].foreign {
		found.Last = &weftpb.Scheduled{Oldest: int64(len(last)) - 1}
	}
	if b.w.bug("ignore-oldest") {
		found.Last = &weftpb.Scheduled{Oldest: found.End}
	}
	if b.w.bug("no-takeover-pause") {
		found.At, found.Margin = time.Time{}, 0
	}
	return found
}

// gate returns the gate of a fetcher.
func (b *bugs) gate(g fetch.Gate) fetch.Gate {
	g.Leased = g.Leased || b.w.bug("lease-unchecked")
	g.Paused = g.Paused && !b.w.bug("pause-ignored")
	g.Blocked = g.Blocked && !b.w.bug("block-overlooked")
	return g
}

// define changes the definition of the crawl.
func (b *bugs) define(d *topics.Definition) {
	switch {
	case b.w.bug("outage-gives-up"):
		d.GiveUpAfterMS = time.Minute.Milliseconds()
	case b.w.bug("depth-ignored"):
		d.MaxDepth = -1
	case b.w.bug("per-domain-exceeded"):
		d.PerDomain++
	case b.w.bug("pages-per-domain-ignored"):
		d.MaxPagesPerDomain = 0
	}
}

// written are the offsets up to which parsed is already in the files.
func (b *bugs) written(next map[int32]int64) map[int32]int64 {
	if b.w.bug("pages-forgotten") {
		return nil
	}
	return next
}

// settings are those of a process, as the scheduler reads them.
func (b *bugs) settings(p *process) *stage.Settings {
	switch {
	case b.w.bug("settings-ignored"):
		return nil
	case !b.w.bug("per-day-ignored"):
		return p.settings
	case p.unlimited == nil:
		p.unlimited = stage.NewSettings(nil)
		for domain := range b.w.settings {
			p.setUnlimited(domain)
		}
	}
	return p.unlimited
}

// setUnlimited gives a process the setting of a domain without a limit a day, if that bug is planted.
func (p *process) setUnlimited(domain string) {
	if p.unlimited != nil {
		s := p.w.settings[domain]
		s.PerDay = 0
		p.unlimited.Set(s)
	}
}
