package why

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/weftcrawl/weft/internal/trouble"
)

// ProcessMemory is what a process uses its memory for, by its last report.
type ProcessMemory struct {
	// Member is the name of the process.
	Member string `json:"member"`
	// Bytes are the sum of all uses. The program itself is not in it.
	Bytes int64 `json:"bytes"`
	// LimitBytes is the soft limit, 0 if there is none.
	LimitBytes int64 `json:"limit_bytes,omitempty"`
	// Uses are the bytes of each use, see memory.Use.
	Uses map[string]int64 `json:"uses"`
}

// memoryOf returns the memory of processes, the largest first.
func memoryOf(reports []trouble.Memory) (all []ProcessMemory) {
	for _, r := range reports {
		m := ProcessMemory{Member: r.Member, LimitBytes: r.Limit, Uses: r.Uses}
		for _, bytes := range r.Uses {
			m.Bytes += bytes
		}
		all = append(all, m)
	}
	slices.SortStableFunc(all, func(a, b ProcessMemory) int { return cmp.Compare(b.Bytes, a.Bytes) })
	return all
}

// shownUses is the number of uses that the text names.
const shownUses = 5

// Largest lists the largest uses: "garbage 40 %, block_cache 12 %".
func (m ProcessMemory) Largest() string {
	uses := slices.SortedFunc(maps.Keys(m.Uses), func(a, b string) int {
		return cmp.Or(cmp.Compare(m.Uses[b], m.Uses[a]), cmp.Compare(a, b))
	})
	var texts []string
	for _, use := range uses[:min(len(uses), shownUses)] {
		texts = append(texts, fmt.Sprintf("%s %s", use, percent(m.Uses[use], m.Bytes)))
	}
	return strings.Join(texts, ", ")
}
