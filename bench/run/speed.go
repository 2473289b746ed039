package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/weftcrawl/weft/bench/localweb"
	"github.com/weftcrawl/weft/bench/performance"
	"github.com/weftcrawl/weft/codecs"
)

// Bars of `run speed` on every web.
const (
	minRate   = 0.6 // pages/s, ÷ those of the limit
	maxPeakMB = 400
)

// speedWeb is a web on which the crawler is compared with the limit.
type speedWeb struct {
	name string
	spec localweb.Spec
	// minCPU is the least CPU a page of the limit, ÷ that of the crawler; 0: there is no bar.
	minCPU float64
}

// speedWebs: young domains have so few pages that most requests go to domains that the crawl
// has just discovered.
func speedWebs() []speedWeb {
	few := localweb.Spec{Pages: 20_000, Domains: 67, Seed: 1}
	young := localweb.Spec{Pages: 10_000, Domains: 2_000, Seed: 1, Young: true}
	withGzip := func(s localweb.Spec) localweb.Spec { s.Gzip = true; return s }
	return []speedWeb{
		{"few", few, 1},
		{"few-gzip", withGzip(few), 0},
		{"young", young, 0.75},
		{"young-gzip", withGzip(young), 0},
	}
}

// minRounds is the least number of rounds that gives a confidence interval of 95 %.
const minRounds = 6

// speedWebsOf are the webs of names with commas between them; empty: all.
func speedWebsOf(names string) ([]speedWeb, error) {
	if names == "" {
		return speedWebs(), nil
	}
	var webs []speedWeb
	for name := range strings.SplitSeq(names, ",") {
		i := slices.IndexFunc(speedWebs(), func(w speedWeb) bool { return w.name == name })
		if i < 0 {
			return nil, fmt.Errorf("-webs: there is no web %q", name)
		}
		webs = append(webs, speedWebs()[i])
	}
	return webs, nil
}

func speed(ctx context.Context, args []string, out io.Writer) error {
	b := newBench("speed", out)
	b.BoolVar(&b.bars, "bars", false, "fail when a bar is missed")
	limit := b.String("limit", "{bin}/limit -urls {urls}", "`command` of the limit")
	crawl := b.String("crawl", "{bin}/weft crawl --sitemaps off --delay 0 --allow-private --scope any --seeds {seeds} --data {data}", "`command` of the crawler")
	rounds := b.Int("rounds", minRounds, "`rounds`, each of a pair of runs on each web; confidence intervals take 6")
	names := b.String("webs", "", "`names` of the webs, with commas between them; empty: few,few-gzip,young,young-gzip")
	pages := b.Int("pages", 0, "`pages` of each web; 0: 20,000 on few domains, 10,000 on young ones")
	docs := b.String("docs", "", "draw the table in performance.md in this `directory`")
	return b.run(args, func() error {
		webs, err := speedWebsOf(*names)
		switch {
		case err != nil:
			return err
		case *rounds < 1:
			return errors.New("-rounds is less than 1")
		case *docs != "" && (*rounds < minRounds || *names != "" || *pages > 0):
			return fmt.Errorf("-docs draws all webs, with their pages, in %d rounds or more", minRounds)
		}
		if *pages > 0 {
			for i := range webs {
				webs[i].spec.Pages = *pages
			}
		}
		programs := []performance.Program{{Name: "limit", Command: *limit}, {Name: performance.Weft, Command: *crawl}}
		all, err := b.compareOnWebs(ctx, webs, programs, *rounds)
		if err != nil {
			return err
		}
		table := fmt.Sprintf("%s, in %d rounds.\n\n%s", measured(), *rounds, performance.WebTable(all))
		fmt.Fprintf(out, "\n%s\n", table)
		b.missed = verdict(out, webs, all)
		if *docs == "" {
			return nil
		}
		return replaceParts(*docs, map[string]string{limitPart: table})
	})
}

// compareOnWebs runs the programs in turn on every web. The program that was first in a
// round is last in the next one.
func (b *bench) compareOnWebs(ctx context.Context, webs []speedWeb, programs []performance.Program, rounds int) ([]performance.Comparison, error) {
	runs := make([][]performance.Run, len(webs))
	turn := slices.Clone(programs)
	for round := 1; round <= rounds; round++ {
		for i, w := range webs {
			b.spec = w.spec
			fmt.Fprintf(b.out, "web %s\n", w.name)
			for _, p := range turn {
				r, err := b.complete(ctx, program{name: p.Name, line: p.Command, quiet: quiet}, round)
				if err != nil {
					return nil, fmt.Errorf("web %s: %w", w.name, err)
				}
				runs[i] = append(runs[i], r.run())
			}
		}
		slices.Reverse(turn)
	}
	var all []performance.Comparison
	for i, w := range webs {
		all = append(all, performance.Comparison{Web: w.name, Summaries: performance.Summarize(programs, runs[i])})
	}
	return all, nil
}

// complete measures a program that must have every page, and removes its files.
func (b *bench) complete(ctx context.Context, p program, round int) (row, error) {
	r, err := b.measure(ctx, p, round)
	if err != nil {
		return r, err
	}
	dir := b.dirOf(p.name, round)
	if missing := r.report.Expected - r.report.Fetched; missing > 0 {
		return r, fmt.Errorf("%s, round %d: %d pages were not fetched, such as %s", p.name, round, missing, r.report.Missing[0])
	}
	if p.name == performance.Weft { // the limit itself fails if it cannot parse a page
		if err := parsed(filepath.Join(dir, "urls.txt"), filepath.Join(dir, "data", "pages")); err != nil {
			return r, fmt.Errorf("%s, round %d: %w", p.name, round, err)
		}
	}
	return r, os.RemoveAll(dir)
}

// parsed returns an error if a URL of a list is missing in a crawl's files of pages.
func parsed(urls, pages string) error {
	list, err := os.ReadFile(urls)
	if err != nil {
		return err
	}
	missing := map[string]bool{}
	for url := range strings.FieldsSeq(string(list)) {
		missing[url] = true
	}
	files, err := filepath.Glob(filepath.Join(pages, "*.jsonl"))
	if err != nil {
		return err
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		for line := range bytes.Lines(text) {
			page, err := codecs.DecodeParsedFingerprints(line)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			delete(missing, page.URL)
		}
	}
	for url := range missing {
		return fmt.Errorf("%d pages were not parsed, such as %s", len(missing), url)
	}
	return nil
}

// verdict compares the medians with the bars and counts missed ones.
func verdict(out io.Writer, webs []speedWeb, all []performance.Comparison) (missed int) {
	c := checks{out: out}
	for i, w := range webs {
		limit, weft := all[i].Summaries[0], all[i].Summaries[1]
		cpu := fmt.Sprintf("%s: CPU a page, limit ÷ Weft %s", w.name, limit.CPURatio.Interval(2))
		if w.minCPU > 0 {
			c.check(limit.CPURatio.Median >= w.minCPU, "%s, bar ≥ %.2f", cpu, w.minCPU)
		} else {
			fmt.Fprintln(out, "        "+cpu)
		}
		c.check(1/limit.RateRatio.Median >= minRate, "%s: pages/s, Weft ÷ limit %.2f, bar ≥ %.2f", w.name, 1/limit.RateRatio.Median, minRate)
		c.check(weft.PeakMB.Max <= maxPeakMB, "%s: peak memory %.0f MB, bar ≤ %d MB", w.name, weft.PeakMB.Max, maxPeakMB)
	}
	return c.missed
}
