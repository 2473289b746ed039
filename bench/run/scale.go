package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/weftcrawl/weft/bench/localweb"
	"github.com/weftcrawl/weft/test/child"
	"github.com/weftcrawl/weft/test/webserver"
	"github.com/weftcrawl/weft/topics"
)

// Bars of `run scale`; to start a process anew is two changes. After a graceful change the crawl
// goes on: requests are made, also to most of the web, in the partitions that do not move.
// Partitions that move wait for politeness and repeats (docs/operations.md). After a kill the worst
// partition counts.
const (
	maxGraceful  = time.Second
	maxAfterKill = 2 * time.Second // beyond the session time-out
)

func scale(ctx context.Context, args []string, out io.Writer) error {
	b := newWebBench("scale", out, localweb.Spec{Domains: 120, Seed: 1})
	s := scaling{
		bench:  b,
		pauses: []time.Duration{0, time.Second, 5 * time.Second, 15 * time.Second, 22 * time.Second, 30 * time.Second},
	}
	kafka := registerKafka(b.FlagSet)
	b.StringVar(&s.crawl, "crawl", "scale-"+strconv.FormatInt(time.Now().Unix(), 36), "`name` of the new crawl")
	b.IntVar(&s.processes, "processes", 3, "`processes` to begin with")
	b.IntVar(&s.partitions, "partitions", 12, "`partitions` of the crawl")
	b.DurationVar(&s.delay, "delay", 500*time.Millisecond, "`delay` between requests of a domain")
	b.DurationVar(&s.session, "session-timeout", 10*time.Second, "session `time-out` of the groups")
	b.DurationVar(&s.watch, "watch", 12*time.Second, "`time` that is watched after each change, besides the session time-out after a kill")
	b.StringVar(&s.only, "only", "", "make these `changes` only: "+onlyGraceful+" or "+onlyRestarts)
	b.Func("pauses", "kill and start again after each of these `times`, separated by commas (default 0s,1s,5s,15s,22s,30s)", s.setPauses)
	return b.run(args, func() error {
		if s.only != "" && s.only != onlyGraceful && s.only != onlyRestarts {
			return fmt.Errorf("-only %s is neither %s nor %s", s.only, onlyGraceful, onlyRestarts)
		}
		if b.spec.Pages == 0 {
			// Twice what can be asked for in the time, and 100 a domain.
			long := s.watch*time.Duration(5+s.processes+len(s.pauses)) + s.session
			for _, pause := range s.pauses {
				long += pause + s.session
			}
			b.spec.Pages = b.spec.Domains * (100 + 2*int(long/max(s.delay, 50*time.Millisecond)))
		}
		broker, err := kafka.start(ctx, b.dir)
		if err != nil {
			return err
		}
		defer broker.end()
		s.bin, s.brokers = b.bin, broker.addr
		log, err := s.run(ctx)
		if err != nil {
			return err
		}
		b.missed = s.verdict(out, log)
		return nil
	})
}

// scaling is a crawl whose processes come and go.
type scaling struct {
	clusterCrawl
	bench      *bench
	processes  int
	partitions int
	delay      time.Duration
	session    time.Duration
	watch      time.Duration
	pauses     []time.Duration // between a kill and the start that follows
	only       string          // of the changes; empty: all

	up      []*child.Process // the processes of the crawl, by their number; nil: none
	changes []change
}

// change is what happened to the processes, and the time after it.
type change struct {
	what     string
	from, to time.Time
	most     time.Duration // the bar; 0: none
	// own are the partitions that the process which was killed and started again
	// had; nil: none was.
	own map[int32]bool
}

// run makes the changes and returns the web server's log.
func (s *scaling) run(ctx context.Context) ([]webserver.Entry, error) {
	w, err := startWeb(s.bin, s.bench.spec, s.bench.dir)
	if err != nil {
		return nil, err
	}
	err = s.scenario(ctx, w)
	for _, c := range s.up {
		if c != nil {
			c.Kill()
		}
	}
	entries, _, stopErr := w.stop()
	return entries, errors.Join(err, stopErr)
}

// scenario begins the crawl and makes one change after the other.
func (s *scaling) scenario(ctx context.Context, w *web) error {
	if err := s.create(ctx, s.partitions, s.delay); err != nil {
		return err
	}
	for n := range s.processes {
		if err := s.start(n); err != nil {
			return err
		}
	}
	if err := s.weft(ctx, "seed", w.seeds); err != nil {
		return err
	}
	nothing := func() error { return nil }
	if err := s.step(ctx, "begun", nothing, 0); err != nil {
		return err
	}
	if err := s.step(ctx, "nothing", nothing, 0); err != nil {
		return err
	}
	if s.only == onlyRestarts {
		return s.restarts(ctx)
	}
	if err := s.step(ctx, "one added", func() error { return s.start(s.processes) }, maxGraceful); err != nil {
		return err
	}
	if err := s.step(ctx, "one stopped", func() error { return s.stop(s.processes) }, maxGraceful); err != nil {
		return err
	}
	for n := range s.processes {
		anew := func() error { return errors.Join(s.stop(n), s.start(n)) }
		if err := s.step(ctx, fmt.Sprintf("number %d started anew", n+1), anew, 2*maxGraceful); err != nil {
			return err
		}
	}
	if s.only == onlyGraceful {
		return nil
	}
	if err := s.restarts(ctx); err != nil {
		return err
	}
	return s.step(ctx, "one killed", func() error { s.kill(0); return nil }, s.session+maxAfterKill)
}

// step makes a change and watches what follows. The bar is most; 0: none.
func (s *scaling) step(ctx context.Context, what string, do func() error, most time.Duration) error {
	c := change{what: what, from: time.Now(), most: most}
	if err := do(); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	watched := s.watch
	if most > s.session {
		watched += s.session
	}
	if err := wait(ctx, watched); err != nil {
		return err
	}
	c.to = time.Now()
	s.changes = append(s.changes, c)
	return nil
}

func (s *scaling) data(n int) string { return filepath.Join(s.bench.dir, "weft-"+strconv.Itoa(n+1)) }

func (s *scaling) start(n int) error {
	c, err := s.clusterCrawl.start("all", s.data(n), "--session-timeout", s.session.String())
	if err != nil {
		return err
	}
	for len(s.up) <= n {
		s.up = append(s.up, nil)
	}
	s.up[n] = c
	return nil
}

func (s *scaling) stop(n int) error {
	defer func() { s.up[n] = nil }()
	return interrupt(s.up[n])
}

func (s *scaling) kill(n int) {
	s.up[n].Kill()
	s.up[n] = nil
}

// verdict prints what each change cost, and counts missed bars.
func (s *scaling) verdict(out io.Writer, log []webserver.Entry) (missed int) {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "change\trequests/s\tnobody asked\tworst partition\tworst domain\tmedian domain\tbar\t\t")
	for _, c := range s.changes {
		stalled := stalls(log, c.from, c.to, s.delay, s.partitionOf)
		requests := 0
		for _, e := range log {
			if e.Start >= c.from.UnixNano() && e.Start < c.to.UnixNano() {
				requests++
			}
		}
		bar, word := "", ""
		if c.most > 0 {
			bar, word = c.most.String(), "ok"
			worst := max(stalled.whole, stalled.domains)
			if c.most > s.session {
				worst = stalled.partition
			}
			if worst > c.most {
				word = "MISSED"
				missed++
			}
		}
		fmt.Fprintf(t, "%s\t%.0f\t%s\t%s\t%s\t%s\t%s\t%s\t\n", c.what, float64(requests)/c.to.Sub(c.from).Seconds(),
			seconds(stalled.whole), seconds(stalled.partition), seconds(stalled.domain), seconds(stalled.domains), bar, word)
	}
	_ = t.Flush()
	missed += s.restarted(out, log)
	r := webserver.Audit(log, webserver.Expect{Delay: func(string) time.Duration { return s.delay }, Outages: s.outages()})
	fmt.Fprintf(out, "\n%v", r)
	if r.Short+r.Overlaps+r.BeforeRobots > 0 {
		missed++
	}
	return missed
}

func (s *scaling) partitionOf(domain string) int32 {
	return topics.Partition(domain, int32(s.partitions))
}

// outages are the times in which processes end or partitions move.
func (s *scaling) outages() (all []webserver.Outage) {
	for _, c := range s.changes {
		all = append(all, webserver.Outage{From: c.from.UnixNano(), To: c.to.UnixNano()})
	}
	return all
}

func seconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', 2, 64) + " s" }
