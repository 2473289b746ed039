package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/weftcrawl/weft/bench/localweb"
	"github.com/weftcrawl/weft/inspect/plan"
	"github.com/weftcrawl/weft/topics"
)

func cost(ctx context.Context, args []string, out io.Writer) error {
	b := newBench("cost", out)
	var c costCrawl // all crawls of the measurement are copies of it
	b.IntVar(&c.partitions, "partitions", 8, "`partitions` of each crawl")
	b.DurationVar(&c.delay, "delay", time.Second, "`delay` between requests of a domain: a crawl without has larger batches")
	kafka := registerKafka(b.FlagSet)
	pages := b.Int("pages", 16_000, "`pages` of each web")
	urls := b.Int("urls", 200_000, "`URLs` that are made known and not fetched")
	model := b.String("json", "", "write the model to this `file`, for weft plan --model; inspect/plan/model.json is built in")
	return b.run(args, func() (err error) {
		if *pages < 100 || *urls < 1000 {
			return errors.New("fewer than 100 pages or 1,000 URLs tell nothing")
		}
		if c.broker, err = kafka.start(ctx, b.dir); err != nil {
			return err
		}
		defer c.broker.end()
		c.bin, c.brokers = b.bin, c.broker.addr
		samples, err := b.sample(ctx, c, *pages, *urls)
		if err != nil {
			return err
		}
		m := modelOf(samples)
		if m.TLS, err = measureTLS(); err != nil {
			return fmt.Errorf("measure TLS: %w", err)
		}
		m.BloomBits = bloomBits()
		m.Measured.Date, m.Measured.Machine = time.Now().UTC().Format(time.DateOnly), machine()
		m.Measured.Broker = c.broker.name
		m.Measured.Command = fmt.Sprintf("bin/run cost -partitions %d -delay %v -pages %d -urls %d", c.partitions, c.delay, *pages, *urls)
		m = m.Rounded()
		fmt.Fprintf(out, "\n%s", m.Table())
		if err := m.Validate(); err != nil || *model == "" {
			return err
		}
		text, err := json.MarshalIndent(m, "", "  ")
		if err != nil {
			return err
		}
		return os.WriteFile(*model, append(text, '\n'), 0o644)
	})
}

// paced is what depends on the delay: a visit is reported once a second. A page
// has many links only on a domain of many pages, which would take too long at the
// delay of the others; so these are not taken from the crawl of many links, and
// no link costs any of them.
var paced = []string{
	"cpu/schedule", "cpu/fetch", "store/schedule", "replay/schedule",
	"bytes/scheduled", "records/scheduled", "bytes/visited", "records/visited",
}

// sample runs the crawls. Each has more of one thing than the others: bytes, links on as many
// bytes, domains, URLs. The differences give the cost of each thing.
func (b *bench) sample(ctx context.Context, one costCrawl, pages, urls int) ([]sample, error) {
	stamp := time.Now().Unix()
	few := pages / 20
	var samples []sample
	for _, c := range []struct {
		name string
		spec localweb.Spec
	}{
		{"warm", localweb.Spec{Pages: pages / 4, Domains: few, KiB: 12, Links: 10}}, // the broker compiles itself; not counted
		{"plain", localweb.Spec{Pages: pages, Domains: few, KiB: 12, Links: 10}},
		{"bytes", localweb.Spec{Pages: pages, Domains: few, KiB: 48, Links: 10}},
		{"links", localweb.Spec{Pages: pages, Domains: max(few/8, 1), KiB: 48, Links: 150}},
		{"domains", localweb.Spec{Pages: pages, Domains: 4 * few, KiB: 12, Links: 10}},
		{"queue", localweb.Spec{Pages: urls, Domains: 1000}},
	} {
		c.spec.Seed = 1
		crawl := one
		crawl.crawl, crawl.spec, crawl.queue = fmt.Sprintf("cost-%x-%s", stamp, c.name), c.spec, c.name == "queue"
		crawl.dir = filepath.Join(b.dir, crawl.crawl)
		if c.name == "links" {
			crawl.delay /= 10
		}
		s, err := crawl.run(ctx)
		if err != nil {
			return nil, fmt.Errorf("crawl %s: %w", c.name, err)
		}
		if c.name == "links" {
			for _, quantity := range paced {
				delete(s.taken, quantity)
			}
		}
		writeSample(b.out, c.name, s)
		if c.name != "warm" {
			samples = append(samples, s)
		}
	}
	return samples, nil
}

// modelOf finds what one of everything costs. Each quantity has the drivers that
// the stage's work depends on: normalize and dedupe look at every link, schedule
// only at those that are new.
func modelOf(samples []sample) plan.Model {
	m := plan.Model{
		Stages: map[string]plan.Stage{}, Topics: map[string]plan.Topic{}, Stores: map[string]plan.Cost{}, Replay: map[string]plan.Cost{},
		BrokerCPU: fit(samples, "cpu/broker", page, link, kib, domain, queued),
	}
	for stage, drivers := range map[topics.Stage][]driver{
		topics.Normalize: {page, link, queued},
		topics.Dedupe:    {page, link, queued},
		topics.Schedule:  {page, domain, queued},
		topics.Fetch:     {page, kib, domain},
		topics.Parse:     {page, link, kib},
	} {
		s := plan.Stage{CPU: fit(samples, "cpu/"+string(stage), drivers...)}
		least := samples[0].taken["idle/"+string(stage)]
		for _, sample := range samples {
			if idle, ok := sample.taken["idle/"+string(stage)]; ok {
				least = min(least, idle)
			}
			s.PeakMiB = max(s.PeakMiB, sample.taken["peak/"+string(stage)])
		}
		s.Idle = least
		m.Stages[string(stage)] = s
	}
	for topic, drivers := range map[string][]driver{
		"discovered": {page, link},
		"normalized": {page, link, queued},
		"deduped":    {page, queued},
		"scheduled":  {page, domain, queued},
		"fetched":    {page, kib},
		"visited":    {page, domain},
		"parsed":     {page, link, kib},
	} {
		m.Topics[topic] = plan.Topic{Bytes: fit(samples, "bytes/"+topic, drivers...), Records: fit(samples, "records/"+topic, drivers...)}
	}
	m.Stores["parse"] = fit(samples, "store/parse", page)
	for stage, drivers := range map[string][]driver{"dedupe": {page, queued}, "schedule": {page, domain, queued}} {
		m.Stores[stage] = fit(samples, "store/"+stage, drivers...)
		m.Replay[stage] = fit(samples, "replay/"+stage, drivers...)
	}
	for _, s := range samples {
		load := s.load
		load.KiB = math.Round(load.KiB)
		m.Measured.Samples = append(m.Measured.Samples, load)
	}
	return m
}

func writeSample(out io.Writer, name string, s sample) {
	per, unit := s.load.Pages, "page"
	if per == 0 {
		per, unit = s.load.Queued, "URL"
	}
	fmt.Fprintf(out, "%s: %.0f pages, %.1f links and %.1f KiB a page, %.0f domains, %.0f queued, in %.1f s; µs of CPU a %s:", name,
		s.load.Pages, s.load.Links/per, s.load.KiB/per, s.load.Domains, s.load.Queued, s.taken["seconds"], unit)
	for _, who := range []string{"normalize", "dedupe", "schedule", "fetch", "parse", "broker"} {
		if took, ok := s.taken["cpu/"+who]; ok {
			fmt.Fprintf(out, " %s %.0f", who, took/per)
		}
	}
	fmt.Fprintln(out)
}
