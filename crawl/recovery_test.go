package crawl_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/IBM/sarama"
	"github.com/cockroachdb/pebble/v2"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/crawl"
	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/ledger"
	"github.com/weftcrawl/weft/processors/dedupe"
	"github.com/weftcrawl/weft/processors/schedule/frontier"
	"github.com/weftcrawl/weft/test/memstore"
	"github.com/weftcrawl/weft/test/webserver"
	"github.com/weftcrawl/weft/topics"
)

// Recovery of dedupe and schedule is exact: after a crawl that was stopped and
// killed, the whole key space of each published checkpoint equals the fold of
// the ledger from an empty store. The one of a stop is a checkpoint in the
// middle; the last was made on it and the rest of the ledger, after kills; the
// one after it by stages whose states were deleted.
func TestStatesAreTheFoldOfTheirLedgers(t *testing.T) {
	if testing.Short() {
		t.Skip("kills, and waits for the sessions of the dead")
	}
	t.Parallel()
	w := serve(t, everything, webserver.ServerOptions{})
	o := options(t, w)
	if result := stopped(t, o, w.at(90)); result.Ended != crawl.EndedInterrupted {
		t.Fatalf("ended %s", result.Ended)
	}
	middle := exact(t, "in the middle", o)
	killed(t, w, process{Dir: o.Dir}, 40, 60)
	last := exact(t, "at the end", o)
	o.Seeds = [][]byte{[]byte(w.server.Seeds()[0] + "more")} // work for every stage
	for name := range last {
		if err := os.RemoveAll(name); err != nil {
			t.Fatal(err)
		}
	}
	run(t, o, crawl.EndedDrained)
	rebuilt := exact(t, "from an empty disk", o)
	for name, offset := range last {
		if middle[name] >= offset || rebuilt[name] < offset {
			t.Errorf("%s: checkpoints at %d, %d and %d, which should grow", name, middle[name], offset, rebuilt[name])
		}
	}
}

// state is what a stage keeps of a partition.
type state interface {
	apply(domain string, body []byte, offset int64) error
}

// dedupeState is all that the stage keeps: URLs that are seen, kept for merged ones, or held back.
type dedupeState struct{ ledger.State }

func (s dedupeState) apply(domain string, body []byte, offset int64) error {
	return s.Apply(domain, body, offset)
}

type scheduleState struct{ *frontier.Frontier }

func (s scheduleState) apply(domain string, body []byte, offset int64) error {
	var ev weftpb.Scheduled
	if err := proto.Unmarshal(body, &ev); err != nil {
		return err
	}
	return s.Apply(domain, &ev, offset)
}

// exact holds each published checkpoint of a crawl that does not run against
// the fold of its ledger, in a subtest. It returns the checkpoints' offsets by
// their directories.
func exact(t *testing.T, when string, o crawl.Options) map[string]int64 {
	t.Helper()
	names, offsets := topics.Loop(o.Definition.Crawl), map[string]int64{}
	t.Run(when, func(t *testing.T) {
		client := reopened(t, o)
		for topic, open := range map[string]func(partition int32, store *memstore.Store) state{
			names.Deduped: func(number int32, store *memstore.Store) state {
				stage := dedupe.Define(stage.Env{Names: names, Definition: o.Definition})
				p, err := ledger.NewPartition(stage, number, store, ledger.Nothing(), ledger.PartitionOptions{})
				if err != nil {
					t.Fatal(err)
				}
				return dedupeState{p.State()}
			},
			names.Scheduled: func(partition int32, store *memstore.Store) state {
				opts := frontier.DefaultOptions()
				opts.Partition, opts.Allowed = partition, func(*weftpb.Robots, string) bool { return true }
				return scheduleState{frontier.New(opts, store)}
			},
		} {
			log := readTopic(t, client, topic)
			found := checkpointsOf(t, o.Dir, topic)
			if len(found) == 0 {
				t.Errorf("no checkpoint of %s in %s", topic, o.Dir)
			}
			for partition, c := range found {
				offsets[c.partitionDir] = c.Offset
				store := new(memstore.Store)
				fold(t, log, partition, c.Offset, open(partition, store))
				want, got := map[string]string{}, keys(t, filepath.Join(c.partitionDir, c.Dir))
				store.Scan(nil, bytes.Repeat([]byte{0xff}, 64), func(key, value []byte) bool {
					want[string(key)] = string(value)
					return true
				})
				if d := cmp.Diff(want, got); d != "" || len(want) == 0 {
					t.Errorf("%s/%d at %d: fold of %d keys and checkpoint differ:\n%s", topic, partition, c.Offset, len(want), d)
				}
			}
		}
	})
	return offsets
}

// fold folds the events of a partition up to an offset.
func fold(t *testing.T, log []*sarama.ConsumerMessage, partition int32, last int64, s state) {
	t.Helper()
	var reader ledger.EventReader
	for _, r := range log {
		if r.Partition != partition || r.Offset > last {
			continue
		}
		ev, err := reader.Read(r.Value, r.Topic, r.Partition, r.Offset)
		if err == nil && ev != nil && len(ev.Body) > 0 {
			err = s.apply(string(r.Key), ev.Body, r.Offset)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// published is a checkpoint of a partition as it stands in its directory.
type published struct {
	partitionDir string
	Dir          string
	Offset       int64
}

// checkpointsOf returns the published checkpoints of a ledger by partition.
func checkpointsOf(t *testing.T, dir, topic string) map[int32]published {
	t.Helper()
	found := map[int32]published{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.Name() != "CHECKPOINT" {
			return err
		}
		partition := filepath.Dir(path)
		if !strings.HasPrefix(filepath.Base(filepath.Dir(partition)), topic+"-") {
			return nil
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var sealed struct{ Checkpoint published }
		if err := json.Unmarshal(raw, &sealed); err != nil {
			return err
		}
		n, err := strconv.Atoi(filepath.Base(partition))
		sealed.Checkpoint.partitionDir = partition
		found[int32(n)] = sealed.Checkpoint
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// keys is the whole key space of a Pebble directory.
func keys(t *testing.T, dir string) map[string]string {
	t.Helper()
	db, err := pebble.Open(dir, &pebble.Options{ReadOnly: true, Logger: quiet{}})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	it, err := db.NewIter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer it.Close()
	all := map[string]string{}
	for ok := it.First(); ok; ok = it.Next() {
		all[string(it.Key())] = string(it.Value())
	}
	return all
}

// quiet drops what Pebble logs; errors come back from its calls.
type quiet struct{ pebble.Logger }

func (quiet) Infof(string, ...any) {}
