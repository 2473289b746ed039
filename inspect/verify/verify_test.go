package verify_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/inspect/verify"
	"github.com/weftcrawl/weft/internal/urls"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func text(t *testing.T, r *verify.Report) string {
	t.Helper()
	var out bytes.Buffer
	if err := r.WriteText(&out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestStories checks stories without a violation.
func TestStories(t *testing.T) {
	for name, change := range map[string]func(*story){
		"healthy": func(*story) {},
		"a page twice": func(s *story) {
			s.parsed = append(s.parsed, s.parsed[1])
		},
		"another program wrote pages and events": func(s *story) {
			s.parsed = append(s.parsed, &page{}, &page{URL: stranger}, &page{ID: "a"})
			s.scheduled = append(s.scheduled, &event{raw: []byte("\x08\x01\x30\x03\xfd\xff\x7f\x00\x00\x00\x00")}) // a changed copy of the event at 3
		},
		"an event of a fenced owner": func(s *story) {
			fenced := scheduled(0, 9, 9, 9, 9, &weftpb.Scheduled{})
			fenced.ev.Epoch, fenced.ev.Offset = 1, 7
			s.scheduled = append(s.scheduled, claim(), fenced)
		},
		"an event behind a lost one": func(s *story) {
			displaced := scheduled(0, 9, 9, 9, 9, &weftpb.Scheduled{})
			displaced.ev.Offset = 8
			s.scheduled = append(s.scheduled, displaced)
		},
		"a reset position": func(s *story) {
			s.deduped = append(s.deduped, claim(), (&event{ev: &weftpb.Event{Epoch: 4, Reset_: true}}).reads(names.Normalized, 0))
			s.commits[names.Normalized], s.commits[names.Deduped] = 1, 3
		},
		"normalize is behind": func(s *story) {
			s.discovered = append(s.discovered, &weftpb.Discovered{Source: seed, Via: weftpb.Via_VIA_LINK, Links: []*weftpb.Link{{Url: "/stranger"}}})
			s.commits[names.Discovered] = 1
			s.parsed[0].Links = append(s.parsed[0].Links, link{URL: stranger})
		},
		"dedupe is behind": func(s *story) {
			s.normalized = append(s.normalized, &weftpb.Normalized{Source: seed, Targets: []*weftpb.Target{target(stranger, 1)}})
			s.parsed[0].Links = append(s.parsed[0].Links, link{URL: stranger})
			s.commits[names.Normalized] = 2
		},
		"schedule is behind": func(s *story) {
			late := &event{ev: &weftpb.Event{Epoch: 1}, key: domain, body: &weftpb.Deduped{Targets: []*weftpb.Target{target(stranger, 1)}}}
			s.normalized = append(s.normalized, &weftpb.Normalized{Source: seed, Targets: []*weftpb.Target{target(stranger, 1)}})
			s.deduped = append(s.deduped, late.reads(names.Normalized, 2))
			s.commits[names.Deduped] = 3
		},
		"a URL is held back": func(s *story) {
			s.held(stranger)
			s.parsed[0].Links = append(s.parsed[0].Links, link{URL: stranger})
		},
		"a URL is given up for another": func(s *story) {
			s.given(stranger, linked)
			s.parsed[0].Links = append(s.parsed[0].Links, link{URL: stranger})
		},
		"a URL comes back": func(s *story) {
			s.given(stranger, linked)
			s.deduped = append(s.deduped, &event{ev: &weftpb.Event{Epoch: 1}, key: domain, body: &weftpb.Deduped{
				Targets: []*weftpb.Target{target(stranger, 1)},
			}})
		},
		"a URL waits aside": func(s *story) {
			s.aside(stranger, seed)
			s.parsed[0].Links = append(s.parsed[0].Links, link{URL: stranger})
		},
		"a URL waits aside, and its group is withdrawn": func(s *story) {
			s.aside(stranger, seed)
			s.regroup(weftpb.Group_STATE_WITHDRAWN, &weftpb.Gauges{Fetched: 2, Withdrawn: 1})
		},
		"a group is withdrawn, and comes back": func(s *story) {
			s.aside(stranger, seed)
			s.regroup(weftpb.Group_STATE_WITHDRAWN, &weftpb.Gauges{Fetched: 2, Withdrawn: 1})
			s.regroup(weftpb.Group_STATE_FREE, &weftpb.Gauges{Pending: 1, Queued: 1, Domains: 1, Fetched: 2})
			s.told(8).Timing.DueMs = begun + 4000
		},
		"a URL is let out of a trap": func(s *story) {
			s.held(stranger)
			out := &event{ev: &weftpb.Event{Epoch: 1}, key: domain, body: &weftpb.Deduped{
				Lifted: &weftpb.Lift{Host: domain, Template: "/{word}"}, Targets: []*weftpb.Target{target(stranger, 1)},
			}}
			s.deduped = append(s.deduped, out)
		},
		"parse is behind, and wrote the page only": func(s *story) {
			s.parsed[1].Links = append(s.parsed[1].Links, link{URL: stranger})
			s.commits[names.Fetched] = 1
		},
		"parse is behind": func(s *story) {
			s.parsed = s.parsed[:1]
			s.commits[names.Fetched] = 1
		},
		"a sitemap": func(s *story) {
			s.told(4).Admitted[0].Request.Target.Sitemap = &weftpb.Sitemap{Level: 1, Host: domain}
			s.parsed = s.parsed[:1]
		},
		"a page instead of a sitemap": func(s *story) {
			s.told(4).Admitted[0].Request.Target.Sitemap = &weftpb.Sitemap{Level: 1, Host: domain}
		},
		"parse rejected the exchange": func(s *story) {
			s.parsed = s.parsed[:1]
			raw := encode(t, s.fetched[1])
			s.rejected = []*weftpb.Rejected{{Stage: "parse", Topic: names.Fetched, Value: append(raw, 0x42, 0x7f)}} // cut
		},
		"the outcome is not settled yet": func(s *story) {
			s.scheduled = s.scheduled[:5]
			s.commits[names.Visited] = 2
		},
		"the server was slow": func(s *story) {
			s.told(2).Settled[0].Attempt.TotalUs = 90_000
			s.told(4).Timing.ResponseMs = 3000
			s.told(4).Released[0].DelayMs = 3000
		},
		"a name is looked up within the delay": func(s *story) {
			next := s.told(3).Settled[0].Attempt.StartedMs
			s.told(2).Settled[0].Attempt = &weftpb.Attempt{StartedMs: next - 10, TotalUs: 5_000, ErrorClass: "dns_not_found"}
		},
		"an address is asked at its budget": func(s *story) {
			s.definitions[0].AddressDelayMS = 1500
			s.askRobots(40, 1500, 100)
		},
		"an address has two open requests": func(s *story) {
			s.definitions[0].PerAddress = 1 // and there are two partitions
			s.askRobots(40, 1500, 2900)
		},
		"an exempt address": func(s *story) {
			s.definitions[0].AddressDelayMS, s.definitions[0].PerAddress = 60_000, 1
			s.definitions[0].AddressExempt = []string{"192.0.2.0/24"}
			s.askRobots(40, 1500, 60_000)
		},
		"a budget was smaller once": func(s *story) {
			smaller := s.definitions[0]
			smaller.AddressDelayMS, smaller.PerAddress, smaller.CrawlPerDay = 60_000, 1, 1
			s.definitions = append(s.definitions, smaller)
			s.askRobots(120, 1500, 2900)
		},
		"a domain has its share of the crawl's requests": func(s *story) {
			s.definitions[0].CrawlPerDay = 150
			s.askRobots(120, 1500, 100)
		},
		"another origin has a Crawl-delay": func(s *story) {
			other := "http://www.a.test"
			s.told(2).Rules = append(s.told(2).Rules, &weftpb.OriginRules{Origin: other, Robots: rules(60)})
			s.told(4).Released[0].DelayMs = 60_000
			moved := &weftpb.Request{Target: target(other+"/b", 1), Priority: 2}
			s.told(4).Admitted[0].Request, s.told(4).Released[0].Requests = moved, []*weftpb.Request{moved}
			s.deduped[2].body = &weftpb.Deduped{Targets: []*weftpb.Target{moved.Target}}
			s.normalized[1].Targets = []*weftpb.Target{moved.Target}
			s.discovered, s.parsed = nil, s.parsed[:1]
			s.parsed[0].Links = nil
			s.parsed = append(s.parsed, &page{ID: urls.PageID(other+"/b", 0), URL: other + "/b", Domain: domain})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := healthy()
			change(s)
			if report := judged(t, s, nil); !report.Proven {
				t.Errorf("refuted:\n%s", text(t, report))
			}
		})
	}
}

// planted is a violation that a test puts into the healthy story.
type planted struct {
	kind  verify.Kind
	plant func(*story)
	// topic and offset of the record that must be named first, and the URL.
	topic  string
	offset int64
	url    string
	// also are kinds that follow from it.
	also []verify.Kind
}

func TestPlantedViolationsAreFound(t *testing.T) {
	for _, test := range []planted{
		{
			// Four begin sooner than they should: two processes, and one request of each in a slot.
			kind: verify.KindAddressFast, topic: names.Scheduled, offset: 12, url: "",
			plant: func(s *story) {
				s.definitions[0].AddressDelayMS, s.definitions[0].PerAddress = 6000, 1
				s.askRobots(6, 1500, 100)
			},
		},
		{
			kind: verify.KindAddressCrowded, topic: names.Scheduled, offset: 9, url: "",
			plant: func(s *story) {
				s.definitions[0].PerAddress = 1
				s.askRobots(3, 1500, 60_000)
			},
		},
		{
			kind: verify.KindPerDay, topic: names.Scheduled, offset: 103, url: "", // the least share is 100
			plant: func(s *story) {
				s.definitions[0].CrawlPerDay = 1
				s.askRobots(98, 1500, 100)
			},
		},
		{
			kind: verify.KindNotParked, topic: names.Deduped, offset: 3, url: stranger,
			plant: func(s *story) {
				s.deduped = append(s.deduped, &event{ev: &weftpb.Event{Epoch: 1}, key: domain, body: &weftpb.Deduped{
					Lifted: &weftpb.Lift{Host: domain, Template: "/{word}"}, Targets: []*weftpb.Target{target(stranger, 1)},
				}})
				s.commits[names.Deduped] = 3
			},
		},
		{
			kind: verify.KindNoStandIn, topic: names.Deduped, offset: 3, url: stranger,
			plant: func(s *story) {
				s.given(stranger, "https://www.example.org/nowhere")
			},
		},
		{
			kind: verify.KindNoStandIn, topic: names.Deduped, offset: 3, url: stranger,
			plant: func(s *story) { s.aside(stranger, "https://a.test/nowhere") },
		},
		{
			kind: verify.KindImpossibleStep, topic: names.Scheduled, offset: 8, url: stranger,
			plant: func(s *story) { // and is released
				s.aside(stranger, seed)
				s.regroup(weftpb.Group_STATE_WITHDRAWN, &weftpb.Gauges{Fetched: 2, Withdrawn: 1})
				q := &weftpb.Request{Target: inGroup(stranger, ""), Priority: 2}
				s.scheduled = append(s.scheduled, scheduled(6000, 0, 1, 1, 2, &weftpb.Scheduled{Released: []*weftpb.Visit{released(8, q)}}))
			},
		},
		{
			kind: verify.KindGauges, topic: names.Scheduled, offset: 7,
			plant: func(s *story) { // and is said to be pending
				s.aside(stranger, seed)
				s.regroup(weftpb.Group_STATE_WITHDRAWN, &weftpb.Gauges{Pending: 1, Queued: 1, Domains: 1, Fetched: 2})
			},
		},
		{
			kind: verify.KindDedupedTwice, topic: names.Deduped, offset: 3, url: linked,
			plant: func(s *story) {
				s.given(linked, seed)
			},
		},
		{
			kind: verify.KindDedupedTwice, topic: names.Deduped, offset: 3, url: linked,
			plant: func(s *story) {
				s.held(linked)
			},
		},
		{
			kind: verify.KindNotDeduped, topic: names.Scheduled, offset: 4, url: linked,
			plant: func(s *story) {
				found := s.deduped[2].body.(*weftpb.Deduped)
				found.Parked = []*weftpb.Parked{{Host: domain, Template: "/{word}", Reason: "same_content", Targets: found.Targets}}
				found.Targets = nil
			},
		},
		{
			kind: verify.KindLost, topic: names.Normalized, offset: 1, url: stranger,
			plant: func(s *story) {
				s.normalized[1].Targets = append(s.normalized[1].Targets, target(stranger, 1))
			},
		},
		{
			kind: verify.KindLost, topic: names.Discovered, offset: 0, url: stranger,
			plant: func(s *story) {
				s.discovered[0].Links = append(s.discovered[0].Links, &weftpb.Link{Url: "stranger"})
			},
		},
		{
			kind: verify.KindLost, topic: names.Seeds, offset: 1, url: stranger,
			plant: func(s *story) { s.seeds = append(s.seeds, stranger) },
		},
		{
			kind: verify.KindLost, topic: names.Parsed, offset: 1, url: stranger,
			plant: func(s *story) { s.parsed[1].Links[1].Rel = "" },
		},
		{
			kind: verify.KindDedupedTwice, topic: names.Deduped, offset: 2, url: seed,
			plant: func(s *story) {
				body := s.deduped[2].body.(*weftpb.Deduped)
				body.Targets = append(body.Targets, target(seed, 0))
			},
		},
		{
			kind: verify.KindMisplaced, topic: names.Scheduled, offset: 4, url: linked,
			plant: func(s *story) { s.scheduled[4].key, s.scheduled[5].key = "b.test", "b.test" },
			also:  []verify.Kind{verify.KindBeforeRobots},
		},
		{
			kind: verify.KindNotAdmitted, topic: names.Deduped, offset: 2, url: stranger,
			plant: func(s *story) {
				body := s.deduped[2].body.(*weftpb.Deduped)
				body.Targets = append(body.Targets, target(stranger, 1))
			},
		},
		{
			kind: verify.KindAdmittedTwice, topic: names.Scheduled, offset: 4, url: seed,
			plant: func(s *story) {
				s.told(4).Admitted = append(s.told(4).Admitted, s.told(1).Admitted[0])
				for _, at := range []int{4, 5} {
					s.told(at).Gauges.Queued, s.told(at).Timing.DueMs = 1, 1
					s.told(at).Gauges.Pending++
				}
				s.told(5).Gauges.Domains = 1
			},
		},
		{
			kind: verify.KindNotDeduped, topic: names.Scheduled, offset: 4, url: linked,
			plant: func(s *story) {
				s.deduped[2].body = &weftpb.Deduped{}
				s.discovered, s.normalized[1].Targets, s.parsed[0].Links = nil, nil, nil
			},
		},
		{
			kind: verify.KindImpossibleStep, topic: names.Scheduled, offset: 4, url: linked,
			plant: func(s *story) { s.told(4).Released[0].Requests[0].Again = true },
		},
		{
			kind: verify.KindImpossibleStep, topic: names.Scheduled, offset: 5,
			plant: func(s *story) { s.told(5).Settled = append(s.told(5).Settled, s.told(3).Settled[0]) },
		},
		{
			kind: verify.KindGauges, topic: names.Scheduled, offset: 3,
			plant: func(s *story) { s.told(3).Gauges.Fetched = 7 },
		},
		{
			kind: verify.KindForgotten, topic: names.Scheduled, offset: 4,
			plant: func(s *story) {
				s.told(4).Released = nil
				s.told(4).Gauges = &weftpb.Gauges{Pending: 1, Queued: 1, Domains: 1, Fetched: 1}
				s.scheduled, s.parsed = s.scheduled[:5], s.parsed[:1]
				s.commits[names.Visited] = 2
			},
		},
		{
			kind: verify.KindNoExchange, topic: names.Parsed, offset: 1, url: linked,
			plant: func(s *story) { s.told(5).Settled[0].Attempt.Status = 404 },
		},
		{
			kind: verify.KindNoExchange, topic: names.Parsed, offset: 1, url: linked,
			plant: func(s *story) {
				s.told(4).Admitted[0].Request.Target.Sitemap = &weftpb.Sitemap{Level: 1, Host: domain}
				s.told(5).Settled[0].Attempt.Status = 404
			},
		},
		{
			kind: verify.KindNoExchange, topic: names.Parsed, offset: 2, url: stranger,
			plant: func(s *story) {
				s.parsed = append(s.parsed, &page{ID: urls.PageID(stranger, 0), URL: stranger, Domain: domain})
			},
		},
		{
			kind: verify.KindNoPage, topic: names.Scheduled, offset: 4, url: linked,
			plant: func(s *story) { s.parsed = s.parsed[:1] },
		},
		{
			kind: verify.KindPageID, topic: names.Parsed, offset: 2, url: linked,
			plant: func(s *story) {
				other := *s.parsed[1]
				other.ID = urls.PageID(linked, 1)
				s.parsed = append(s.parsed, &other)
			},
		},
		{
			kind: verify.KindShort, topic: names.Scheduled, offset: 5, url: linked,
			plant: func(s *story) { s.told(5).Settled[0].Attempt.StartedMs = begun + 2298 },
		},
		{
			kind: verify.KindShort, topic: names.Scheduled, offset: 3, url: seed, // the Crawl-delay holds at once
			plant: func(s *story) {
				s.told(2).Rules[0].Robots = rules(2)
				s.told(2).Released[0].DelayMs, s.told(4).Released[0].DelayMs = 2000, 2000
				s.told(5).Settled[0].Attempt.StartedMs = begun + 3300
			},
		},
		{
			kind: verify.KindOverlap, topic: names.Scheduled, offset: 5, url: linked,
			plant: func(s *story) { s.told(5).Settled[0].Attempt.StartedMs = begun + 1250 },
		},
		{
			kind: verify.KindOverlap, topic: names.Scheduled, offset: 3, url: linked, // settled first
			plant: func(s *story) { s.told(5).Settled[0].Attempt.StartedMs = begun + 1150 },
		},
		{
			kind: verify.KindDelay, topic: names.Scheduled, offset: 4,
			plant: func(s *story) { s.told(4).Released[0].DelayMs = 999 },
		},
		{
			kind: verify.KindBeforeRobots, topic: names.Scheduled, offset: 2, url: seed,
			plant: func(s *story) {
				s.told(3).Rules, s.told(2).Rules = s.told(2).Rules, nil
			},
		},
		{
			kind: verify.KindBeforeRobots, topic: names.Scheduled, offset: 4, url: linked, // they are too old
			plant: func(s *story) {
				s.told(4).DecidedMs += 25 * 60 * 60 * 1000
			},
		},
		{
			kind: verify.KindDenied, topic: names.Scheduled, offset: 4, url: private,
			plant: func(s *story) {
				moved := &weftpb.Request{Target: target(private, 1), Priority: 2}
				s.told(4).Admitted[0].Request, s.told(4).Released[0].Requests = moved, []*weftpb.Request{moved}
				s.deduped[2].body = &weftpb.Deduped{Targets: []*weftpb.Target{moved.Target}}
				s.normalized[1].Targets, s.discovered, s.parsed[0].Links = []*weftpb.Target{moved.Target}, nil, nil
				s.parsed[1] = &page{ID: urls.PageID(private, 0), URL: private, Domain: domain}
			},
		},
		{
			kind: verify.KindDepth, topic: names.Scheduled, offset: 4, url: linked,
			plant: func(s *story) { s.told(4).Admitted[0].Request.Target.Depth = 4 },
		},
		{
			kind: verify.KindAttempts, topic: names.Scheduled, offset: 4, url: linked,
			plant: func(s *story) { s.told(4).Released[0].Requests[0].Attempt = 2 },
		},
		{
			kind: verify.KindAttempts, topic: names.Scheduled, offset: 13, url: linked, plant: fiveAttempts,
		},
		{
			kind: verify.KindPerDomain, topic: names.Scheduled, offset: 2,
			plant: func(s *story) {
				early := released(2, s.told(1).Admitted[0].Request)
				second := released(2, &weftpb.Request{Target: target("http://a.test/robots.txt", 0)})
				second.Id, second.Robots = id(2)[:len(id(2))-1]+"1", true
				s.told(2).Released = []*weftpb.Visit{early, second}
				for _, at := range []int{2, 3, 4, 5} {
					g := s.told(at).Gauges
					g.Out, g.Visits, g.Pending, g.Domains, g.DomainsOut = g.Out+1, g.Visits+1, g.Pending+1, 1, 1
				}
			},
			also: []verify.Kind{verify.KindPerDomain},
		},
		{
			kind: verify.KindBlocked, topic: names.Scheduled, offset: 4,
			plant: func(s *story) { s.told(3).Setting = &weftpb.DomainSetting{Blocked: true, Reason: "asked to stop"} },
		},
		{
			kind: verify.KindBlocked, topic: names.Scheduled, offset: 4,
			plant: func(s *story) {
				s.told(3).Block = &weftpb.Block{UntilMs: begun + 86_400_000, Requests: 100, Errors: 51}
			},
		},
		{
			kind: verify.KindPerDay, topic: names.Scheduled, offset: 4,
			plant: func(s *story) { s.told(1).Setting = &weftpb.DomainSetting{PerDay: 2} },
		},
		{
			kind: verify.KindPerDay, topic: names.Scheduled, offset: 4,
			plant: func(s *story) { s.definitions[0].PerDay = 2 },
		},
		{
			kind: verify.KindDelay, topic: names.Scheduled, offset: 4,
			plant: func(s *story) { s.told(3).Setting = &weftpb.DomainSetting{DelayMs: proto.Int64(5000)} },
		},
		{
			kind: verify.KindSize, topic: names.Scheduled, offset: 6,
			plant: func(s *story) {
				large := rules(0)
				large.Rules = strings.Repeat("Disallow: /x\n", 50_000)
				s.scheduled = append(s.scheduled, scheduled(3000, 0, 0, 0, 2, &weftpb.Scheduled{
					Rules: []*weftpb.OriginRules{{Origin: "http://a.test", Robots: large}},
				}))
			},
		},
		{
			kind: verify.KindCorrupt, topic: names.Scheduled, offset: 6,
			plant: func(s *story) { // an event whose checksum is wrong
				s.scheduled = append(s.scheduled, &event{raw: []byte("\x08\x01\x30\x06\xfd\xff\x7f\x00\x00\x00\x00")})
			},
		},
		{
			kind: verify.KindEpoch, topic: names.Scheduled, offset: 6,
			plant: func(s *story) {
				e := scheduled(3000, 0, 0, 0, 2, &weftpb.Scheduled{})
				e.ev.Epoch = 3
				s.scheduled = append(s.scheduled, e)
			},
		},
		{
			kind: verify.KindGap, topic: names.Scheduled, offset: 7,
			plant: func(s *story) {
				displaced := scheduled(3000, 0, 0, 0, 2, &weftpb.Scheduled{})
				displaced.ev.Offset = 9
				s.scheduled = append(s.scheduled, displaced, scheduled(3000, 0, 0, 0, 2, &weftpb.Scheduled{}))
			},
		},
		{
			kind: verify.KindPosition, topic: names.Scheduled, offset: 5, // it goes back
			plant: func(s *story) { s.scheduled[5].ev.Positions[0].Offset = 1 },
			also:  []verify.Kind{verify.KindCommit},
		},
		{
			kind: verify.KindPosition, topic: names.Scheduled, offset: 5, // beyond the end
			plant: func(s *story) { s.visited = s.visited[:2] },
		},
		{
			kind: verify.KindCommit, topic: names.Deduped, offset: 2,
			plant: func(s *story) {
				s.normalized = append(s.normalized, &weftpb.Normalized{Targets: []*weftpb.Target{target(seed, 0)}})
			},
		},
	} {
		t.Run(string(test.kind), func(t *testing.T) {
			t.Parallel()
			s := healthy()
			test.plant(s)
			test.check(t, judged(t, s, nil))
		})
	}
}

// check finds the planted violation, and no other.
func (p planted) check(t *testing.T, report *verify.Report) {
	t.Helper()
	found := false
	for _, v := range report.Violations {
		at := verify.RecordRef{}
		if len(v.Records) > 0 {
			at = v.Records[0]
		}
		switch {
		case v.Kind == p.kind && at.Topic == p.topic && at.Offset == p.offset && v.URL == p.url && at.Partition == home:
			found = true
		case !slices.Contains(p.also, v.Kind):
			t.Errorf("found too: %+v", v)
		}
	}
	if !found || report.Proven {
		t.Errorf("not found:\n%s", text(t, report))
	}
}

// fiveAttempts lets the link fail four times, which is all that is allowed, and
// tries once more.
func fiveAttempts(s *story) {
	s.scheduled, s.parsed = s.scheduled[:5], s.parsed[:1]
	s.visited = s.visited[:2]
	for n := range 5 {
		failed := attempt(2400+int64(n)*10_000, 100)
		failed.Status, failed.ErrorClass = 0, "reset"
		visit := id(4)
		if n > 0 {
			visit = id(len(s.scheduled) - 1)
		}
		s.visited = append(s.visited, &weftpb.Visited{Visit: visit})
		settled := scheduled(2600, 1, 0, 0, 1, &weftpb.Scheduled{
			Settled: []*weftpb.Settlement{{Visit: visit, Reason: "reset", RetryMs: begun + 3000, Attempt: failed}},
		}).reads(names.Visited, int64(2+n))
		settled.body.(*weftpb.Scheduled).Timing.DueMs = begun + 3000
		s.scheduled = append(s.scheduled, settled)
		if n < 4 {
			again := &weftpb.Request{Target: target(linked, 1), Priority: 2, Attempt: uint32(n + 1), Again: true}
			s.scheduled = append(s.scheduled, scheduled(3000, 0, 1, 1, 1, &weftpb.Scheduled{
				Released: []*weftpb.Visit{released(len(s.scheduled), again)},
			}))
		}
	}
}

// TestTrimmedLedgerSaysWhatItCannotProve checks what is proven for a ledger whose beginning was
// trimmed.
func TestTrimmedLedgerSaysWhatItCannotProve(t *testing.T) {
	s := healthy()
	s.trimmed = 2
	report := judged(t, s, nil)
	if !report.Proven {
		t.Errorf("refuted:\n%s", text(t, report))
	}
	for _, p := range report.Proofs {
		partly := len(p.Unproven) > 0
		if want := p.Claim == verify.Journeys || p.Claim == verify.Pages || p.Claim == verify.URLs; partly != want {
			t.Errorf("%s is not whole: %v, want %v", p.Claim, p.Unproven, want)
		}
		if p.Claim == verify.Delays && p.Shown != 2 {
			t.Errorf("%d intervals, want 2", p.Shown)
		}
	}

	s = healthy()
	s.trimmed = 2
	s.told(5).Settled[0].Attempt.StartedMs = begun + 2000
	planted{kind: verify.KindShort, topic: names.Scheduled, offset: 5, url: linked}.check(t, judged(t, s, nil))
}

func TestSkewForgivesTakeoversOnly(t *testing.T) {
	skewed := func(o *verify.Options) { o.Skew = 500e6 }
	s := healthy()
	s.told(5).Settled[0].Attempt.StartedMs = begun + 2000
	planted{kind: verify.KindShort, topic: names.Scheduled, offset: 5, url: linked}.check(t, judged(t, s, skewed))

	s = healthy()
	s.scheduled = slices.Insert(s.scheduled, 5, claim())
	s.scheduled[6].ev.Epoch = 6
	s.told(6).Settled[0].Attempt.StartedMs = begun + 2000
	if report := judged(t, s, skewed); !report.Proven {
		t.Errorf("refuted:\n%s", text(t, report))
	}
}
