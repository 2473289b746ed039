package parse

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/bodies"
	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/internal/supervise"
	"github.com/weftcrawl/weft/internal/topiclog"
)

// bodyCollector deletes the bodies in the store that no record refers to any more. It
// runs beside every parse stage. Two of them that delete the same body do no harm.
//
// It knows the place in fetched of each record whose body its own stage has read. When
// the log of fetched begins behind that place, all readers of fetched have read the
// record, and the body is deleted. This is exact, and it is all that happens in a crawl
// without accidents.
//
// A sweep finds the rest: bodies whose record was never written, and bodies whose place
// is not known because a process has ended. A sweep deletes a body if no record of
// fetched and no record of rejected, which may be replayed, refers to it, and if the
// sweep before found the body too: the record of a body that is being written now comes
// within seconds. Only the clock of this process decides how old a body is. A sweep that
// fails counts as if it had found nothing.
type bodyCollector struct {
	env  stage.Env
	logs *topiclog.Reader

	mu sync.Mutex
	// places of the records of bodies, by key. A body is deleted with its record.
	places map[string]place

	// unplaced are the bodies of unknown place that the last sweep found. If one of them
	// has a record in fetched, it stands at this offset or later.
	unplaced map[string]int64
	// ends of the partitions of fetched when the last sweep began.
	ends map[int32]int64
}

type place struct {
	partition int32
	offset    int64
}

const (
	// collectEvery is the time between two looks at where logs begin.
	collectEvery = 5 * time.Second
	// sweepEvery is the time between two sweeps, and the least age of a body that is
	// deleted because it has no record. It is long, because such bodies are rare and
	// cost little, but a record whose body is deleted too early costs a page.
	sweepEvery = time.Hour
	// unfinishedAge is the age at which a file that a writer left unfinished is deleted.
	unfinishedAge = time.Hour
	// maxPlaces bounds the memory for places. Sweeps find what is beyond it.
	maxPlaces = 200_000
)

func newBodyCollector(env stage.Env) (*bodyCollector, error) {
	logs, err := topiclog.New(env.Cluster.Options()...)
	if err != nil {
		return nil, err
	}
	return &bodyCollector{env: env, logs: logs, places: map[string]place{}, unplaced: map[string]int64{}}, nil
}

// CollectBodies removes the bodies that no record refers to from env.Bodies. No
// process may write or read bodies meanwhile.
func CollectBodies(ctx context.Context, env stage.Env) error {
	c, err := newBodyCollector(env)
	if err != nil {
		return err
	}
	defer c.close()
	return c.sweep(ctx, true)
}

func (c *bodyCollector) close() { c.logs.Close() }

// used notes the place of a record that the stage has no more work with, and the key
// of its body.
func (c *bodyCollector) used(r *kgo.Record, key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.places) < maxPlaces {
		c.places[key] = place{r.Partition, r.Offset}
	}
}

// start collects until ctx ends or stop is called, which waits for the end. An error is
// logged; the next round does the work again.
func (c *bodyCollector) start(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var working sync.WaitGroup
	again := func(period time.Duration, do func() error) {
		working.Go(func() {
			_ = supervise.Every(ctx, period, func() error {
				if err := do(); err != nil && ctx.Err() == nil {
					c.env.Logger.Warn("bodies that no record refers to could not be removed", "error", err)
				}
				return nil
			})
		})
	}
	again(collectEvery, func() error { return c.collect(ctx) })
	again(sweepEvery, func() error { return c.sweep(ctx, false) })
	return func() {
		cancel()
		working.Wait()
	}
}

// collect deletes the bodies whose records are gone.
func (c *bodyCollector) collect(ctx context.Context) error {
	c.mu.Lock()
	places := maps.Clone(c.places)
	c.mu.Unlock()
	if len(places) == 0 {
		return nil
	}
	logs, err := c.logs.Bounds(ctx, c.env.Names.Fetched)
	if err != nil {
		return err
	}
	var first error
	for key, p := range places {
		if log, ok := logs[p.partition]; !ok || p.offset >= log.Start {
			continue
		}
		if err := c.env.Bodies.Delete(ctx, key); err != nil {
			first = errors.Join(first, err)
			if ctx.Err() != nil {
				break
			}
			continue
		}
		c.mu.Lock()
		delete(c.places, key)
		c.mu.Unlock()
	}
	return first
}

// sweep deletes bodies that no record refers to. exclusive: no process writes bodies or
// records meanwhile, so that a body without a record now will never have one.
func (c *bodyCollector) sweep(ctx context.Context, exclusive bool) (err error) {
	defer func() {
		if err != nil {
			c.unplaced, c.ends = map[string]int64{}, nil
		}
	}()
	logs, err := c.logs.Bounds(ctx, c.env.Names.Fetched)
	if err != nil {
		return err
	}
	candidates, where, err := c.candidates(ctx, logs, exclusive)
	if err == nil {
		err = c.keepReferenced(ctx, candidates, where)
	}
	if err != nil {
		return err
	}
	for key := range candidates {
		if err := c.env.Bodies.Delete(ctx, key); err != nil {
			return err
		}
		delete(c.unplaced, key)
	}
	then := time.Now().Add(-unfinishedAge)
	if exclusive {
		then = time.Now().Add(unfinishedAge)
	}
	return c.env.Bodies.Sweep(ctx, then)
}

// candidates returns the bodies of unknown place that the last sweep found too, with
// their partitions, and where in fetched their records are if they have any. Bodies
// that are found for the first time wait for the next sweep: the last sweep did not
// find them, so that their records come after the ends of the logs at that time.
func (c *bodyCollector) candidates(ctx context.Context, logs map[int32]topiclog.Bounds, exclusive bool) (candidates map[string]int32, where map[int32]topiclog.Bounds, err error) {
	c.mu.Lock()
	placed := maps.Clone(c.places)
	c.mu.Unlock()
	candidates, where = map[string]int32{}, map[int32]topiclog.Bounds{}
	unplaced := map[string]int64{}
	for key, err := range c.env.Bodies.Keys(ctx) {
		if err != nil {
			return nil, nil, err
		}
		if _, ok := placed[key.Name]; ok {
			continue
		}
		from, before := c.unplaced[key.Name]
		if !before {
			from = c.ends[key.Partition]
		}
		unplaced[key.Name] = from
		if !before && !exclusive {
			continue
		}
		candidates[key.Name] = key.Partition
		if log, ok := logs[key.Partition]; ok {
			log.Start = max(log.Start, from)
			if other, ok := where[key.Partition]; ok {
				log.Start = min(log.Start, other.Start)
			}
			where[key.Partition] = log
		}
	}
	c.unplaced, c.ends = unplaced, map[int32]int64{}
	for partition, log := range logs {
		c.ends[partition] = log.End
	}
	return candidates, where, nil
}

// keepReferenced removes the bodies from candidates that a record refers to. It notes
// the places of records of fetched.
func (c *bodyCollector) keepReferenced(ctx context.Context, candidates map[string]int32, where map[int32]topiclog.Bounds) error {
	if len(candidates) == 0 {
		return nil
	}
	err := c.logs.Range(ctx, c.env.Names.Fetched, where, func(r *kgo.Record) error {
		key := bodies.Reference(r.Value).GetKey()
		if _, ok := candidates[key]; ok {
			delete(candidates, key)
			delete(c.unplaced, key)
			c.used(r, key)
		}
		return nil
	})
	if err != nil || len(candidates) == 0 {
		return err
	}
	return c.logs.Records(ctx, c.env.Names.Rejected, func(r *kgo.Record) error {
		var rejected weftpb.Rejected
		if proto.Unmarshal(r.Value, &rejected) != nil || rejected.Topic != c.env.Names.Fetched {
			return nil
		}
		key := bodies.Reference(rejected.Value).GetKey()
		if partition, ok := candidates[key]; ok {
			delete(candidates, key)
			// If the record is replayed, its copy comes after the end of the log.
			c.unplaced[key] = c.ends[partition]
		}
		return nil
	})
}
