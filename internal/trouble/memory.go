package trouble

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/weftcrawl/weft/topics"
)

// Memory is what a process uses its memory for.
type Memory struct {
	// Kind is KindMemory. A Memory stands in the list of the process's troubles, where readers
	// ignore what has no stage.
	Kind Kind `json:"kind"`
	// Member is the name of the process.
	Member string `json:"member"`
	// At is the time of the report.
	At time.Time `json:"at"`
	// Limit is the soft limit of the memory in bytes, 0 without a limit.
	Limit int64 `json:"limit,omitempty"`
	// Uses are the bytes of each use, see memory.Use.
	Uses map[string]int64 `json:"uses"`
}

// KindMemory marks a Memory.
const KindMemory Kind = "memory"

// maxMetadata is the largest metadata of a commit that brokers accept by default.
const maxMetadata = 4096

// Memory reports the memory of this process, which runs stage. A report without an error of
// the stage is at the most some 600 bytes.
func (t *Reporter) Memory(ctx context.Context, stage topics.Stage, what Memory) {
	if t == nil {
		return
	}
	what.Kind, what.Member = KindMemory, t.member
	t.mu.Lock()
	defer t.mu.Unlock()
	clear(t.memory)
	t.memory[stage] = what
	t.commit(ctx, stage)
}

// withMemory appends the memory of the process to the troubles of a stage, a list in JSON, if
// it is reported with them and the list does not get too long.
func (t *Reporter) withMemory(list []byte, stage topics.Stage) []byte {
	for s, what := range t.memory {
		text, err := json.Marshal(what)
		if err != nil || place(t.names, s) != place(t.names, stage) || len(list)+len(text)+1 > maxMetadata {
			continue
		}
		list = bytes.TrimSuffix(list, []byte("]"))
		if len(list) > 1 {
			list = append(list, ',')
		}
		list = append(append(list, text...), ']')
	}
	return list
}

// ReadMemory returns the reports about the memory of processes that are not older than Lasting,
// sorted by the name of the process.
func ReadMemory(ctx context.Context, names topics.Names, admin *kadm.Client, now time.Time) ([]Memory, error) {
	reports, err := read(ctx, names, admin)
	if err != nil {
		return nil, err
	}
	var all []Memory
	for _, r := range reports {
		var told []Memory
		if json.Unmarshal(r.text, &told) != nil {
			continue // another program wrote it
		}
		for _, what := range told {
			if what.Kind == KindMemory && now.Sub(what.At) < Lasting {
				what.Member = short(what.Member)
				all = append(all, what)
			}
		}
	}
	slices.SortFunc(all, func(a, b Memory) int { return cmp.Or(cmp.Compare(a.Member, b.Member), b.At.Compare(a.At)) })
	return slices.CompactFunc(all, func(a, b Memory) bool { return a.Member == b.Member }), nil
}
