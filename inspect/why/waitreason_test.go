package why

import (
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/trouble"
	"github.com/weftcrawl/weft/processors/schedule/frontier"
	"github.com/weftcrawl/weft/topics"
)

// noon is the moment of these tests.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// due is a domain of five URLs that is due and whose loop runs.
func due(at time.Time) domainView {
	members := map[topics.Stage]int{}
	for _, stage := range topics.Stages() {
		members[stage] = 1
	}
	return domainView{
		clock: clock{noon, time.UTC}, window: 512, visitsOut: 12,
		delay: Delay{MS: 1000, Cause: "configured", ConfiguredMS: 1000},
		state: frontier.DomainState{State: frontier.Due, Queued: [4]uint64{5}, DueAt: at},
		loop:  loop{members: members, freeBytes: -1},
	}
}

// out is a domain with a visit that was released at a time.
func out(released time.Time, visit frontier.VisitOut) domainView {
	h := due(time.Time{})
	h.state.State, h.state.Out = frontier.Out, 1
	if visit.LeaseAt.IsZero() {
		visit.LeaseAt = noon.Add(time.Hour)
	}
	visit.Delay, visit.Requests = time.Second, []*weftpb.Request{{Target: &weftpb.Target{Url: site}}}
	h.visits = []frontier.VisitOut{visit}
	h.trace.releasedMS = released.UnixMilli()
	return h
}

func TestHolds(t *testing.T) {
	ago := func(d time.Duration) time.Time { return noon.Add(-d) }
	for _, test := range []struct {
		name   string
		h      domainView
		change func(*domainView)
		want   Cause
	}{
		{"empty", due(noon), func(h *domainView) { h.state = frontier.DomainState{State: frontier.Empty} }, Done},
		{"its turn", due(ago(time.Second)), nil, Ready},
		{"scheduler late", due(ago(time.Minute)), nil, Schedule},
		{"window full", due(ago(time.Minute)), func(h *domainView) { h.visitsOut = 512 }, Window},
		{"disk full", due(ago(time.Minute)), func(h *domainView) {
			h.loop.troubles = []trouble.Trouble{{Stage: topics.Schedule, Kind: trouble.Disk, Says: "disk: 1 MiB free"}}
		}, Disk},
		{"disk with room", due(ago(time.Minute)), func(h *domainView) { h.loop.freeBytes = 1 << 40 }, Schedule},
		{"scheduler fails", due(ago(time.Minute)), func(h *domainView) {
			h.loop.troubles = []trouble.Trouble{{Stage: topics.Schedule, Kind: trouble.Fails, Says: "no such file"}}
		}, Failing},
		{"no scheduler", due(ago(time.Minute)), func(h *domainView) { h.loop.members[topics.Schedule] = 0 }, Stopped},
		{"fetch paused", due(ago(time.Minute)), func(h *domainView) { h.loop.control.Paused = []topics.Stage{topics.Fetch} }, Paused},
		{"draining", due(ago(time.Minute)), func(h *domainView) { h.loop.control.Draining = true }, Paused},
		{"draining, out", out(ago(0), frontier.VisitOut{}), func(h *domainView) { h.loop.control.Draining = true }, Delaying},
		{"out", out(ago(5*time.Second), frontier.VisitOut{}), nil, Delaying},
		{"out without delay", out(ago(0), frontier.VisitOut{}), func(h *domainView) { h.visits[0].Delay = 0 }, Asking},
		{"out for robots.txt", out(ago(0), frontier.VisitOut{Robots: true}), nil, Robots},
		{"out as a probe", out(ago(0), frontier.VisitOut{Probe: true}), nil, Breaker},
		{"out as a check", out(ago(0), frontier.VisitOut{Probe: true, Check: true}), nil, Breaker},
		{"out and hanging", out(ago(time.Minute), frontier.VisitOut{Hangs: true}), nil, Asking},
		{"out without a sign", out(ago(time.Minute), frontier.VisitOut{}), nil, Fetch},
		{"out beyond its lease", out(ago(time.Hour), frontier.VisitOut{LeaseAt: ago(time.Minute)}), nil, Schedule},
		{"out with a slow server", out(ago(time.Minute), frontier.VisitOut{}), func(h *domainView) { h.state.Response = time.Minute }, Delaying},
		{"out with a late sign", out(ago(time.Minute), frontier.VisitOut{}), func(h *domainView) { h.trace.endedMS = ago(time.Second).UnixMilli() }, Delaying},
		{"out, nobody fetches", out(ago(0), frontier.VisitOut{}), func(h *domainView) { h.loop.members[topics.Fetch] = 0 }, Stopped},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.change != nil {
				test.change(&test.h)
			}
			if got := test.h.waitReason(); got.Cause != test.want || got.Text == "" {
				t.Errorf("held by %q (%s), want %q", got.Cause, got.Text, test.want)
			}
		})
	}
}

func TestWaits(t *testing.T) {
	later := noon.Add(10 * time.Second)
	hosts := func(hosts ...frontier.HostState) func(*domainView) {
		return func(h *domainView) { h.hosts = hosts }
	}
	for _, test := range []struct {
		name   string
		change func(*domainView)
		want   Cause
	}{
		{"delay", nil, Delaying},
		{"back-off", hosts(frontier.HostState{Host: "sick", Failures: 4, WaitAt: later}), BackingOff},
		{"a host that waits for longer", hosts(frontier.HostState{Host: "sick", Failures: 4, WaitAt: later.Add(time.Hour)}), Delaying},
		{"no request", hosts(frontier.HostState{Host: "busy", SilentUntil: later, WaitAt: later}), RetryAfter},
		{"fewer requests", hosts(frontier.HostState{Host: "busy", Failures: 1, Throttled: 1, WaitAt: later}), RetryAfter},
		{"a learnt delay", hosts(frontier.HostState{Host: "busy", Learnt: time.Second, WaitAt: later}), Delaying},
		{"a host that is down", hosts(frontier.HostState{Host: "well"}, frontier.HostState{Host: "sick", Down: true, Failures: 5, WaitAt: later}), Breaker},
		{"no such name", hosts(frontier.HostState{Host: "gone", Missing: true, WaitAt: later}), Robots},
		{"a crowded address", func(h *domainView) { h.state.Crowded = true }, Address},
		{"an address that was crowded", func(h *domainView) { h.state.Crowded, h.state.NextAt, h.state.Retries = true, noon, 1 }, Retrying},
		{"retries", func(h *domainView) { h.state.NextAt, h.state.Retries = noon, 1 }, Retrying},
		{"robots.txt", func(h *domainView) {
			h.origins = []frontier.OriginState{{Name: "https://example.com", Standing: frontier.Waiting, RetryAt: later}}
		}, Robots},
		{"robots.txt of one of two", func(h *domainView) {
			h.origins = []frontier.OriginState{{Standing: frontier.Waiting, RetryAt: later}, {Standing: frontier.InForce}}
		}, Delaying},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := due(later.Local())
			h.state.NextAt = later
			if test.change != nil {
				test.change(&h)
			}
			got := h.waitReason()
			if got.Cause != test.want || !got.Until.Equal(later) {
				t.Errorf("held by %q until %v (%s), want %q", got.Cause, got.Until, got.Text, test.want)
			}
			if got.Until.Location() != time.UTC {
				t.Errorf("until %v, want a time in UTC", got.Until)
			}
		})
	}
}

func TestDelayCauses(t *testing.T) {
	opts := frontier.DefaultOptions()
	asks := func(d time.Duration, standing frontier.Standing) []frontier.OriginState {
		return []frontier.OriginState{{Name: "o", CrawlDelay: d, Standing: standing}}
	}
	for _, test := range []struct {
		configured, response time.Duration
		setting              *weftpb.DomainSetting
		origins              []frontier.OriginState
		ms                   int64
		cause                string
	}{
		{time.Second, 0, nil, nil, 1000, "configured"},
		{time.Second, 3 * time.Second, nil, nil, 3000, "response_time"},
		{time.Second, 3 * time.Second, nil, asks(5*time.Second, frontier.InForce), 5000, "crawl_delay"},
		{time.Second, 0, nil, asks(5*time.Second, frontier.Waiting), 1000, "configured"},
		{time.Second, 0, nil, asks(time.Hour, frontier.InForce), 300_000, "crawl_delay"},
		{0, 3 * time.Second, nil, nil, 0, "configured"},
		{time.Second, 0, &weftpb.DomainSetting{DelayMs: proto.Int64(7000)}, nil, 7000, "setting"},
		{time.Second, 0, &weftpb.DomainSetting{DelayMs: proto.Int64(7000)}, asks(9*time.Second, frontier.InForce), 9000, "crawl_delay"},
		{time.Second, 0, &weftpb.DomainSetting{PerDay: 9}, nil, 1000, "configured"},
	} {
		opts.Delay = test.configured
		if d := delayOf(opts, test.setting, test.response, test.origins); d.MS != test.ms || d.Cause != test.cause {
			t.Errorf("%v, %v, %v: %d ms, %s; want %d ms, %s", test.configured, test.response, test.origins, d.MS, d.Cause, test.ms, test.cause)
		}
	}
}

// TestReasonOfAHost checks that a URL whose host waits gets that reason, and that others get the
// reason of their domain.
func TestReasonOfAHost(t *testing.T) {
	h := out(noon, frontier.VisitOut{})
	h.hosts = []frontier.HostState{{Host: "sick.example.com", Down: true, Failures: 5, WaitAt: noon.Add(time.Minute)}}
	if got := h.reasonOf("sick.example.com"); got.Cause != Breaker {
		t.Errorf("a URL of the host that is down is held by %q", got.Cause)
	}
	if got := h.reasonOf("example.com"); got.Cause != Delaying {
		t.Errorf("a URL of the other host is held by %q", got.Cause)
	}
}
