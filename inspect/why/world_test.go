package why

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weftcrawl/weft/inspect/scratch"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs"
	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/robots"
	"github.com/weftcrawl/weft/internal/settings"
	"github.com/weftcrawl/weft/internal/trouble"
	"github.com/weftcrawl/weft/internal/urls"
	"github.com/weftcrawl/weft/processors/schedule/frontier"
	"github.com/weftcrawl/weft/topics"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a crawl whose history a test writes: the scheduler's events are
// decided by the frontier itself, everything else is as the stages write it.
type world struct {
	t          testing.TB
	ctx        context.Context
	names      topics.Names
	definition topics.Definition
	options    []kgo.Opt
	cluster    *kfake.Cluster
	groups     atomic.Pointer[map[string]bool] // that have a member
	client     *kgo.Client
	admin      *kadm.Client
	now        time.Time
	// next offset of each ledger's partition.
	next      map[string]int64
	frontiers map[int32]*frontier.Frontier
	asked     map[string]*weftpb.DomainSetting // by people
	// bulk has records written without waiting for them.
	bulk bool
}

// partitions of the world's crawl.
const partitions = 2

// newWorld makes a crawl whose stages all run, with a definition that change
// may change.
func newWorld(t testing.TB, change func(*topics.Definition)) *world {
	t.Helper()
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	t.Cleanup(cancel)
	w := &world{
		t: t, ctx: ctx, cluster: cluster, names: topics.Loop("weft"), next: map[string]int64{}, frontiers: map[int32]*frontier.Frontier{}, asked: map[string]*weftpb.DomainSetting{},
		options: []kgo.Opt{kgo.SeedBrokers(cluster.ListenAddrs()...)},
		now:     time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
		definition: topics.Definition{
			Version: topics.DefinitionVersion, Crawl: "weft", Partitions: partitions, SuffixList: urls.BundledSuffixes().Version(),
			Scope: "host", MaxDepth: -1, DelayMS: 1000, PerDomain: 1,
		},
	}
	if change != nil {
		change(&w.definition)
	}
	producing := topics.DefaultProducerOptions()
	producing.Manual, producing.Linger = true, 0
	if w.client, err = topics.NewProducer(w.names, producing, w.options...); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.client.Close)
	w.admin = kadm.NewClient(w.client)
	if _, err := topics.Create(ctx, w.admin, topics.Spec{Crawl: "weft", Partitions: partitions, Replication: 1}); err != nil {
		t.Fatal(err)
	}
	if err := topics.WriteDefinition(ctx, w.definition, w.options...); err != nil {
		t.Fatal(err)
	}
	for p := range int32(partitions) {
		w.event(w.names.Deduped, p, "", nil)
		w.event(w.names.Scheduled, p, "", nil)
	}
	w.running(topics.Stages()...)
	cluster.ControlKey(int16(kmsg.DescribeGroups), w.describe)
	return w
}

// running has these stages run by one process each, and the others by none.
func (w *world) running(stages ...topics.Stage) {
	groups := map[string]bool{}
	for _, stage := range stages {
		groups[w.names.Group(stage)] = true
	}
	w.groups.Store(&groups)
}

// describe answers for the groups of the stages that run.
func (w *world) describe(request kmsg.Request) (kmsg.Response, error, bool) {
	w.cluster.KeepControl()
	response := request.ResponseKind().(*kmsg.DescribeGroupsResponse)
	for _, name := range request.(*kmsg.DescribeGroupsRequest).Groups {
		group := kmsg.NewDescribeGroupsResponseGroup()
		group.Group, group.State = name, "Empty"
		if (*w.groups.Load())[name] {
			group.State = "Stable"
			group.Members = append(group.Members, kmsg.NewDescribeGroupsResponseGroupMember())
		}
		response.Groups = append(response.Groups, group)
	}
	return response, nil, true
}

func (w *world) domain(url string) string {
	u, refusal := urls.Parse(url)
	if refusal != urls.Accepted {
		w.t.Fatalf("%s: %s", url, refusal)
	}
	return urls.BundledSuffixes().Domain(u.Hostname())
}

func (w *world) partition(domain string) int32 { return topics.Partition(domain, partitions) }

// write appends a record at the world's time.
func (w *world) write(topic string, partition int32, key string, value []byte) {
	w.t.Helper()
	r := &kgo.Record{Topic: topic, Partition: partition, Key: []byte(key), Value: value, Timestamp: w.now}
	if w.bulk {
		w.client.Produce(w.ctx, r, func(_ *kgo.Record, err error) {
			if err != nil {
				w.t.Error(err)
			}
		})
		return
	}
	if err := w.client.ProduceSync(w.ctx, r).FirstErr(); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) encode(m proto.Message) []byte {
	w.t.Helper()
	b, err := proto.Marshal(m)
	if err != nil {
		w.t.Fatal(err)
	}
	return b
}

// event appends an event of a ledger, or a claim without a body, and returns
// its offset. The first record of a partition is its only claim.
func (w *world) event(topic string, partition int32, key string, body proto.Message) int64 {
	w.t.Helper()
	at := fmt.Sprint(topic, partition)
	offset := w.next[at]
	w.next[at]++
	ev := &weftpb.Event{Claim: &weftpb.Claim{Owner: "test"}}
	if body != nil {
		ev = &weftpb.Event{Epoch: 1, Offset: offset, Body: w.encode(body)}
	}
	w.write(topic, partition, key, w.encode(ev))
	return offset
}

// found has dedupe let through the URLs that source names; no source: seeds.
func (w *world) found(source string, via weftpb.Via, depth uint32, all ...string) {
	w.t.Helper()
	byDomain := map[string]*weftpb.Deduped{}
	for _, url := range all {
		domain := w.domain(url)
		if byDomain[domain] == nil {
			byDomain[domain] = &weftpb.Deduped{Source: source}
		}
		byDomain[domain].Targets = append(byDomain[domain].Targets, &weftpb.Target{Url: url, Depth: depth, Via: via})
	}
	for domain, d := range byDomain {
		w.event(w.names.Deduped, w.partition(domain), domain, d)
	}
}

// admitted is found, and the scheduler admits them.
func (w *world) admitted(source string, via weftpb.Via, depth uint32, all ...string) {
	w.t.Helper()
	w.found(source, via, depth, all...)
	for _, url := range all {
		w.admit(w.domain(url), []*weftpb.Target{{Url: url, Depth: depth, Via: via}})
	}
}

func (w *world) admit(domain string, targets []*weftpb.Target) {
	w.t.Helper()
	w.decide(domain, func(f *frontier.Frontier, at frontier.Moment) (*weftpb.Scheduled, error) {
		return f.Admit(domain, targets, at)
	})
}

// hear writes an event of dedupe that a page of example.com led to, and has schedule
// take it over.
func (w *world) hear(d *weftpb.Deduped) {
	w.t.Helper()
	const domain = "example.com"
	d.Source = site
	w.event(w.names.Deduped, w.partition(domain), domain, d)
	w.decide(domain, func(f *frontier.Frontier, at frontier.Moment) (*weftpb.Scheduled, error) {
		return f.AdmitDeduped(domain, d, at)
	})
}

// seeds admits seeds.
func (w *world) seeds(all ...string) { w.admitted("", weftpb.Via_VIA_SEED, 0, all...) }

// decide has the frontier of a domain's partition decide, and writes and folds
// the event, if any.
func (w *world) decide(domain string, decision func(*frontier.Frontier, frontier.Moment) (*weftpb.Scheduled, error)) {
	w.t.Helper()
	partition := w.partition(domain)
	f := w.frontiers[partition]
	if f == nil {
		opts := settings.FrontierOptions(w.definition)
		opts.Partition = partition
		opts.Setting = func(domain string) *weftpb.DomainSetting { return w.asked[domain] }
		opts.Allowed = func(rules *weftpb.Robots, url string) bool {
			u, _ := urls.Parse(url)
			return robots.Compile(rules).Allowed(u.PathAndQuery())
		}
		store, err := scratch.Open("weft-why", scratchMemory)
		if err != nil {
			w.t.Fatal(err)
		}
		w.t.Cleanup(func() {
			if err := store.Close(); err != nil {
				w.t.Error(err)
			}
		})
		f = frontier.New(opts, store)
		w.frontiers[partition] = f
	}
	offset := w.next[fmt.Sprint(w.names.Scheduled, partition)]
	ev, err := decision(f, frontier.Moment{Now: w.now, Offset: offset})
	if err != nil {
		w.t.Fatal(err)
	}
	if ev == nil {
		return
	}
	w.event(w.names.Scheduled, partition, domain, ev)
	if err := f.Apply(domain, ev, offset); err != nil {
		w.t.Fatal(err)
	}
}

// setting has the scheduler learn what people ask for a domain.
func (w *world) setting(domain string, s *weftpb.DomainSetting) {
	w.t.Helper()
	w.asked[domain] = s
	w.frontiers[w.partition(domain)].SettingsChanged([]string{domain})
	w.tick(domain)
}

// tick lets the scheduler look at a domain that is due.
func (w *world) tick(domain string) {
	w.t.Helper()
	w.decide(domain, func(f *frontier.Frontier, at frontier.Moment) (*weftpb.Scheduled, error) { return f.Tick(domain, at) })
}

// visits returns the visits of a domain that are out.
func (w *world) visits(domain string) []frontier.VisitOut {
	w.t.Helper()
	v, err := w.frontiers[w.partition(domain)].Visits(domain)
	if err != nil {
		w.t.Fatal(err)
	}
	return v
}

// answers settles the visit of a domain that is out, with an outcome for each
// request; fewer leave the rest out.
func (w *world) answers(domain string, outcomes ...*weftpb.Outcome) {
	w.t.Helper()
	w.report(domain, nil, outcomes...)
}

// robots answers a robots visit with a file.
func (w *world) robots(domain string, status int, text string) {
	w.t.Helper()
	v := w.visits(domain)[0]
	origin := strings.TrimSuffix(v.Requests[0].Target.Url, "/robots.txt")
	outcome := answer(status)
	if status == 0 {
		outcome = fails("connect_refused")
	}
	w.report(domain, &weftpb.OriginRules{Origin: origin, Robots: robots.Parse(status, []byte(text), "weft")}, outcome)
}

func (w *world) report(domain string, rules *weftpb.OriginRules, outcomes ...*weftpb.Outcome) {
	w.t.Helper()
	v := w.visits(domain)[0]
	first := 0
	for first < len(v.Open) && !v.Open[first] {
		first++
	}
	for i, o := range outcomes {
		if o.Index = uint32(first + i); !o.Skipped {
			o.StartedMs = w.now.UnixMilli() - o.TotalUs/1000
		}
	}
	record := &weftpb.Visited{Visit: v.ID, Outcomes: outcomes, Rules: rules, Done: first+len(outcomes) == len(v.Requests)}
	w.decide(domain, func(f *frontier.Frontier, at frontier.Moment) (*weftpb.Scheduled, error) {
		return f.Settle(domain, record, at)
	})
}

// parsed writes the page of a URL.
func (w *world) parsed(url string, links ...codecs.ParsedLink) {
	w.t.Helper()
	domain := w.domain(url)
	page := codecs.Parsed{ID: urls.PageID(url, 0), URL: url, Domain: domain, Status: 200, FetchedAt: w.now, Links: links}
	w.write(w.names.Parsed, w.partition(domain), url, page.AppendJSON(nil))
}

// pass lets time pass.
func (w *world) pass(d time.Duration) { w.now = w.now.Add(d) }

// consumed has every stage commit all of its input.
func (w *world) consumed() {
	w.t.Helper()
	for _, stage := range topics.Stages() {
		var offsets kadm.Offsets
		for _, topic := range w.names.Inputs(stage) {
			ends, err := w.admin.ListEndOffsets(w.ctx, topic)
			if err != nil {
				w.t.Fatal(err)
			}
			ends.Each(func(end kadm.ListedOffset) { offsets.AddOffset(topic, end.Partition, end.Offset, -1) })
		}
		if err := w.admin.CommitAllOffsets(w.ctx, w.names.Group(stage), offsets); err != nil {
			w.t.Fatal(err)
		}
	}
}

// control writes what people ask of the crawl.
func (w *world) control(change func(topics.Control) topics.Control) {
	w.t.Helper()
	if _, err := topics.WriteControl(w.ctx, w.names, change, w.options...); err != nil {
		w.t.Fatal(err)
	}
}

// trim deletes what a partition holds before offset.
func (w *world) trim(topic string, partition int32, offset int64) {
	w.t.Helper()
	var offsets kadm.Offsets
	offsets.AddOffset(topic, partition, offset, -1)
	if _, err := w.admin.DeleteRecords(w.ctx, offsets); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) asker() *Asker {
	w.t.Helper()
	a, err := New(w.ctx, Options{Names: w.names, Client: w.options})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(a.Close)
	return a
}

func answer(status int) *weftpb.Outcome {
	return &weftpb.Outcome{Status: uint32(status), TotalUs: 120_000, BodyBytes: 12_345}
}

func fails(class string) *weftpb.Outcome {
	return &weftpb.Outcome{ErrorClass: class, Error: "it failed", TotalUs: 3_000}
}

// memory has a process report what it uses its memory for, now.
func (w *world) memory(member string, limit int64, uses map[string]int64) {
	w.t.Helper()
	reporter := trouble.NewReporter(w.names, w.admin, member, partitions)
	reporter.Memory(w.ctx, topics.Fetch, trouble.Memory{At: time.Now(), Limit: limit, Uses: uses})
}
