package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/weftcrawl/weft/internal/kafka"
	"github.com/weftcrawl/weft/test/webserver"
	"github.com/weftcrawl/weft/topics"
)

// Values of -only.
const (
	onlyGraceful = "graceful"
	onlyRestarts = "restarts"
)

// Bars of a process that is killed and started again, beyond a domain's delay: for domains of
// other processes, and, beyond the session time-out, for its own domains.
const (
	maxOthers        = 2 * time.Second
	maxOwnAfterLapse = 3 * time.Second
)

func (s *scaling) setPauses(text string) error {
	s.pauses = nil
	for word := range strings.SplitSeq(text, ",") {
		pause, err := time.ParseDuration(word)
		if err != nil {
			return err
		}
		s.pauses = append(s.pauses, pause)
	}
	return nil
}

// restarts kills a process and starts it again after each of the pauses, a
// process after the other.
func (s *scaling) restarts(ctx context.Context) error {
	for i, pause := range s.pauses {
		n := i % s.processes
		own, err := s.owned(ctx, n)
		if err != nil {
			return err
		}
		watch := s.watch
		s.watch += pause + s.session
		err = s.step(ctx, fmt.Sprintf("killed, back after %v", pause), func() error {
			s.kill(n)
			if err := wait(ctx, pause); err != nil {
				return err
			}
			return s.start(n)
		}, 0)
		s.watch = watch
		if err != nil {
			return err
		}
		s.changes[len(s.changes)-1].own = own
	}
	return nil
}

// owned are the partitions that process n schedules or fetches.
func (s *scaling) owned(ctx context.Context, n int) (map[int32]bool, error) {
	name, err := os.ReadFile(filepath.Join(s.data(n), "member"))
	if err != nil {
		return nil, err
	}
	client, err := kafka.At(strings.Split(s.brokers, ",")...).NewClient()
	if err != nil {
		return nil, err
	}
	defer client.Close()
	names := topics.Loop(s.crawl)
	groups, err := kadm.NewClient(client).DescribeGroups(ctx, names.Group(topics.Fetch), names.Group(topics.Schedule))
	if err != nil {
		return nil, err
	}
	own := map[int32]bool{}
	for _, g := range groups {
		for _, m := range g.Members {
			if m.InstanceID == nil || !strings.HasPrefix(*m.InstanceID, strings.TrimSpace(string(name))) {
				continue
			}
			assigned, ok := m.Assigned.AsConsumer()
			if !ok {
				continue
			}
			for _, t := range assigned.Topics {
				for _, p := range t.Partitions {
					own[p] = true
				}
			}
		}
	}
	return own, nil
}

// restarted prints for how long domains got no request beyond their delay when a process was killed
// and started again: its own domains and the domains of others. It counts missed bars.
func (s *scaling) restarted(out io.Writer, log []webserver.Entry) (missed int) {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "\nchange\town domains\tworst\tmedian\tbar\t\tother domains\tworst\tmedian\tbar\t\t")
	judge := func(longest []time.Duration, bar time.Duration) string {
		word := "ok"
		if slices.Sort(longest); len(longest) == 0 {
			return fmt.Sprintf("0\t\t\t%s\t", bar)
		}
		if longest[len(longest)-1] > bar {
			word = "MISSED"
			missed++
		}
		return fmt.Sprintf("%d\t%s\t%s\t%s\t%s", len(longest), seconds(longest[len(longest)-1]), seconds(longest[len(longest)/2]), bar, word)
	}
	for _, c := range s.changes {
		if c.own == nil {
			continue
		}
		var own, others []time.Duration
		for domain, longest := range silences(log, c.from, c.to, s.delay) {
			if c.own[s.partitionOf(domain)] {
				own = append(own, longest)
			} else {
				others = append(others, longest)
			}
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t\n", c.what, judge(own, s.session+maxOwnAfterLapse), judge(others, maxOthers))
	}
	_ = t.Flush()
	return missed
}
