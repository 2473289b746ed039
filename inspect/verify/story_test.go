package verify_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/inspect/verify"
	"github.com/weftcrawl/weft/internal/robots"
	"github.com/weftcrawl/weft/internal/urls"
	"github.com/weftcrawl/weft/topics"
)

// story is a small crawl, record by record: a seed, its robots.txt, its page,
// the one link on it, and that page. Tests change it before it is written.
//
//	scheduled at 0  the claim
//	             1  admits the seed, releases robots.txt
//	             2  learns the rules, releases the seed
//	             3  settles the seed
//	             4  admits the link and releases it
//	             5  settles the link
type story struct {
	definitions []topics.Definition
	seeds       []string
	discovered  []*weftpb.Discovered
	normalized  []*weftpb.Normalized
	deduped     []*event
	scheduled   []*event
	visited     []*weftpb.Visited
	fetched     []*weftpb.Fetched
	parsed      []*page
	rejected    []*weftpb.Rejected
	// commits by topic of the group that reads it; -1: at its end.
	commits map[string]int64
	// trimmed is the offset at which scheduled begins.
	trimmed int64
}

// event is a record of a ledger; body is nil in a claim, raw replaces it all.
type event struct {
	ev   *weftpb.Event
	key  string
	body proto.Message
	raw  []byte
}

// page is a record of parsed.
type page struct {
	ID     string `json:"id"`
	URL    string `json:"url"`
	Domain string `json:"domain"`
	Depth  uint32 `json:"depth"`
	Links  []link `json:"links"`
}

type link struct {
	URL string `json:"url"`
	Rel string `json:"rel,omitempty"`
}

const (
	domain     = "a.test"
	seed       = "http://a.test/"
	linked     = "http://a.test/b"
	stranger   = "http://a.test/stranger"
	private    = "http://a.test/private"
	partitions = 2
	// begun is when the story begins, milliseconds since 1970.
	begun = 1_700_000_000_000
)

var (
	names = topics.Loop("weft")
	home  = topics.Partition(domain, partitions)
)

// id of the visit that the event at offset releases.
func id(offset int) string { return fmt.Sprintf("%d-%d-0", home, offset) }

func target(url string, depth uint32) *weftpb.Target {
	via := weftpb.Via_VIA_LINK
	if depth == 0 {
		via = weftpb.Via_VIA_SEED
	}
	return &weftpb.Target{Url: url, Depth: depth, Via: via}
}

// rules are the rules of a.test, with a Crawl-delay in seconds if it is not 0.
func rules(crawlDelay int) *weftpb.Robots {
	text := "User-agent: *\nDisallow: /private\n"
	if crawlDelay > 0 {
		text += fmt.Sprintf("Crawl-delay: %d\n", crawlDelay)
	}
	return robots.Parse(200, []byte(text), "weft")
}

func attempt(startMS, tookMS int64) *weftpb.Attempt {
	return &weftpb.Attempt{StartedMs: begun + startMS, TotalUs: tookMS * 1000, Status: 200}
}

func released(offset int, requests ...*weftpb.Request) *weftpb.Visit {
	return &weftpb.Visit{Id: id(offset), DelayMs: 1000, LeaseMs: begun + 1e6, Requests: requests}
}

// scheduled is an event with the gauges queued, out, visits, fetched.
func scheduled(atMS, queued, out, visits, fetched int64, s *weftpb.Scheduled) *event {
	s.DecidedMs = begun + atMS
	s.Gauges = &weftpb.Gauges{Pending: queued + out, Queued: queued, Out: out, Visits: visits, DomainsOut: visits, Fetched: fetched}
	if queued+out > 0 {
		s.Gauges.Domains = 1
	}
	s.Timing = &weftpb.Timing{}
	return &event{ev: &weftpb.Event{Epoch: 1}, key: domain, body: s}
}

func (e *event) reads(topic string, offset int64) *event {
	p := &weftpb.Position{Topic: topic, Offset: offset}
	if topic == names.Deduped {
		p.Epoch = 1
	}
	e.ev.Positions = append(e.ev.Positions, p)
	return e
}

func claim() *event { return &event{ev: &weftpb.Event{Claim: &weftpb.Claim{Owner: "test"}}} }

func healthy() *story {
	robotsVisit := released(1, &weftpb.Request{Target: &weftpb.Target{Url: "http://a.test/robots.txt"}})
	robotsVisit.Robots = true
	root := &weftpb.Request{Target: target(seed, 0)}
	next := &weftpb.Request{Target: target(linked, 1), Priority: 2}
	return &story{
		definitions: []topics.Definition{{
			Version: 1, Crawl: "weft", Partitions: partitions, SuffixList: urls.BundledSuffixes().Version(),
			Scope: "host", MaxDepth: 3, DelayMS: 1000, PerDomain: 1, UserAgent: "weft/test",
		}},
		seeds:      []string{seed},
		discovered: []*weftpb.Discovered{{Source: seed, Via: weftpb.Via_VIA_LINK, Links: []*weftpb.Link{{Url: "/b"}}}},
		normalized: []*weftpb.Normalized{
			{Targets: []*weftpb.Target{target(seed, 0)}},
			{Source: seed, Targets: []*weftpb.Target{target(linked, 1)}},
		},
		deduped: []*event{
			claim(),
			(&event{ev: &weftpb.Event{Epoch: 1}, key: domain, body: &weftpb.Deduped{Targets: []*weftpb.Target{target(seed, 0)}}}).reads(names.Normalized, 0),
			(&event{ev: &weftpb.Event{Epoch: 1}, key: domain, body: &weftpb.Deduped{Targets: []*weftpb.Target{target(linked, 1)}}}).reads(names.Normalized, 1),
		},
		scheduled: []*event{
			claim(),
			scheduled(0, 1, 1, 1, 0, &weftpb.Scheduled{
				Admitted: []*weftpb.Admission{{Request: root}}, Released: []*weftpb.Visit{robotsVisit},
			}).reads(names.Deduped, 1),
			scheduled(160, 0, 1, 1, 0, &weftpb.Scheduled{
				Settled:  []*weftpb.Settlement{{Visit: id(1), Reason: "robots", Attempt: attempt(100, 50)}},
				Rules:    []*weftpb.OriginRules{{Origin: "http://a.test", Robots: rules(0)}},
				Released: []*weftpb.Visit{released(2, root)},
			}).reads(names.Visited, 0),
			scheduled(1350, 0, 0, 0, 1, &weftpb.Scheduled{
				Settled: []*weftpb.Settlement{{Visit: id(2), Reason: "fetched", Attempt: attempt(1200, 100)}},
			}).reads(names.Visited, 1),
			scheduled(1400, 0, 1, 1, 1, &weftpb.Scheduled{
				Admitted: []*weftpb.Admission{{Request: next}}, Released: []*weftpb.Visit{released(4, next)},
			}).reads(names.Deduped, 2),
			scheduled(2600, 0, 0, 0, 2, &weftpb.Scheduled{
				Settled: []*weftpb.Settlement{{Visit: id(4), Reason: "fetched", Attempt: attempt(2400, 100)}},
			}).reads(names.Visited, 2),
		},
		visited: []*weftpb.Visited{{Visit: id(1)}, {Visit: id(2)}, {Visit: id(4)}},
		fetched: []*weftpb.Fetched{
			{Id: urls.PageID(seed, 0), Request: root, Visit: id(2)}, {Id: urls.PageID(linked, 0), Request: next, Visit: id(4)},
		},
		parsed: []*page{
			{ID: urls.PageID(seed, 0), URL: seed, Domain: domain, Links: []link{{URL: linked}, {URL: "http://elsewhere.test/"}}},
			{ID: urls.PageID(linked, 0), URL: linked, Domain: domain, Depth: 1, Links: []link{{URL: seed}, {URL: stranger, Rel: "nofollow"}}},
		},
		commits: map[string]int64{},
	}
}

// given has dedupe read a URL and give it up for another.
func (s *story) given(url, kept string) {
	e := &event{ev: &weftpb.Event{Epoch: 1}, key: domain, body: &weftpb.Deduped{Source: seed, Merged: []*weftpb.Merged{
		{Target: target(url, 1), Kept: kept, Rules: []string{"slash"}},
	}}}
	s.normalized = append(s.normalized, &weftpb.Normalized{Source: seed, Targets: []*weftpb.Target{target(url, 1)}})
	s.deduped = append(s.deduped, e.reads(names.Normalized, 2))
	s.commits[names.Normalized], s.commits[names.Deduped] = 3, 3
}

// inGroup is a URL in the group of the story that waits aside for another, "" as
// schedule has it.
func inGroup(url, twin string) *weftpb.Target {
	t := target(url, 1)
	t.Group, t.Twin = domain+" https", twin
	return t
}

// aside has dedupe read a URL and let it wait aside for another, and schedule admit it.
func (s *story) aside(url, twin string) {
	e := &event{ev: &weftpb.Event{Epoch: 1}, key: domain, body: &weftpb.Deduped{Source: seed, Targets: []*weftpb.Target{inGroup(url, twin)}}}
	s.normalized = append(s.normalized, &weftpb.Normalized{Source: seed, Targets: []*weftpb.Target{target(url, 1)}})
	s.deduped = append(s.deduped, e.reads(names.Normalized, 2))
	q := &weftpb.Request{Target: inGroup(url, ""), Priority: 2}
	admitted := scheduled(3000, 1, 0, 0, 2, &weftpb.Scheduled{Admitted: []*weftpb.Admission{{Request: q}}})
	s.scheduled = append(s.scheduled, admitted.reads(names.Deduped, 3))
	s.told(6).Timing.DueMs = begun + 8000
}

// regroup has dedupe tell the state of the group, and schedule take it over, with
// these gauges.
func (s *story) regroup(state weftpb.Group_State, gauges *weftpb.Gauges) {
	told := []*weftpb.Group{{Name: inGroup("", "").Group, State: state}}
	s.deduped = append(s.deduped, &event{ev: &weftpb.Event{Epoch: 1}, key: domain, body: &weftpb.Deduped{Source: seed, Groups: told}})
	e := scheduled(3100, 0, 0, 0, 0, &weftpb.Scheduled{Groups: told}).reads(names.Deduped, int64(len(s.deduped)-1))
	e.body.(*weftpb.Scheduled).Gauges = gauges
	s.scheduled = append(s.scheduled, e)
}

// held has dedupe read a URL and hold it back in a trap.
func (s *story) held(url string) {
	parked := &weftpb.Parked{Host: domain, Template: "/{word}", Reason: "same_content", Targets: []*weftpb.Target{target(url, 1)}}
	e := &event{ev: &weftpb.Event{Epoch: 1}, key: domain, body: &weftpb.Deduped{Source: seed, Parked: []*weftpb.Parked{parked}}}
	s.normalized = append(s.normalized, &weftpb.Normalized{Source: seed, Targets: []*weftpb.Target{target(url, 1)}})
	s.deduped = append(s.deduped, e.reads(names.Normalized, 2))
	s.commits[names.Normalized], s.commits[names.Deduped] = 3, 3
}

// askRobots has the robots.txt asked for again n times, every so many milliseconds, each time
// for so long, by the one address of the domain.
func (s *story) askRobots(n int, every, took int64) {
	at := int64(4000)
	for i := range n + 1 {
		offset, e := len(s.scheduled), &weftpb.Scheduled{}
		if i > 0 {
			made := attempt(at-every, took)
			made.HungUs, made.Address = min(1000, made.TotalUs-1), []byte{192, 0, 2, 1}
			e.Settled = []*weftpb.Settlement{{Visit: id(offset - 1), Reason: "robots", Attempt: made}}
			s.visited = append(s.visited, &weftpb.Visited{Visit: id(offset - 1)})
		}
		out := int64(0)
		if i < n {
			visit := released(offset, &weftpb.Request{Target: &weftpb.Target{Url: "http://a.test/robots.txt"}})
			visit.Robots = true
			e.Released, out = []*weftpb.Visit{visit}, 1
		}
		event := scheduled(at, 0, out, out, 2, e)
		if i > 0 {
			event.reads(names.Visited, int64(len(s.visited)-1))
		}
		s.scheduled = append(s.scheduled, event)
		at += every
	}
}

// told is the body of the event of scheduled at an offset.
func (s *story) told(offset int) *weftpb.Scheduled {
	return s.scheduled[offset].body.(*weftpb.Scheduled)
}

// write writes the story to a broker of its own and returns how to reach it.
func (s *story) write(t *testing.T) []kgo.Opt {
	t.Helper()
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	options := []kgo.Opt{kgo.SeedBrokers(cluster.ListenAddrs()...), kgo.DisableClientMetrics()}
	producing := topics.DefaultProducerOptions()
	producing.Manual, producing.Linger = true, 0
	client, err := topics.NewProducer(names, producing, options...)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	w := &writer{t: t, client: client, admin: kadm.NewClient(client)}
	if _, err := topics.Create(w.ctx(), w.admin, topics.Spec{Crawl: "weft", Partitions: partitions, Replication: 1}); err != nil {
		t.Fatal(err)
	}
	s.produce(w)
	for _, stage := range topics.Stages() {
		for _, topic := range names.Inputs(stage) {
			w.commit(stage, topic, s.commits)
		}
	}
	if s.trimmed > 0 {
		var offsets kadm.Offsets
		offsets.AddOffset(names.Scheduled, home, s.trimmed, -1)
		if _, err := w.admin.DeleteRecords(w.ctx(), offsets); err != nil {
			t.Fatal(err)
		}
	}
	return options
}

func (s *story) produce(w *writer) {
	for _, d := range s.definitions {
		w.json(names.Config, 0, d)
	}
	for _, url := range s.seeds {
		w.record(names.Seeds, home, "", []byte(url))
	}
	for _, d := range s.discovered {
		w.proto(names.Discovered, d)
	}
	for _, n := range s.normalized {
		w.proto(names.Normalized, n)
	}
	for i, e := range s.deduped {
		w.event(names.Deduped, int64(i), e)
	}
	for i, e := range s.scheduled {
		w.event(names.Scheduled, int64(i), e)
	}
	for _, v := range s.visited {
		w.proto(names.Visited, v)
	}
	for _, f := range s.fetched {
		w.proto(names.Fetched, f)
	}
	for _, p := range s.parsed {
		w.json(names.Parsed, home, p)
	}
	for _, r := range s.rejected {
		w.proto(names.Rejected, r)
	}
}

// writer plays all stages.
type writer struct {
	t      *testing.T
	client *kgo.Client
	admin  *kadm.Client
	ends   map[string]int64 // of the partition home
}

func (w *writer) ctx() context.Context {
	ctx, cancel := context.WithTimeout(w.t.Context(), 2*time.Minute)
	w.t.Cleanup(cancel)
	return ctx
}

func (w *writer) record(topic string, partition int32, key string, value []byte) {
	w.t.Helper()
	r := &kgo.Record{Topic: topic, Partition: partition, Key: []byte(key), Value: value}
	if err := w.client.ProduceSync(w.ctx(), r).FirstErr(); err != nil {
		w.t.Fatal(err)
	}
	if w.ends == nil {
		w.ends = map[string]int64{}
	}
	w.ends[topic] = r.Offset + 1
}

func (w *writer) proto(topic string, m proto.Message) {
	w.t.Helper()
	w.record(topic, home, domain, encode(w.t, m))
}

func (w *writer) json(topic string, partition int32, v any) {
	w.t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		w.t.Fatal(err)
	}
	w.record(topic, partition, domain, raw)
}

// event writes a record of a ledger. One that names no offset is where it is.
func (w *writer) event(topic string, offset int64, e *event) {
	w.t.Helper()
	raw := e.raw
	if raw == nil {
		if e.body != nil {
			e.ev.Body = encode(w.t, e.body)
		}
		if e.ev.Claim == nil && e.ev.Offset == 0 {
			e.ev.Offset = offset
		}
		raw = encode(w.t, e.ev)
	}
	w.record(topic, home, e.key, raw)
}

// commit commits a topic for the group of a stage, to its end if nothing else
// is said.
func (w *writer) commit(stage topics.Stage, topic string, said map[string]int64) {
	w.t.Helper()
	at, ok := said[topic]
	if !ok {
		at = w.ends[topic]
	}
	var offsets kadm.Offsets
	offsets.AddOffset(topic, home, at, -1)
	if err := w.admin.CommitAllOffsets(w.ctx(), names.Group(stage), offsets); err != nil {
		w.t.Fatal(err)
	}
}

func encode(t *testing.T, m proto.Message) []byte {
	t.Helper()
	raw, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// judged is the report on a story.
func judged(t *testing.T, s *story, change func(*verify.Options)) *verify.Report {
	t.Helper()
	opts := verify.DefaultOptions("weft")
	opts.Client = s.write(t)
	if change != nil {
		change(&opts)
	}
	report, err := verify.Run(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	return report
}
