package why

import (
	"fmt"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/trouble"
	"github.com/weftcrawl/weft/topics"
)

// crawl is a story of 10 domains with 1,000 URLs, 10 of which are held by the
// delay each.
func crawl() *CrawlStory {
	s := &CrawlStory{
		Crawl: "weft", Now: noon, State: StateRunning, Partitions: 4, Pending: 1000, Domains: 10, FreeBytes: -1, perDomain: 1, clock: clock{noon, time.UTC},
		Waits:  []Wait{{Delaying, 10, 1000}},
		Recent: Recent{SpanMS: 60_000, Requests: 600, BodyBytes: 20_000, OpenRequests: 3},
	}
	for _, stage := range topics.Stages() {
		s.Stages = append(s.Stages, StageStatus{stage, 1, 0})
	}
	return s
}

func (s *CrawlStory) stage(name topics.Stage) *StageStatus {
	for i := range s.Stages {
		if s.Stages[i].Stage == name {
			return &s.Stages[i]
		}
	}
	return nil
}

func TestFindings(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*CrawlStory, *loop)
		want   string
	}{
		{"nothing special", nil, "[delay rate]"},
		{"drained", func(s *CrawlStory, _ *loop) { s.State = StateDrained }, "[drained]"},
		{"no fetch", func(s *CrawlStory, _ *loop) {
			s.State, s.stage(topics.Fetch).Members = StateStopped, 0
			s.Waits = []Wait{{Stopped, 10, 1000}}
		}, "[stopped]"},
		{"one slow domain", func(s *CrawlStory, _ *loop) {
			s.AtLeastMS = 3_600_000
			s.Slowest = []SlowDomain{{Domain: "a.example", Pending: 900, DelayMS: 4000, AtLeastMS: 3_600_000}}
		}, "[slowest_domain delay rate]"},
		{"a disk that is full", func(_ *CrawlStory, l *loop) {
			l.troubles = []trouble.Trouble{{Stage: topics.Schedule, Kind: trouble.Disk, Says: "disk: 1 MiB free, below --disk-reserve 1024 MiB"}}
		}, "[disk delay rate]"},
		{"an archive that is behind", func(_ *CrawlStory, l *loop) {
			l.troubles = []trouble.Trouble{{Stage: topics.Schedule, Kind: trouble.Archive, Says: "archive: it lacks 7 exchanges that are older than 2 h"}}
		}, "[archive delay rate]"},
		{"an archive that is not written", func(_ *CrawlStory, l *loop) {
			l.troubles = []trouble.Trouble{{Stage: topics.Archive, Kind: trouble.Fails, Says: "connection refused", Times: 7, At: noon}}
		}, "[archive delay rate]"},
		{"drained, and the archive is not written", func(s *CrawlStory, l *loop) {
			s.State = StateDrained
			l.troubles = []trouble.Trouble{{Stage: topics.Archive, Kind: trouble.Fails, Says: "connection refused", Times: 7, At: noon}}
		}, "[drained archive]"},
		{"an archive that is behind because it is not written", func(_ *CrawlStory, l *loop) {
			l.troubles = []trouble.Trouble{
				{Stage: topics.Archive, Kind: trouble.Fails, Says: "connection refused", Times: 7, At: noon},
				{Stage: topics.Schedule, Kind: trouble.Archive, Says: "archive: it lacks 7 exchanges that are older than 2 h"},
			}
		}, "[archive delay rate]"},
		{"a stage that fails", func(s *CrawlStory, l *loop) {
			s.State, s.stage(topics.Dedupe).Members = StateFailing, 0
			l.troubles = []trouble.Trouble{{Stage: topics.Dedupe, Kind: trouble.Fails, Says: "no such file", Times: 7, At: noon}}
		}, "[failing delay]"},
		{"a stage that fails, and one that nobody runs", func(s *CrawlStory, l *loop) {
			s.State, s.stage(topics.Dedupe).Members, s.stage(topics.Parse).Members = StateFailing, 0, 0
			l.troubles = []trouble.Trouble{{Stage: topics.Dedupe, Kind: trouble.Fails, Says: "no such file", Times: 7, At: noon}}
		}, "[failing stopped delay]"},
		{"paused", func(_ *CrawlStory, l *loop) { l.control.Paused = []topics.Stage{topics.Fetch} }, "[paused delay rate]"},
		{"dedupe behind", func(s *CrawlStory, _ *loop) { s.stage(topics.Dedupe).Behind = 100_000 }, "[lag delay rate]"},
		{"dedupe a little behind", func(s *CrawlStory, _ *loop) { s.stage(topics.Dedupe).Behind = 100 }, "[delay rate]"},
		{"fetch behind is no lag", func(s *CrawlStory, _ *loop) { s.stage(topics.Fetch).Behind = 100_000 }, "[delay rate]"},
		{"parse behind in bytes", func(s *CrawlStory, _ *loop) { s.stage(topics.Parse).Behind = 2000 }, "[backlog delay rate]"},
		{"all slots in use", func(s *CrawlStory, _ *loop) { s.Recent.OpenRequests = 500 }, "[delay slots rate]"},
		{"slots of two fetchers", func(s *CrawlStory, _ *loop) {
			s.Recent.OpenRequests, s.stage(topics.Fetch).Members = 500, 2
		}, "[delay rate]"},
		{"several causes", func(s *CrawlStory, _ *loop) {
			s.Waits = []Wait{{Window, 5, 700}, {Robots, 3, 200}, {Breaker, 2, 100}, {Done, 1, 0}, {Ready, 1, 1}}
		}, "[window robots breaker rate]"},
		{"blocks and budgets", func(s *CrawlStory, _ *loop) {
			s.Waits = []Wait{{Blocked, 5, 700}, {Budget, 3, 200}, {Address, 2, 100}, {Aside, 1, 10}}
		}, "[blocked budget address aside rate]"},
		{"trimmed", func(s *CrawlStory, _ *loop) { s.State, s.Unknown, s.Waits = StateTrimmed, []string{"x"}, nil }, "[trimmed]"},
		{"nothing yet", func(s *CrawlStory, _ *loop) { s.Pending, s.Waits = 0, nil }, "[starting]"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, around := crawl(), loop{freeBytes: -1}
			if test.change != nil {
				test.change(s, &around)
			}
			var names []string
			for _, f := range diagnose(s, around) {
				names = append(names, f.Name)
				if f.Text == "" {
					t.Errorf("%s says nothing", f.Name)
				}
			}
			if got := fmt.Sprint(names); got != test.want {
				t.Errorf("found %s, want %s", got, test.want)
			}
		})
	}
}
