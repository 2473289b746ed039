package processors

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/bodies"
	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/replay"
	"github.com/weftcrawl/weft/supervise"
)

// collector deletes the bodies in the store that no record refers to any more.
// It works beside every parse stage; two that delete the same do no harm.
//
// Of a body that its own stage has read it knows the record's place: once the
// log of fetched begins behind that, because parse, WARC and whoever takes a
// partition over are done with it, the object is deleted. That is exact, and
// all that happens in a crawl without accidents.
//
// What else lies in the store it sweeps: orphans, whose record was never
// written, and bodies that a process which is gone knew the places of. An object
// goes if no record of fetched refers to it, nor one in rejected, which may be
// replayed, and if it was there a whole round before: the record of a body that
// is being written now comes within seconds. No clock but this process's own
// has a say in that. A round that fails begins the waiting anew.
type collector struct {
	env  Env
	logs *replay.Reader

	mu sync.Mutex
	// places of the records of bodies, by key, that are deleted with them.
	places map[string]place
	// sighted are the keys that a round found and no record of before from.
	sighted map[string]sighting
	// ends of fetched when the last round began.
	ends map[int32]int64
}

// place is that of a record in fetched.
type place struct {
	partition int32
	offset    int64
}

// sighting of an object whose record, if it has one, stands at from or later.
type sighting struct{ from int64 }

const (
	// collectEvery is the time between two looks at where logs begin.
	collectEvery = 5 * time.Second
	// sweepEvery is the time between two sweeps, and the least age at which an
	// object without a record is an orphan. It is long, since orphans are rare and
	// cost little, but a record that comes after its body is gone costs a page.
	sweepEvery = time.Hour
	// unfinishedAge is when what a writer left unfinished is swept.
	unfinishedAge = time.Hour
	// maxPlaces bounds what is remembered; the rest is left to sweeps.
	maxPlaces = 200_000
)

func newCollector(env Env) (*collector, error) {
	logs, err := replay.New(env.connection()...)
	if err != nil {
		return nil, err
	}
	return &collector{env: env, logs: logs, places: map[string]place{}, sighted: map[string]sighting{}}, nil
}

// CollectBodies removes the bodies that no record refers to from env.Bodies
// while nobody writes or reads any.
func CollectBodies(ctx context.Context, env Env) error {
	c, err := newCollector(env)
	if err != nil {
		return err
	}
	defer c.close()
	return c.sweep(ctx, true)
}

func (c *collector) close() { c.logs.Close() }

// parsed notes that parse has done what there is to do with a record and the
// body that it refers to.
func (c *collector) parsed(r *kgo.Record, key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.places) < maxPlaces {
		c.places[key] = place{r.Partition, r.Offset}
	}
}

// run collects until ctx ends. Trouble is said and made up for by the next round.
func (c *collector) run(ctx context.Context) {
	var working sync.WaitGroup
	again := func(period time.Duration, do func() error) {
		working.Go(func() {
			_ = supervise.Every(ctx, period, func() error {
				if err := do(); err != nil && ctx.Err() == nil {
					c.env.Logger.Warn("bodies that nobody needs could not be removed", "error", err)
				}
				return nil
			})
		})
	}
	again(collectEvery, func() error { return c.collect(ctx) })
	again(sweepEvery, func() error { return c.sweep(ctx, false) })
	working.Wait()
}

// collect deletes the bodies whose records are gone.
func (c *collector) collect(ctx context.Context) error {
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

// sweep does one round. At rest means that nobody writes bodies or records at
// the moment: what has no record now will never have one.
func (c *collector) sweep(ctx context.Context, atRest bool) (err error) {
	defer func() {
		if err != nil {
			c.sighted, c.ends = map[string]sighting{}, nil
		}
	}()
	logs, err := c.logs.Bounds(ctx, c.env.Names.Fetched)
	if err != nil {
		return err
	}
	suspects, from, err := c.suspects(ctx, logs, atRest)
	if err == nil {
		err = c.acquit(ctx, suspects, from)
	}
	if err != nil {
		return err
	}
	for key := range suspects {
		if err := c.env.Bodies.Delete(ctx, key); err != nil {
			return err
		}
		delete(c.sighted, key)
	}
	then := time.Now().Add(-unfinishedAge)
	if atRest {
		then = time.Now().Add(unfinishedAge)
	}
	return c.env.Bodies.Sweep(ctx, then)
}

// suspects are the objects of unknown place that were there a round before, with
// their partitions, and from where on their records, if they have any, stand in
// fetched. Those that are new are sighted for the next round: the last one did
// not find them, so that their records come after the ends of logs at that time.
func (c *collector) suspects(ctx context.Context, logs map[int32]replay.Bounds, atRest bool) (suspects map[string]int32, from map[int32]replay.Bounds, err error) {
	c.mu.Lock()
	known := maps.Clone(c.places)
	c.mu.Unlock()
	suspects, from = map[string]int32{}, map[int32]replay.Bounds{}
	present := map[string]sighting{}
	for key, err := range c.env.Bodies.Keys(ctx) {
		if err != nil {
			return nil, nil, err
		}
		if _, ok := known[key.Name]; ok {
			continue
		}
		s, before := c.sighted[key.Name]
		if !before {
			s.from = c.ends[key.Partition]
		}
		present[key.Name] = s
		if !before && !atRest {
			continue
		}
		suspects[key.Name] = key.Partition
		if log, ok := logs[key.Partition]; ok {
			log.Start = max(log.Start, s.from)
			if other, ok := from[key.Partition]; ok {
				log.Start = min(log.Start, other.Start)
			}
			from[key.Partition] = log
		}
	}
	c.sighted, c.ends = present, map[int32]int64{}
	for partition, log := range logs {
		c.ends[partition] = log.End
	}
	return suspects, from, nil
}

// acquit takes those out of suspects that a record refers to, and notes the
// places of those of fetched.
func (c *collector) acquit(ctx context.Context, suspects map[string]int32, from map[int32]replay.Bounds) error {
	if len(suspects) == 0 {
		return nil
	}
	err := c.logs.Range(ctx, c.env.Names.Fetched, from, func(r *kgo.Record) error {
		key := bodies.Reference(r.Value).GetKey()
		if _, ok := suspects[key]; ok {
			delete(suspects, key)
			delete(c.sighted, key)
			c.parsed(r, key)
		}
		return nil
	})
	if err != nil || len(suspects) == 0 {
		return err
	}
	return c.logs.Records(ctx, c.env.Names.Rejected, func(r *kgo.Record) error {
		var rejected weftpb.Rejected
		if proto.Unmarshal(r.Value, &rejected) != nil || rejected.Topic != c.env.Names.Fetched {
			return nil
		}
		key := bodies.Reference(rejected.Value).GetKey()
		if partition, ok := suspects[key]; ok {
			delete(suspects, key)
			// What is replayed comes after what was looked through by now.
			c.sighted[key] = sighting{c.ends[partition]}
		}
		return nil
	})
}
