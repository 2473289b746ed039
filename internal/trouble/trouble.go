// Package trouble reports what keeps stages of a crawl from working. Reports go through the
// crawl's brokers, without a topic, so that all commands that read the crawl find them.
//
// A process commits an offset in the group CRAWL.troubles, which has no members, for the
// first input of the stage in trouble. The troubles are the metadata of that commit. The
// name of the process chooses the partition, so that processes rarely overwrite each
// other's troubles. The offset is 0 and has no meaning.
//
// A trouble that lasts is reported again, and its end is reported. A trouble that was not
// reported for [Lasting] is over, because a killed process cannot end its own. This compares
// the clocks of two machines, which should not differ by more than some seconds.
//
// A process also reports what it uses its memory for, beside its troubles ([Memory]).
//
// Reporting is best effort. It never fails a stage. If brokers are away, or do not permit
// it, there is no report.
package trouble

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
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
	// Disk: less disk is free than the reserve.
	Disk Kind = "disk"
	// Archive: the archive is so far behind that nothing is fetched.
	Archive Kind = "archive"
)

// Trouble is what keeps one stage of one process from working.
type Trouble struct {
	Stage topics.Stage `json:"stage"`
	// Member is the name of the process.
	Member string `json:"member"`
	Kind   Kind   `json:"kind"`
	// Says is a sentence; for a failing stage its error.
	Says string `json:"says"`
	// Times counts equal failures in a row, and Since is when the first was.
	Times int       `json:"times,omitempty"`
	Since time.Time `json:"since"`
	// At is the time of the report.
	At time.Time `json:"at"`
}

const (
	// Again is the longest time between two reports of a trouble that lasts.
	Again = 30 * time.Second
	// Lasting is how long a trouble counts after its report.
	Lasting = 3 * Again
)

// place is the topic of a stage's commits.
func place(names topics.Names, stage topics.Stage) string { return names.Inputs(stage)[0] }

// maxSays bounds a sentence: brokers accept 4,096 bytes of metadata by default, and they may
// have two troubles of a stage.
const maxSays = 600

const reportTimeout = 3 * time.Second

// Reporter reports the troubles of one process. It is safe for concurrent use. A nil Reporter
// reports nothing.
type Reporter struct {
	names      topics.Names
	admin      *kadm.Client
	member     string
	partitions int32

	mu     sync.Mutex
	known  map[topics.Stage]map[Kind]Trouble
	memory map[topics.Stage]Memory // at the most one
}

// NewReporter returns the reporter of the process with the name member, in a crawl with that
// number of partitions. The caller closes admin.
func NewReporter(names topics.Names, admin *kadm.Client, member string, partitions int32) *Reporter {
	return &Reporter{names: names, admin: admin, member: member, partitions: partitions, known: map[topics.Stage]map[Kind]Trouble{}, memory: map[topics.Stage]Memory{}}
}

// Report reports a trouble of a stage, with the stage's other troubles.
func (t *Reporter) Report(ctx context.Context, stage topics.Stage, what Trouble) {
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

// End ends a trouble.
func (t *Reporter) End(ctx context.Context, stage topics.Stage, kind Kind) {
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

func (t *Reporter) commit(ctx context.Context, stage topics.Stage) {
	all := []Trouble{}
	for _, s := range topics.Groups() { // two stages may have one place
		if place(t.names, s) != place(t.names, stage) {
			continue
		}
		for _, kind := range slices.Sorted(maps.Keys(t.known[s])) {
			all = append(all, t.known[s][kind])
		}
	}
	text, err := json.Marshal(all)
	if err != nil {
		return // times beyond the year 9999
	}
	text = t.withMemory(text, stage)
	ctx, cancel := context.WithTimeout(ctx, reportTimeout)
	defer cancel()
	offsets := kadm.Offsets{}
	offsets.Add(kadm.Offset{Topic: place(t.names, stage), Partition: slot(t.member, t.partitions), LeaderEpoch: -1, Metadata: string(text)})
	_, _ = t.admin.CommitOffsets(ctx, t.names.Troubles(), offsets)
}

func slot(member string, partitions int32) int32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(member))
	return int32(h.Sum32() % uint32(max(partitions, 1)))
}

// short makes a text one line, and cuts it.
func short(text string) string {
	text = strings.ToValidUTF8(strings.Join(strings.Fields(text), " "), "?")
	if len(text) > maxSays {
		text = strings.ToValidUTF8(text[:maxSays], "") + " …"
	}
	return text
}

// Read returns the troubles of a crawl that last at the time now, in the order of the loop.
func Read(ctx context.Context, names topics.Names, admin *kadm.Client, now time.Time) ([]Trouble, error) {
	reports, err := read(ctx, names, admin)
	if err != nil {
		return nil, err
	}
	var all []Trouble
	for _, r := range reports {
		var told []Trouble
		if json.Unmarshal(r.text, &told) != nil {
			continue // another program wrote it
		}
		for _, what := range told {
			if what.Stage == r.stage && now.Sub(what.At) < Lasting {
				what.Says, what.Member = short(what.Says), short(what.Member)
				all = append(all, what)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Trouble) int {
		order := topics.Groups()
		return cmp.Or(cmp.Compare(slices.Index(order, a.Stage), slices.Index(order, b.Stage)),
			cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Member, b.Member))
	})
	return all, nil
}

// report is the metadata of a commit for the first input of a stage.
type report struct {
	stage topics.Stage
	text  []byte
}

// read returns all reports. Stages with the same first input have the same reports.
func read(ctx context.Context, names topics.Names, admin *kadm.Client) (reports []report, err error) {
	answer := admin.FetchManyOffsets(ctx, names.Troubles())[names.Troubles()]
	if errors.Is(answer.Err, kerr.GroupIDNotFound) {
		return nil, nil // there was never a report
	}
	if answer.Err != nil {
		return nil, fmt.Errorf("read troubles of %s: %w", names.Crawl, answer.Err)
	}
	for _, stage := range topics.Groups() {
		for _, o := range answer.Fetched[place(names, stage)] {
			if o.Err == nil && o.Metadata != "" {
				reports = append(reports, report{stage, []byte(o.Metadata)})
			}
		}
	}
	return reports, nil
}
