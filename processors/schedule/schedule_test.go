package schedule

import (
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/settings"
	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/ledger"
	"github.com/weftcrawl/weft/processors/fetch/httpclient"
	"github.com/weftcrawl/weft/processors/schedule/frontier"
	"github.com/weftcrawl/weft/test/memstore"
	"github.com/weftcrawl/weft/test/stagetest"
	"github.com/weftcrawl/weft/topics"
)

func TestReleasesArePaused(t *testing.T) {
	opts := settings.FrontierOptions(topics.Definition{PerDomain: 1})
	s := &state{diskLow: new(atomic.Bool), frontier: frontier.New(opts, new(memstore.Store))}
	if s.moment(time.Now(), 0).Paused {
		t.Error("without pauses releases are paused")
	}
	s.env.Pauses = stage.NewPauses(stagetest.Paused(topics.Fetch))
	if !s.moment(time.Now(), 0).Paused {
		t.Error("while fetch is paused visits are released")
	}
	s.env.Pauses.Set(topics.Control{Draining: true})
	if !s.moment(time.Now(), 0).Paused {
		t.Error("while the crawl drains visits are released")
	}
	s.env.Pauses.Set(stagetest.Paused(topics.Normalize))
	if s.moment(time.Now(), 0).Paused {
		t.Error("while normalize is paused no visits are released")
	}
}

// trips counts breakers that opened.
type trips struct {
	stage.NoMeter
	n int
}

func (c *trips) BreakerOpened() { c.n++ }

// A breaker counts when it opens, and not for as long as it is open.
func TestBreakerCountsWhenItOpens(t *testing.T) {
	opts := frontier.DefaultOptions()
	opts.Allowed = func(*weftpb.Robots, string) bool { return true }
	counted, offset, now := new(trips), int64(0), time.Unix(1e9, 0)
	s := &state{
		frontier: frontier.New(opts, new(memstore.Store)), diskLow: new(atomic.Bool),
		env: stage.Env{Names: topics.Loop("test"), Meter: counted, Clock: func() time.Time { return now }},
	}
	apply := func(body []byte, err error) (visits []*weftpb.Visit) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		if body == nil {
			return nil
		}
		var event weftpb.Scheduled
		if err := proto.Unmarshal(body, &event); err != nil {
			t.Fatal(err)
		}
		if err := s.Apply("x.example", body, offset); err != nil {
			t.Fatal(err)
		}
		offset++
		return event.Released
	}
	var targets []*weftpb.Target
	for _, host := range []string{"a"} {
		targets = append(targets, &weftpb.Target{Url: "http://" + host + ".x.example/"})
	}
	deduped, err := proto.Marshal(&weftpb.Deduped{Targets: targets})
	if err != nil {
		t.Fatal(err)
	}
	visits := apply(s.Decide(ledger.InputRecord{Topic: s.env.Names.Deduped, Key: "x.example", Value: deduped}, now, offset))
	for failures := 1; failures <= int(opts.BreakerFailures)+2; failures++ {
		for i := 0; len(visits) == 0; i++ {
			if i == 1000 {
				t.Fatalf("nothing is released after %d failures", failures-1)
			}
			now = now.Add(time.Minute)
			visits = apply(s.Tick("x.example", now, offset))
		}
		visited, err := proto.Marshal(&weftpb.Visited{Visit: visits[0].Id, Done: true, Outcomes: []*weftpb.Outcome{
			{ErrorClass: string(httpclient.ClassConnectRefused)},
		}})
		if err != nil {
			t.Fatal(err)
		}
		visits = apply(s.Decide(ledger.InputRecord{Topic: s.env.Names.Visited, Key: "x.example", Value: visited}, now, offset))
		want := 0
		if failures >= int(opts.BreakerFailures) {
			want = 1
		}
		if counted.n != want {
			t.Errorf("after %d failures %d breakers opened, want %d", failures, counted.n, want)
		}
	}
}
