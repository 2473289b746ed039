package processors

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

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

// partitions is an owner that says what it is told.
type partitions chan string

func (p partitions) take(numbers []int32) { p <- fmt.Sprint("take ", numbers) }
func (p partitions) release(_ context.Context, numbers []int32) {
	p <- fmt.Sprint("release ", numbers)
}

// What is begun ends before its partition is released, if it ends in time.
func TestReleaseWaitsForWhatIsBegun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := make(partitions, 2)
		w := newWorker(limit{records: 2, bytes: 100}, nil)
		w.owner = told
		lost := map[string][]int32{"weft.fetched": {3}}
		w.open.acquire(t.Context(), 10)
		go w.release(t.Context(), lost)
		synctest.Wait()
		if len(told) > 0 {
			t.Error(<-told)
		}
		w.open.release(10)
		if got := <-told; got != "release [3]" {
			t.Error(got)
		}
		w.open.acquire(t.Context(), 10)
		w.release(t.Context(), lost) // until its time is over
		<-told
	})
}
