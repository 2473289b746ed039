package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/bench/localweb"
	"github.com/weftcrawl/weft/drain"
	"github.com/weftcrawl/weft/plan"
	"github.com/weftcrawl/weft/topics"
	"github.com/weftcrawl/weft/webtest"
)

// costCrawl is one crawl whose cost is measured, each stage in a process of its
// own. Without a web nothing is fetched: URLs are made known, and wait.
type costCrawl struct {
	costOptions
	name string
	// spec of the web; Pages is how many URLs are made known if queue is set.
	spec  localweb.Spec
	queue bool

	names  topics.Names
	dir    string
	stages []topics.Stage
	up     map[topics.Stage]*child
	admin  *kadm.Client
	reader *drain.Reader
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
	c.names, c.up, c.stages = topics.Loop(c.name), map[topics.Stage]*child{}, topics.Stages()
	if c.queue {
		c.stages = []topics.Stage{topics.Normalize, topics.Dedupe, topics.Schedule}
	}
	c.dir = filepath.Join(c.work, c.name)
	if err := os.MkdirAll(c.dir, 0o755); err != nil {
		return s, err
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(c.brokers))
	if err != nil {
		return s, err
	}
	defer client.Close()
	c.admin = kadm.NewClient(client)
	if err := c.weft(ctx, "topics", "create", "--partitions", strconv.Itoa(c.partitions), "--delay", c.delay.String(), "--allow-private", "--scope", "host"); err != nil {
		return s, err
	}
	if c.reader, err = drain.NewReader(c.names, kgo.SeedBrokers(c.brokers)); err != nil {
		return s, err
	}
	defer c.reader.Close()
	tail, err := startTail(c.names, c.brokers)
	if err != nil {
		return s, err
	}
	defer func() {
		for _, p := range c.up {
			p.kill()
		}
	}()
	s, err = c.crawl(ctx)
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
	c.ends, err = c.admin.ListEndOffsets(ctx, all...)
	for err == nil && t.behind(c.ends) {
		err = pause(ctx, polling)
	}
	return err
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

// crawl runs the processes until nothing is left to do.
func (c *costCrawl) crawl(ctx context.Context) (sample, error) {
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
	if err := pause(ctx, settling); err != nil {
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
		w, err := startWeb(filepath.Join(c.bin, "web"), c.spec, c.dir, false)
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
		// Of about the length that URLs have; nobody asks for them.
		fmt.Fprintf(out, "http://%s:9/catalogue/of-everything/section-%d/page-%d.html\n", webtest.DomainAddr(i%c.spec.Domains), i%97, i)
	}
	return file, func() {}, errors.Join(out.Flush(), f.Close())
}

// start starts a process of a stage with a data directory of its own.
func (c *costCrawl) start(stage topics.Stage, data string) error {
	data = filepath.Join(c.dir, data)
	p, err := start(append(c.command("run", string(stage)), "--data", data), data+".log")
	if err == nil {
		c.up[stage] = p
	}
	return err
}

// cpu is what each process has taken so far, and the broker if it is known.
func (c *costCrawl) cpu() (map[string]time.Duration, error) {
	taken, errs := map[string]time.Duration{}, []error(nil)
	add := func(name string, pid int) {
		var err error
		taken[name], err = processCPU(pid)
		errs = append(errs, err)
	}
	for stage, p := range c.up {
		add(string(stage), p.cmd.Process.Pid)
	}
	if c.brokerPID != 0 {
		add("broker", c.brokerPID)
	}
	return taken, errors.Join(errs...)
}

// idle is the cores that each process takes while there is nothing to do, and
// what it has taken after that.
func (c *costCrawl) idle(ctx context.Context) (cores map[string]float64, taken map[string]time.Duration, err error) {
	before, err := c.cpu()
	if err != nil {
		return nil, nil, err
	}
	from := time.Now()
	if err := pause(ctx, idling); err != nil {
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

// claimed waits until somebody has written to each partition of the ledgers
// since they ended at before: a claim is the first that a new owner writes.
func (c *costCrawl) claimed(ctx context.Context, before kadm.ListedOffsets) error {
	for {
		ends, err := c.admin.ListEndOffsets(ctx, before.Offsets().TopicsSet().Topics()...)
		if err != nil {
			return err
		}
		all := true
		ends.Each(func(end kadm.ListedOffset) {
			start, ok := before.Lookup(end.Topic, end.Partition)
			all = all && ok && end.Offset > start.Offset
		})
		if all {
			return nil
		}
		if err := c.look(ctx); err != nil {
			return err
		}
	}
}

// ended waits until the crawl is drained, or its URLs are all queued.
func (c *costCrawl) ended(ctx context.Context) error {
	for {
		status, err := c.reader.Read(ctx)
		if err != nil {
			return err
		}
		done := status.Drained() && status.Gauges.GetFetched() > 0
		if c.queue {
			done = status.Gauges.GetPending() >= int64(c.spec.Pages) &&
				status.Behind(topics.Normalize)+status.Behind(topics.Dedupe)+status.Behind(topics.Schedule) == 0
		}
		if done {
			return nil
		}
		if err := c.look(ctx); err != nil {
			return err
		}
	}
}

// look waits for the next look, and fails when a process has ended.
func (c *costCrawl) look(ctx context.Context) error {
	for stage, p := range c.up {
		select {
		case <-p.done:
			return fmt.Errorf("%s ended: %w%s", stage, errors.Join(p.err, errors.New("too early")), lastLines(filepath.Join(c.dir, string(stage)+".log")))
		default:
		}
	}
	return pause(ctx, polling)
}

// end interrupts the processes and looks at what they leave.
func (c *costCrawl) end(s sample) (err error) {
	for stage, p := range c.up {
		if kb, ok := peakKB(p.cmd.Process.Pid); ok {
			s.taken["peak/"+string(stage)] = float64(kb) / 1024
		}
	}
	for _, stage := range c.stages {
		err = errors.Join(err, c.up[stage].interrupt(patience))
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
		if err := c.up[stage].interrupt(patience); err != nil {
			return err
		}
		delete(c.up, stage)
	}
	return nil
}

// weft runs a command of the crawl to its end.
func (c *costCrawl) weft(ctx context.Context, args ...string) error {
	words := c.command(args...)
	if said, err := exec.CommandContext(ctx, words[0], words[1:]...).CombinedOutput(); err != nil {
		return fmt.Errorf("weft %s: %w\n%s", args[0], err, said)
	}
	return nil
}

func (c *costCrawl) command(args ...string) []string {
	return append(append([]string{filepath.Join(c.bin, "weft")}, args...), "--brokers", c.brokers, "--crawl", c.name)
}

// pause waits.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}
