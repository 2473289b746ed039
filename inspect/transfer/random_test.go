package transfer

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/urls"
	"github.com/weftcrawl/weft/ledger"
	"github.com/weftcrawl/weft/processors/schedule/frontier"
	"github.com/weftcrawl/weft/test/memstore"
	"github.com/weftcrawl/weft/topics"
)

// crawled is a crawl at random: its ledgers are written by the frontier itself,
// under several owners and with events that do not count.
type crawled struct {
	t     *rapid.T
	names topics.Names
	now   time.Time
	parts []*crawledPart
	urls  int
	// admitted and onTheWay are the URLs of deduped that schedule has read, and
	// those that it has not.
	admitted, onTheWay map[string]bool
	// aside are the URLs that were found in a group, by domain.
	aside map[string][]string
}

// groups are the groups of each domain.
var groups = []string{"https", "trap 0123456789abcdef"}

// states are those that dedupe tells of groups.
var states = []weftpb.Group_State{weftpb.Group_STATE_UNSPECIFIED, weftpb.Group_STATE_WITHDRAWN, weftpb.Group_STATE_FREE}

// crawledPart is one partition of it.
type crawledPart struct {
	number int32
	store  *memstore.Store
	f      *frontier.Frontier
	logs   map[string]*crawledLog // by short name
	// read is how many records of deduped schedule has read.
	read int64
	out  map[string]*outVisit
	// parsed and written are what parse and the WARC writer have committed.
	parsed, written int64
}

// outVisit is a visit that is out, with what of it is open.
type outVisit struct {
	domain string
	visit  *weftpb.Visit
	open   map[uint32]bool
}

type crawledLog struct {
	epoch   int64
	records []*kgo.Record
}

func newCrawled(t *rapid.T, partitions int32) *crawled {
	c := &crawled{t: t, names: topics.Loop("old"), now: time.UnixMilli(1_700_000_000_000), admitted: map[string]bool{}, onTheWay: map[string]bool{}, aside: map[string][]string{}}
	for n := range partitions {
		p := &crawledPart{number: n, store: new(memstore.Store), logs: map[string]*crawledLog{}, out: map[string]*outVisit{}}
		p.f = frontier.New(frontierOptions(n), p.store)
		for _, topic := range c.names.Topics() {
			p.logs[topic.Short] = &crawledLog{}
		}
		c.parts = append(c.parts, p)
	}
	return c
}

func frontierOptions(partition int32) frontier.Options {
	o := frontier.DefaultOptions()
	o.Partition, o.PerDomain, o.Window = partition, 2, 6
	o.Allowed = func(_ *weftpb.Robots, url string) bool { return !strings.HasSuffix(url, "7") }
	return o
}

// write appends a record.
func (c *crawled) write(p *crawledPart, short string, key, value []byte) {
	l := p.logs[short]
	l.records = append(l.records, &kgo.Record{Key: key, Value: value, Offset: int64(len(l.records)), Timestamp: c.now})
}

func (l *crawledLog) next() int64 { return int64(len(l.records)) }

// claim gives a ledger a new owner; the old one may wake up once more.
func (c *crawled) claim(p *crawledPart, short string) {
	l := p.logs[short]
	old := l.epoch
	c.write(p, short, nil, ledger.ClaimOf("test"))
	l.epoch = l.next()
	if old > 0 && rapid.Bool().Draw(c.t, "wakes") {
		c.event(p, short, "late.example", []byte("nonsense"), old)
	}
}

func (c *crawled) event(p *crawledPart, short, key string, body []byte, epoch int64) {
	value, err := proto.Marshal(&weftpb.Event{Epoch: epoch, Offset: p.logs[short].next(), Body: body})
	if err != nil {
		c.t.Fatal(err)
	}
	c.write(p, short, []byte(key), value)
}

// step does something in a partition.
func (c *crawled) step() {
	c.now = c.now.Add(time.Duration(rapid.IntRange(0, 3000).Draw(c.t, "ms")) * time.Millisecond)
	p := c.parts[rapid.IntRange(0, len(c.parts)-1).Draw(c.t, "partition")]
	for _, short := range []string{"deduped", "scheduled"} {
		if p.logs[short].epoch == 0 || rapid.IntRange(0, 40).Draw(c.t, "claim") == 0 {
			c.claim(p, short)
		}
	}
	switch rapid.SampledFrom([]string{"dedupe", "dedupe", "admit", "admit", "tick", "tick", "visit", "visit", "visit", "report"}).Draw(c.t, "step") {
	case "dedupe":
		c.dedupe(p)
	case "admit":
		c.admit(p)
	case "tick":
		for _, domain := range p.f.Due(c.moment(p), 4) {
			c.decide(p, domain, func() (*weftpb.Scheduled, error) { return p.f.Tick(domain, c.moment(p)) })
		}
	case "visit":
		c.visit(p)
	case "report":
		c.decide(p, "", func() (*weftpb.Scheduled, error) { return p.f.Report(c.moment(p)) })
	}
}

func (c *crawled) moment(p *crawledPart) frontier.Moment {
	return frontier.Moment{Now: c.now, Offset: p.logs["scheduled"].next()}
}

// dedupe finds new URLs of a domain of the partition.
func (c *crawled) dedupe(p *crawledPart) {
	var mine []string
	for i := range 24 {
		domain := fmt.Sprintf("d%d.example", i)
		if topics.Partition(domain, int32(len(c.parts))) == p.number {
			mine = append(mine, domain)
		}
	}
	if len(mine) == 0 {
		return
	}
	domain := rapid.SampledFrom(mine).Draw(c.t, "domain")
	d := &weftpb.Deduped{}
	for range rapid.IntRange(1, 4).Draw(c.t, "urls") {
		c.urls++
		url := fmt.Sprintf("http://%s/%d", domain, c.urls)
		t := &weftpb.Target{Url: url, Depth: uint32(c.urls % 6), Via: weftpb.Via_VIA_LINK}
		if rapid.Bool().Draw(c.t, "aside") {
			t.Group, t.Twin = rapid.SampledFrom(groups).Draw(c.t, "group"), url+"/"
			c.aside[domain] = append(c.aside[domain], url)
		}
		d.Targets = append(d.Targets, t)
		c.onTheWay[url] = true
	}
	if rapid.IntRange(0, 4).Draw(c.t, "told") == 0 {
		d.Groups = append(d.Groups, &weftpb.Group{
			Name: rapid.SampledFrom(groups).Draw(c.t, "group"), State: rapid.SampledFrom(states).Draw(c.t, "state"),
		})
	}
	if len(c.aside[domain]) > 0 && rapid.IntRange(0, 4).Draw(c.t, "recalls") == 0 {
		d.Recalled = append(d.Recalled, rapid.SampledFrom(c.aside[domain]).Draw(c.t, "recalled"))
	}
	body, err := proto.Marshal(d)
	if err != nil {
		c.t.Fatal(err)
	}
	c.event(p, "deduped", domain, body, p.logs["deduped"].epoch)
}

// admit reads the next record of deduped.
func (c *crawled) admit(p *crawledPart) {
	l := p.logs["deduped"]
	var reader ledger.EventReader
	for offset, r := range l.records {
		ev, err := reader.Read(r.Value, "deduped", p.number, int64(offset))
		if err != nil {
			c.t.Fatal(err)
		}
		if int64(offset) < p.read {
			continue
		}
		p.read++
		if ev == nil {
			continue
		}
		var d weftpb.Deduped
		if err := proto.Unmarshal(ev.Body, &d); err != nil {
			c.t.Fatal(err)
		}
		for _, t := range d.Targets {
			delete(c.onTheWay, t.Url)
			c.admitted[t.Url] = true
		}
		c.decide(p, string(r.Key), func() (*weftpb.Scheduled, error) { return p.f.AdmitDeduped(string(r.Key), &d, c.moment(p)) })
		return
	}
}

// visit makes a request of a visit that is out: it is fetched, and perhaps
// reported, and that perhaps settled.
func (c *crawled) visit(p *crawledPart) {
	ids := make([]string, 0, len(p.out))
	for id := range p.out {
		ids = append(ids, id)
	}
	if len(ids) == 0 {
		return
	}
	slices.Sort(ids)
	o := p.out[rapid.SampledFrom(ids).Draw(c.t, "visit")]
	v := &weftpb.Visited{Visit: o.visit.Id, Done: rapid.Bool().Draw(c.t, "done")}
	if o.visit.Robots {
		origin := o.visit.Requests[0].Target.Url
		v.Rules = &weftpb.OriginRules{
			Origin: origin[:len(origin)-len("/robots.txt")],
			Robots: &weftpb.Robots{Access: weftpb.Robots_ACCESS_RULES, Rules: "Disallow: /x", Hash: []byte("h"), TtlMs: 3_600_000, Status: 200},
		}
		v.Outcomes = append(v.Outcomes, &weftpb.Outcome{Status: 200, StartedMs: c.now.UnixMilli()})
	} else {
		for i := range uint32(len(o.visit.Requests)) {
			if !o.open[i] {
				continue
			}
			outcome := &weftpb.Outcome{Index: i, Status: 200, StartedMs: c.now.UnixMilli(), TotalUs: 100}
			if rapid.IntRange(0, 4).Draw(c.t, "fails") == 0 {
				outcome.Status, outcome.ErrorClass = 0, "timeout"
			}
			c.fetched(p, o, i, outcome)
			v.Outcomes = append(v.Outcomes, outcome)
			break
		}
	}
	switch rapid.SampledFrom([]string{"settled", "settled", "settled", "reported", "unreported"}).Draw(c.t, "fate") {
	case "settled":
		c.decide(p, o.domain, func() (*weftpb.Scheduled, error) { return p.f.Settle(o.domain, v, c.moment(p)) })
	case "reported": // schedule has not read it
		value, err := proto.Marshal(v)
		if err != nil {
			c.t.Fatal(err)
		}
		c.write(p, "visited", []byte(o.domain), value)
	}
}

func (c *crawled) fetched(p *crawledPart, o *outVisit, index uint32, outcome *weftpb.Outcome) {
	request := o.visit.Requests[index]
	value, err := proto.Marshal(&weftpb.Fetched{
		Id: urls.PageID(request.Target.Url, request.Round), Request: request, Visit: o.visit.Id, Outcome: outcome,
	})
	if err != nil {
		c.t.Fatal(err)
	}
	c.write(p, "fetched", []byte(o.domain), value)
	end := p.logs["fetched"].next()
	p.parsed = max(p.parsed, end-int64(rapid.IntRange(0, 3).Draw(c.t, "unparsed")))
	p.written = max(p.written, end-int64(rapid.IntRange(0, 3).Draw(c.t, "unwritten")))
}

// decide writes and folds what the frontier decides.
func (c *crawled) decide(p *crawledPart, domain string, decision func() (*weftpb.Scheduled, error)) {
	ev, err := decision()
	if err != nil {
		c.t.Fatal(err)
	}
	if ev == nil {
		return
	}
	body, err := proto.Marshal(ev)
	if err != nil {
		c.t.Fatal(err)
	}
	l := p.logs["scheduled"]
	offset := l.next()
	c.event(p, "scheduled", domain, body, l.epoch)
	if err := p.f.Apply(domain, ev, offset); err != nil {
		c.t.Fatal(err)
	}
	for _, id := range ev.Expired {
		delete(p.out, id)
	}
	for _, s := range ev.Settled {
		if o := p.out[s.Visit]; o != nil {
			if delete(o.open, s.Index); len(o.open) == 0 {
				delete(p.out, s.Visit)
			}
		}
	}
	for _, v := range ev.Released {
		o := &outVisit{domain, v, map[uint32]bool{}}
		for i := range v.Requests {
			o.open[uint32(i)] = true
		}
		p.out[v.Id] = o
	}
}

// archive writes the crawl as an export of it.
func (c *crawled) archive(dir string) *Archive {
	m := Manifest{Format: Format, Definition: topics.Definition{
		Version: topics.DefinitionVersion, Crawl: "old", Partitions: int32(len(c.parts)), SuffixList: urls.BundledSuffixes().Version(), PerDomain: 2,
	}}
	warc := rapid.Bool().Draw(c.t, "warc")
	for _, topic := range c.names.Topics() {
		if topic.Single {
			continue
		}
		if err := os.MkdirAll(filepath.Join(dir, topic.Short), 0o755); err != nil {
			c.t.Fatal(err)
		}
		for _, p := range c.parts {
			l := Log{Topic: topic.Short, Partition: p.number, End: p.logs[topic.Short].next()}
			switch topic.Short {
			case "deduped":
				l.Next = map[topics.Stage]int64{topics.Schedule: p.read}
			case "fetched":
				l.Next = map[topics.Stage]int64{topics.Parse: p.parsed}
				if warc {
					l.Next[[]topics.Stage{topics.Archive, topics.FormerWARC}[p.number%2]] = p.written
				}
			}
			if l.End > 0 {
				l.File = filepath.Join(topic.Short, fmt.Sprintf("%05d.zst", p.number))
				w, err := createSegment(filepath.Join(dir, l.File))
				if err != nil {
					c.t.Fatal(err)
				}
				for _, r := range p.logs[topic.Short].records {
					if err := w.write(r); err != nil {
						c.t.Fatal(err)
					}
				}
				if err := w.finish(&l); err != nil {
					c.t.Fatal(err)
				}
			}
			m.Logs = append(m.Logs, l)
		}
	}
	if err := m.write(dir); err != nil {
		c.t.Fatal(err)
	}
	a, err := OpenArchive(dir)
	if err != nil {
		c.t.Fatal(err)
	}
	return a
}
