package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/bench/localweb"
	"github.com/weftcrawl/weft/inspect/plan"
	"github.com/weftcrawl/weft/inspect/status"
	"github.com/weftcrawl/weft/internal/kafka"
	"github.com/weftcrawl/weft/test/child"
	"github.com/weftcrawl/weft/test/webserver"
	"github.com/weftcrawl/weft/topics"
)

// costCrawl is one crawl whose cost is measured, each stage in a process of its
// own. Without a web nothing is fetched: URLs are made known, and wait.
type costCrawl struct {
	clusterCrawl
	broker     *kafkaBroker
	partitions int
	delay      time.Duration
	// spec of the web; Pages is how many URLs are made known if queue is set.
	spec  localweb.Spec
	queue bool
	dir   string

	names  topics.Names
	stages []topics.Stage
	up     map[topics.Stage]*child.Process
	admin  *kadm.Client
	reader *status.Monitor
	ends   kadm.ListedOffsets // of all topics, when all was done
}

// Times of a measurement.
const (
	settling = 3 * time.Second        // after the ledgers are claimed, until all groups are at work
	idling   = 5 * time.Second        // in which the cost of doing nothing is measured
	polling  = 250 * time.Millisecond // between two looks
)

// run returns what the crawl did and took.
func (c *costCrawl) run(ctx context.Context) (s sample, err error) {
	c.names, c.up, c.stages = topics.Loop(c.crawl), map[topics.Stage]*child.Process{}, topics.Stages()
	if c.queue {
		c.stages = []topics.Stage{topics.Normalize, topics.Dedupe, topics.Schedule}
	}
	if err := os.MkdirAll(c.dir, 0o755); err != nil {
		return s, err
	}
	client, err := kafka.At(c.brokers).NewClient()
	if err != nil {
		return s, err
	}
	defer client.Close()
	c.admin = kadm.NewClient(client)
	if err := c.create(ctx, c.partitions, c.delay); err != nil {
		return s, err
	}
	if c.reader, err = status.NewMonitor(c.names, kgo.SeedBrokers(c.brokers)); err != nil {
		return s, err
	}
	defer c.reader.Close()
	tail, err := startTail(c.names, c.brokers)
	if err != nil {
		return s, err
	}
	defer func() {
		for _, p := range c.up {
			p.Kill()
		}
	}()
	s, err = c.measure(ctx)
	if err == nil {
		err = c.await(ctx, tail)
	}
	s.load, err = c.count(tail, s, err)
	if err != nil {
		return s, err
	}
	return s, c.replay(ctx, s)
}

// await waits until the tail has read all that was written.
func (c *costCrawl) await(ctx context.Context, t *tail) error {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errors.New("the topics were not read to their ends"))
	defer cancel()
	var all []string
	for _, topic := range c.names.Topics() {
		all = append(all, topic.Name)
	}
	var err error
	if c.ends, err = c.admin.ListEndOffsets(ctx, all...); err != nil {
		return err
	}
	return c.until(ctx, func() (bool, error) { return !t.behind(c.ends), nil })
}

// count adds to a sample what was written to the topics. What was trimmed before
// the tail came to it is taken to be like the rest.
func (c *costCrawl) count(t *tail, s sample, err error) (load plan.Load, _ error) {
	load, sizes, errTail := t.stop()
	if err := errors.Join(err, errTail); err != nil {
		return load, err
	}
	written := map[string]float64{}
	c.ends.Each(func(end kadm.ListedOffset) {
		if topic, ok := c.names.Topic(end.Topic); ok {
			written[topic.Short] += float64(end.Offset)
		}
	})
	unseen := func(topic string) float64 { return written[topic] / max(sizes[topic].records, 1) }
	for name, size := range sizes {
		s.taken["bytes/"+name], s.taken["records/"+name] = size.bytes*unseen(name), written[name]
	}
	if c.queue {
		load.Queued = float64(c.spec.Pages)
		return load, nil
	}
	load.Domains = float64(c.spec.Domains)
	load.Pages *= unseen("fetched")
	load.KiB *= unseen("fetched")
	load.Links *= unseen("discovered")
	return load, nil
}

// measure runs the processes until nothing is left to do.
func (c *costCrawl) measure(ctx context.Context) (sample, error) {
	s := sample{taken: map[string]float64{}}
	seeds, stop, err := c.seeds()
	if err != nil {
		return s, err
	}
	defer stop()
	empty, err := c.admin.ListEndOffsets(ctx, c.names.Deduped, c.names.Scheduled)
	if err != nil {
		return s, err
	}
	for _, stage := range c.stages {
		if err := c.start(stage, string(stage)); err != nil {
			return s, err
		}
	}
	if err := c.claimed(ctx, empty); err != nil {
		return s, err
	}
	started, err := c.cpu()
	if err != nil {
		return s, err
	}
	for name, took := range started {
		s.taken["start/"+name] = float64(took.Microseconds())
	}
	if err := wait(ctx, settling); err != nil {
		return s, err
	}
	before, begun, err := c.idle(ctx)
	if err != nil {
		return s, err
	}
	from := time.Now()
	if err := c.weft(ctx, "seed", seeds); err != nil {
		return s, err
	}
	if err := c.ended(ctx); err != nil {
		return s, err
	}
	wall := time.Since(from)
	done, err := c.cpu()
	if err != nil {
		return s, err
	}
	after, _, err := c.idle(ctx)
	if err != nil {
		return s, err
	}
	s.taken["seconds"] = wall.Seconds()
	for name := range done {
		// A start is over late on a busy machine, and so is an end.
		cores := min(before[name], after[name])
		s.taken["idle/"+name] = cores
		s.taken["cpu/"+name] = max(float64((done[name]-begun[name]).Microseconds())-cores*float64(wall.Microseconds()), 0)
	}
	return s, c.end(s)
}

// seeds starts the web, if there is one, and returns a file of seeds.
func (c *costCrawl) seeds() (file string, stop func(), err error) {
	if !c.queue {
		w, err := startWeb(c.bin, c.spec, c.dir)
		if err != nil {
			return "", nil, err
		}
		return w.seeds, func() { _, _, _ = w.stop() }, nil
	}
	file = filepath.Join(c.dir, "seeds.txt")
	f, err := os.Create(file)
	if err != nil {
		return "", nil, err
	}
	out := bufio.NewWriter(f)
	for i := range c.spec.Pages {
		// Of about the length that URLs have; they are not fetched.
		fmt.Fprintf(out, "http://%s:9/catalogue/of-everything/section-%d/page-%d.html\n", webserver.DomainAddr(i%c.spec.Domains), i%97, i)
	}
	return file, func() {}, errors.Join(out.Flush(), f.Close())
}

// start starts a process of a stage with a data directory of its own.
func (c *costCrawl) start(stage topics.Stage, data string) error {
	p, err := c.clusterCrawl.start(string(stage), filepath.Join(c.dir, data))
	if err == nil {
		c.up[stage] = p
	}
	return err
}

// cpu is what each process has taken so far, and the broker if it is known.
func (c *costCrawl) cpu() (map[string]time.Duration, error) {
	taken := map[string]time.Duration{}
	var err error
	if c.broker.pid != 0 {
		taken["broker"], err = c.broker.cpu()
	}
	for stage, p := range c.up {
		took, errStage := processCPU(p.Process.Pid)
		taken[string(stage)], err = took, errors.Join(err, errStage)
	}
	return taken, err
}

// idle returns the cores that each process takes while there is nothing to do, and the CPU that it
// has taken after that.
func (c *costCrawl) idle(ctx context.Context) (cores map[string]float64, taken map[string]time.Duration, err error) {
	before, err := c.cpu()
	if err != nil {
		return nil, nil, err
	}
	from := time.Now()
	if err := wait(ctx, idling); err != nil {
		return nil, nil, err
	}
	if taken, err = c.cpu(); err != nil {
		return nil, nil, err
	}
	cores = map[string]float64{}
	for name := range taken {
		cores[name] = float64(taken[name]-before[name]) / float64(time.Since(from))
	}
	return cores, taken, nil
}

// claimed waits until each partition of the ledgers has a record behind its end in before: a claim
// is the first that a new owner writes.
func (c *costCrawl) claimed(ctx context.Context, before kadm.ListedOffsets) error {
	return c.until(ctx, func() (all bool, err error) {
		ends, err := c.admin.ListEndOffsets(ctx, before.Offsets().TopicsSet().Topics()...)
		all = err == nil
		ends.Each(func(end kadm.ListedOffset) {
			start, ok := before.Lookup(end.Topic, end.Partition)
			all = all && ok && end.Offset > start.Offset
		})
		return all, err
	})
}

// ended waits until the crawl is drained, or its URLs are all queued.
func (c *costCrawl) ended(ctx context.Context) error {
	return c.until(ctx, func() (bool, error) {
		status, err := c.reader.Read(ctx)
		if err != nil || !c.queue {
			return err == nil && status.Drained() && status.Gauges.GetFetched() > 0, err
		}
		behind := status.Behind(topics.Normalize) + status.Behind(topics.Dedupe) + status.Behind(topics.Schedule)
		return status.Gauges.GetPending() >= int64(c.spec.Pages) && behind == 0, nil
	})
}

// until looks again and again until something holds, and fails when a process has
// ended.
func (c *costCrawl) until(ctx context.Context, holds func() (bool, error)) error {
	for {
		if done, err := holds(); done || err != nil {
			return err
		}
		for stage, p := range c.up {
			select {
			case <-p.Ended:
				return fmt.Errorf("%s ended: %w%s", stage, errors.Join(p.Err, errors.New("too early")), lastLines(filepath.Join(c.dir, string(stage)+".log")))
			default:
			}
		}
		if err := wait(ctx, polling); err != nil {
			return err
		}
	}
}

// end interrupts the processes and looks at what they leave.
func (c *costCrawl) end(s sample) (err error) {
	for stage, p := range c.up {
		if kb, ok := peakKB(p.Process.Pid); ok {
			s.taken["peak/"+string(stage)] = float64(kb) / 1024
		}
	}
	for _, stage := range c.stages {
		err = errors.Join(err, interrupt(c.up[stage]))
		delete(c.up, stage)
	}
	for _, stage := range []topics.Stage{topics.Dedupe, topics.Schedule, topics.Parse} {
		if !slices.Contains(c.stages, stage) {
			continue
		}
		bytes, errSize := diskBytes(filepath.Join(c.dir, string(stage)))
		s.taken["store/"+string(stage)] = float64(bytes)
		err = errors.Join(err, errSize)
	}
	return err
}

// replay starts the ledgers' stages once more, with nothing but their topics.
// What that takes more than the start with empty topics is the replay.
func (c *costCrawl) replay(ctx context.Context, s sample) error {
	for stage, ledger := range map[topics.Stage]string{topics.Dedupe: c.names.Deduped, topics.Schedule: c.names.Scheduled} {
		before, err := c.admin.ListEndOffsets(ctx, ledger)
		if err != nil {
			return err
		}
		if err := c.start(stage, "replay-"+string(stage)); err != nil {
			return err
		}
		if err := c.claimed(ctx, before); err != nil {
			return err
		}
		taken, err := c.cpu()
		if err != nil {
			return err
		}
		s.taken["replay/"+string(stage)] = max(float64(taken[string(stage)].Microseconds())-s.taken["start/"+string(stage)], 0)
		if err := interrupt(c.up[stage]); err != nil {
			return err
		}
		delete(c.up, stage)
	}
	return nil
}
