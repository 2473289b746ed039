package processors

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
	"pgregory.net/rapid"
)

// Whatever order records finish in, a commit never passes an unfinished one,
// and when all are finished it stands at the last.
func TestProgressCommitsOldestUnfinishedFirst(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "records")
		order := rapid.Permutation(indexes(n)).Draw(t, "order")
		p := new(Progress)
		for i := range n {
			p.Begin(&kgo.Record{Offset: int64(10 + 2*i)}) // offsets may have gaps
		}
		finished := make([]bool, n)
		committed := -1
		for _, i := range order {
			finished[i] = true
			if last := p.Finish(int64(10 + 2*i)); last != nil {
				committed = int(last.Offset-10) / 2
			}
			for j := range committed + 1 {
				if !finished[j] {
					t.Fatalf("committed record %d while %d is unfinished", committed, j)
				}
			}
			if committed+1 < n && finished[committed+1] {
				t.Fatalf("record %d is finished and the commit stands at %d", committed+1, committed)
			}
		}
		if committed != n-1 {
			t.Fatalf("all finished, commit stands at %d of %d", committed, n-1)
		}
	})
}

func indexes(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}
