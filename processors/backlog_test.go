package processors

import (
	"errors"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// There is room exactly while the bytes that are sent and not settled are below
// the limit.
func TestBacklogHasRoomBelowItsLimit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const limit = 100
		b := newPushback(nil, "parse", "fetched", limit)
		type entry struct{ offset, size int64 }
		open := map[int32][]entry{}
		var sent []int64
		next := map[int32]int64{}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			p := rapid.Int32Range(0, 2).Draw(t, "partition")
			switch rapid.SampledFrom([]string{"send", "send", "acknowledge", "acknowledge", "settle", "forget"}).Draw(t, "act") {
			case "send":
				sent = append(sent, rapid.Int64Range(0, 60).Draw(t, "bytes"))
				b.send(int(sent[len(sent)-1]))
			case "acknowledge":
				if len(sent) == 0 {
					continue
				}
				e := entry{next[p], sent[0]}
				sent = sent[1:]
				next[p] += rapid.Int64Range(1, 3).Draw(t, "gap") // offsets of others lie between
				open[p] = append(open[p], e)
				b.acknowledged(p, e.offset, int(e.size))
			case "settle":
				to := rapid.Int64Range(0, next[p]).Draw(t, "commit")
				b.settle(p, to)
				for len(open[p]) > 0 && open[p][0].offset < to {
					open[p] = open[p][1:]
				}
			case "forget":
				b.forget(p)
				delete(open, p)
			}
			var behind int64
			for _, size := range sent {
				behind += size
			}
			for _, entries := range open {
				for _, e := range entries {
					behind += e.size
				}
			}
			full, room := b.full()
			if full != (behind >= limit) {
				t.Fatalf("full is %v with %d bytes behind", full, behind)
			}
			select {
			case <-room:
				if full {
					t.Fatalf("room with %d bytes behind", behind)
				}
			default:
				if !full {
					t.Fatalf("no room with %d bytes behind", behind)
				}
			}
		}
	})
}

func TestBacklogWakesWhoWaits(t *testing.T) {
	b := newPushback(nil, "parse", "fetched", 10)
	b.send(10)
	b.acknowledged(0, 0, 10)
	var waiting sync.WaitGroup
	for range 3 {
		full, room := b.full()
		if !full {
			t.Error("not full")
		}
		waiting.Go(func() { <-room })
	}
	b.settle(0, 1)
	waiting.Wait()
}

func TestGatherFinishesOnceWithTheFirstError(t *testing.T) {
	first, second := errors.New("first"), errors.New("second")
	for _, c := range []struct {
		acks []error
		want error
	}{
		{[]error{nil}, nil},
		{[]error{nil, nil, nil}, nil},
		{[]error{nil, first, second}, first},
		{[]error{first, nil}, first},
	} {
		calls := 0
		var got error
		acknowledge := gather(len(c.acks), func(err error) { calls++; got = err })
		for i, err := range c.acks {
			if calls > 0 {
				t.Errorf("%v: finished after %d of them", c.acks, i)
			}
			acknowledge(nil, err)
		}
		if calls != 1 || got != c.want {
			t.Errorf("%v: finished %d times with %v", c.acks, calls, got)
		}
	}
}
