package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/weftcrawl/weft/bench/localweb"
	"github.com/weftcrawl/weft/test/webserver"
)

// minRateShare is the bar of `run polite`: requests/s in the steady state as a
// share of domains ÷ delay, the most that politeness permits.
const minRateShare = 0.9

// stretch is a time in which one process of the crawler ran, in wall time.
type stretch struct{ from, to time.Time }

func polite(ctx context.Context, args []string, out io.Writer) error {
	b := newWebBench("polite", out, localweb.Spec{Domains: 1000, Seed: 1, Rough: true})
	crawl := b.String("crawl", "{bin}/weft crawl --sitemaps off --delay {delay} --allow-private --scope host --seeds {seeds} --data {data}", "`command` of the crawler")
	delay := b.Duration("delay", time.Second, "`delay` between requests of a domain")
	duration := b.Duration("duration", 90*time.Second, "run for this `long`; 0: until the crawler ends by itself")
	ramp := b.Duration("ramp", 15*time.Second, "`time` after each start that is not yet the steady state")
	kills := b.Int("kills", 0, "kill the crawler so many `times` with SIGKILL and start it again")
	every := b.Duration("kill-every", 30*time.Second, "`time` between kills")
	return b.run(args, func() error {
		if b.spec.Pages == 0 {
			// A fifth more than can be asked for in the time, and 50 a domain.
			perDomain := 50
			if *delay > 0 {
				perDomain += int(*duration * 6 / 5 / *delay)
			}
			b.spec.Pages = b.spec.Domains * perDomain
		}
		site, err := b.spec.Web()
		if err != nil {
			return err
		}
		w, err := startWeb(b.bin, b.spec, b.dir)
		if err != nil {
			return err
		}
		words := command(*crawl, map[string]string{
			"bin": b.bin, "seeds": w.seeds, "data": filepath.Join(b.dir, "data"), "delay": delay.String(),
		})
		run := crawlRun{words: words, log: filepath.Join(b.dir, "output.log"), kills: *kills, every: *every}
		stretches, err := run.run(ctx, *duration)
		entries, _, stopErr := w.stop()
		if err := errors.Join(err, stopErr); err != nil {
			return fmt.Errorf("%w%s", err, lastLines(run.log))
		}
		expect := webserver.Expect{Denied: site.Denied, Delay: func(string) time.Duration { return *delay }}
		if *duration == 0 {
			expect.Pages = site.Pages()
		}
		for _, s := range stretches[:len(stretches)-1] { // each but the last was killed
			expect.Outages = append(expect.Outages, webserver.Kill(s.to.UnixNano()))
		}
		b.missed = judge(out, webserver.Audit(entries, expect), rate(entries, stretches, *ramp), judgement{
			domains: b.spec.Domains, delay: *delay, complete: *duration == 0, killed: *kills,
		})
		return nil
	})
}

// crawlRun runs the crawler, killing and restarting it on the way.
type crawlRun struct {
	words []string
	log   string
	kills int
	every time.Duration
}

// run ends after the duration and all kills with an interrupt, or, when it is 0,
// when the crawler does. It returns when the crawler was up.
func (r crawlRun) run(ctx context.Context, duration time.Duration) ([]stretch, error) {
	var end <-chan time.Time
	if duration > 0 {
		end = time.After(duration)
	}
	var stretches []stretch
	for kills := r.kills; ; kills-- {
		c, err := start(r.words, r.log)
		if err != nil {
			return stretches, err
		}
		up := stretch{from: time.Now()}
		var kill, over <-chan time.Time
		if kills > 0 {
			kill = time.After(r.every)
		} else {
			over = end
		}
		again := false
		select {
		case <-ctx.Done():
			c.Kill()
			err = ctx.Err()
		case <-c.Ended:
			if err = c.Err; err == nil && duration > 0 {
				err = errors.New("the crawler ended before its time: the web is too small")
			}
		case <-over:
			err = interrupt(c)
		case <-kill:
			c.Kill()
			again = true
		}
		up.to = time.Now()
		stretches = append(stretches, up)
		if !again {
			return stretches, err
		}
	}
}

// rate is the mean of requests/s over the whole seconds of the log that lie
// within a stretch, ramp after its start; 0 when there are none.
func rate(entries []webserver.Entry, stretches []stretch, ramp time.Duration) float64 {
	if len(entries) == 0 {
		return 0
	}
	first := slices.MinFunc(entries, func(a, b webserver.Entry) int { return int(a.Start - b.Start) }).Start
	var requests, seconds int
	for i, n := range webserver.Rates(entries, time.Second) {
		from := first + int64(i)*int64(time.Second)
		to := from + int64(time.Second)
		if slices.ContainsFunc(stretches, func(s stretch) bool {
			return from >= s.from.Add(ramp).UnixNano() && to <= s.to.UnixNano()
		}) {
			requests += n
			seconds++
		}
	}
	return float64(requests) / float64(max(seconds, 1))
}

// judgement has the bars of a polite run.
type judgement struct {
	domains int
	delay   time.Duration
	// complete: the crawl ended by itself, so every page must be there.
	complete bool
	// killed so many times: each may repeat what was in flight.
	killed int
}

func judge(out io.Writer, r webserver.AuditReport, rate float64, j judgement) (missed int) {
	fmt.Fprint(out, r, "\n")
	c := checks{out: out}
	if j.delay > 0 && !j.complete {
		most := float64(j.domains) / j.delay.Seconds()
		c.check(rate >= minRateShare*most, "steady requests/s %.0f, bar ≥ %.0f", rate, minRateShare*most)
	}
	c.check(r.Short == 0, "intervals below %v: %d, bar 0", j.delay, r.Short)
	c.check(r.Overlaps == 0, "requests of a domain at once: %d, bar 0", r.Overlaps)
	c.check(r.BeforeRobots == 0, "requests before robots.txt: %d, bar 0", r.BeforeRobots)
	c.check(r.Denied == 0, "requests that robots.txt denies: %d, bar 0", r.Denied)
	if j.killed == 0 {
		c.check(r.Repeats == 0, "pages fetched again: %d, bar 0", r.Repeats)
	} else {
		c.check(r.Unexcused == 0, "pages fetched again that were not in flight at one of %d kills: %d of %d, bar 0", j.killed, r.Unexcused, r.Repeats)
	}
	if j.complete {
		c.check(float64(r.Fetched) >= 0.995*float64(r.Expected), "pages reached %d of %d, bar ≥ 99.5 %%", r.Fetched, r.Expected)
	}
	return c.missed
}

// lastLines are the end of a program's output, for an error.
func lastLines(name string) string {
	b, err := os.ReadFile(name)
	if err != nil || len(b) == 0 {
		return ""
	}
	return "\nits last output:\n" + string(b[max(0, len(b)-2000):])
}
