// Package trouble tells what keeps stages of a crawl from working, by a way that
// everybody finds who looks at the crawl: through its brokers, without a topic.
//
// A process commits an offset in the group CRAWL.troubles, of which nobody is a
// member, for the first input of the stage in trouble, and writes the troubles
// into the metadata of that commit. The partition is chosen by the name of the
// process, so that processes rarely overwrite each other's. The offset is 0 and
// means nothing.
//
// A trouble that lasts is told again, and one that was not told for [Lasting] is
// over: a process that was killed cannot take its own back. That compares the
// clocks of two machines, which should not be further apart than some seconds.
//
// Telling is best effort. It never fails a stage; where brokers are away, or do
// not permit it, nothing is told.
package trouble

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/weftcrawl/weft/topics"
)

// Kind is what a trouble is.
type Kind string

// The kinds. Their names are in JSON and do not change.
const (
	// Fails: the stage ends by itself, again and again.
	Fails Kind = "fails"
	// Disk: less disk is free than is to be kept free.
	Disk Kind = "disk"
)

// Trouble is what keeps one stage of one process from working.
type Trouble struct {
	Stage topics.Stage `json:"stage"`
	// Member is the name of the process.
	Member string `json:"member"`
	Kind   Kind   `json:"kind"`
	// Says is the trouble in a sentence, the error of one that fails.
	Says string `json:"says"`
	// Times counts equal failures in a row, and Since is when the first was.
	Times int       `json:"times,omitempty"`
	Since time.Time `json:"since"`
	// At is when it was told.
	At time.Time `json:"at"`
}

const (
	// Again is how often a trouble that lasts has to be told at least.
	Again = 30 * time.Second
	// Lasting is how long a trouble is believed after it was told.
	Lasting = 3 * Again
)

// group holds the commits.
func group(names topics.Names) string { return names.Troubles() }

// place is the topic of a stage's commits.
func place(names topics.Names, stage topics.Stage) string { return names.Inputs(stage)[0] }

// maxSays bounds a sentence: brokers take 4,096 bytes of metadata by default, and
// two troubles of a stage may be in them.
const maxSays = 600

// tellTimeout bounds what telling may take.
const tellTimeout = 3 * time.Second

// Teller tells the troubles of one process. It is safe for concurrent use; a nil
// one tells nothing.
type Teller struct {
	names      topics.Names
	admin      *kadm.Client
	member     string
	partitions int32

	mu    sync.Mutex
	known map[topics.Stage]map[Kind]Trouble
}

// NewTeller returns the teller of the process called member. The crawl's topics
// have that many partitions. admin stays the caller's.
func NewTeller(names topics.Names, admin *kadm.Client, member string, partitions int32) *Teller {
	return &Teller{names: names, admin: admin, member: member, partitions: partitions, known: map[topics.Stage]map[Kind]Trouble{}}
}

// Tell tells a trouble of a stage, and what is known of others that it has.
func (t *Teller) Tell(ctx context.Context, stage topics.Stage, what Trouble) {
	if t == nil {
		return
	}
	what.Stage, what.Member, what.Says = stage, t.member, short(what.Says)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.known[stage] == nil {
		t.known[stage] = map[Kind]Trouble{}
	}
	t.known[stage][what.Kind] = what
	t.commit(ctx, stage)
}

// Over takes a trouble back.
func (t *Teller) Over(ctx context.Context, stage topics.Stage, kind Kind) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, ok := t.known[stage][kind]; ok {
		delete(t.known[stage], kind)
		t.commit(ctx, stage)
	}
}

// commit writes what is known of a stage.
func (t *Teller) commit(ctx context.Context, stage topics.Stage) {
	all := make([]Trouble, 0, len(t.known[stage]))
	for _, kind := range []Kind{Fails, Disk} {
		if what, ok := t.known[stage][kind]; ok {
			all = append(all, what)
		}
	}
	text, err := json.Marshal(all)
	if err != nil {
		return // times beyond the year 9999
	}
	ctx, cancel := context.WithTimeout(ctx, tellTimeout)
	defer cancel()
	offsets := kadm.Offsets{}
	offsets.Add(kadm.Offset{Topic: place(t.names, stage), Partition: slot(t.member, t.partitions), LeaderEpoch: -1, Metadata: string(text)})
	_, _ = t.admin.CommitOffsets(ctx, group(t.names), offsets)
}

func slot(member string, partitions int32) int32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(member))
	return int32(h.Sum32() % uint32(max(partitions, 1)))
}

// short makes one line of a text, and cuts it.
func short(text string) string {
	text = strings.ToValidUTF8(strings.Join(strings.Fields(text), " "), "?")
	if len(text) > maxSays {
		text = strings.ToValidUTF8(text[:maxSays], "") + " …"
	}
	return text
}

// Read returns the troubles of a crawl that last at a time, in the order of the
// loop.
func Read(ctx context.Context, names topics.Names, admin *kadm.Client, now time.Time) ([]Trouble, error) {
	answer := admin.FetchManyOffsets(ctx, group(names))[group(names)]
	if errors.Is(answer.Err, kerr.GroupIDNotFound) {
		return nil, nil // nothing was ever told
	}
	if answer.Err != nil {
		return nil, fmt.Errorf("read troubles of %s: %w", names.Crawl, answer.Err)
	}
	var all []Trouble
	for _, stage := range topics.Stages() {
		for _, o := range answer.Fetched[place(names, stage)] {
			var told []Trouble
			if o.Err != nil || json.Unmarshal([]byte(o.Metadata), &told) != nil {
				continue // nothing, or not ours
			}
			for _, what := range told {
				if what.Stage == stage && now.Sub(what.At) < Lasting {
					what.Says, what.Member = short(what.Says), short(what.Member)
					all = append(all, what)
				}
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Trouble) int {
		if order := slices.Index(topics.Stages(), a.Stage) - slices.Index(topics.Stages(), b.Stage); order != 0 {
			return order
		}
		return strings.Compare(string(a.Kind)+a.Member, string(b.Kind)+b.Member)
	})
	return all, nil
}
