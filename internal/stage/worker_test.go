package stage

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/twmb/franz-go/pkg/kgo"
	"pgregory.net/rapid"

	"github.com/weftcrawl/weft/topics"
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

// partitions is a PartitionState that says what it is told.
type partitions chan string

func (p partitions) Reset()                     {}
func (p partitions) OnAssigned(numbers []int32) { p <- fmt.Sprint("assigned ", numbers) }
func (p partitions) Load(ctx context.Context, number int32) {
	p <- fmt.Sprint("load ", number)
	if number > 0 {
		<-ctx.Done()
	}
}
func (p partitions) OnRevoked(_ context.Context, numbers []int32) {
	p <- fmt.Sprint("revoked ", numbers)
}

// consumer is a client that says what it is told.
type consumer struct{ partitions }

func (p consumer) PauseFetchPartitions(which map[string][]int32) map[string][]int32 {
	p.partitions <- fmt.Sprint("pause ", which)
	return nil
}

func (p consumer) ResumeFetchPartitions(which map[string][]int32) {
	p.partitions <- fmt.Sprint("resume ", which)
}

// The records of a partition wait until it is loaded, and no others; what loads it
// ends when it is lost.
func TestPartitionsWaitForTheirState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := make(partitions, 10)
		w := newWorker(Worker{State: told}, nil)
		says := func(inOrder int, want ...string) {
			t.Helper()
			synctest.Wait()
			var got []string
			for len(told) > 0 {
				got = append(got, <-told)
			}
			slices.Sort(got[min(inOrder, len(got)):])
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		}
		w.onAssigned(t.Context(), consumer{told}, map[string][]int32{"weft.fetched": {0, 1}})
		says(2, "pause map[weft.fetched:[0 1]]", "assigned [0 1]", "load 0", "load 1", "resume map[weft.fetched:[0]]")
		w.onRevoked(t.Context(), map[string][]int32{"weft.fetched": {1}})
		says(0, "resume map[weft.fetched:[1]]", "revoked [1]")
		w.loads.Wait()
	})
}

// What is begun ends before its partition is revoked, if it ends in time.
func TestRevocationWaitsForWhatIsBegun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := make(partitions, 2)
		w := newWorker(Worker{Limit: Limit{Records: 2, Bytes: 100}, State: told}, nil)
		w.fail = func(error) {}
		lost := map[string][]int32{"weft.fetched": {3}}
		task := w.begin(t.Context(), &kgo.Record{Value: make([]byte, 10)})
		go w.onRevoked(t.Context(), lost)
		synctest.Wait()
		if len(told) > 0 {
			t.Error(<-told)
		}
		w.finish(task, errors.New("not to be committed"))
		if got := <-told; got != "revoked [3]" {
			t.Error(got)
		}
		w.begin(t.Context(), &kgo.Record{Value: make([]byte, 10)})
		w.onRevoked(t.Context(), lost) // until its time is over
		<-told
	})
}

// A task ends once, with the first error, and not before all acknowledgements.
func TestTaskEndsWithItsLastAcknowledgement(t *testing.T) {
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
		var got error
		w := newWorker(Worker{Limit: Limit{Records: 1}}, nil)
		w.fail = func(err error) { got = err }
		task := w.begin(t.Context(), new(kgo.Record))
		w.progress = nil // nothing is committed
		task.left = len(c.acks)
		for i, err := range c.acks {
			if w.begun != 1 {
				t.Errorf("%v: ended after %d of them", c.acks, i)
			}
			task.acknowledge(nil, err)
		}
		if w.begun != 0 || !errors.Is(got, c.want) {
			t.Errorf("%v: %d tasks are left, the error is %v", c.acks, w.begun, got)
		}
	}
}

// A finished record that waits for the commit of an older one keeps nothing of the response in
// which the broker sent it.
func TestFinishedRecordsAreLight(t *testing.T) {
	w := newWorker(Worker{Limit: Limit{Records: 10, Bytes: 1 << 20}, Handler: func(context.Context, *Task) {}}, nil)
	var tasks []*Task
	for offset := range int64(2) {
		tasks = append(tasks, w.begin(t.Context(), &kgo.Record{
			Topic: "t", Offset: offset, Key: []byte("k"), Value: []byte("value"), Headers: []kgo.RecordHeader{{Key: "h", Value: []byte("header")}},
		}))
	}
	w.finish(tasks[1], nil)
	if r := tasks[1].read; r.Value != nil || r.Key != nil || r.Headers != nil {
		t.Errorf("keeps %q, %q and %v", r.Key, r.Value, r.Headers)
	}
	if string(tasks[0].read.Value) != "value" {
		t.Error("the older record lost its value")
	}
}

// A record in the lane has copies of its bytes.
func TestRecordsOfTheLaneAreDetached(t *testing.T) {
	response := []byte("key value header")
	r := &kgo.Record{Key: response[:3], Value: response[4:9], Headers: []kgo.RecordHeader{{Key: "h", Value: response[10:]}}}
	detach(r)
	clear(response)
	if got := string(r.Key) + " " + string(r.Value) + " " + string(r.Headers[0].Value); got != "key value header" {
		t.Errorf("it has %q", got)
	}
}

// The position of a worker is behind what it has begun, and names what is in its lane. The bytes
// there and those of other records have limits of their own.
func TestPosition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lane := NewLane(1, 10, func(r *kgo.Record) bool { return len(r.Value) == 9 })
		w := newWorker(Worker{Stage: topics.Parse, Limit: Limit{Records: 10, Bytes: 10}, Lane: lane}, nil)
		w.client, _ = kgo.NewClient()
		defer w.client.Close()
		var nowhere *Positions
		nowhere.enter(w)()
		all := NewPositions()
		leave := all.enter(w)
		is := func(want map[int32]Position) {
			t.Helper()
			if diff := cmp.Diff(want, all.Of(topics.Parse, "t"), cmpopts.EquateEmpty()); diff != "" {
				t.Error(diff)
			}
		}
		begin := func(partition int32, offset int64, bytes int) *Task {
			return w.begin(t.Context(), &kgo.Record{Topic: "t", Partition: partition, Offset: offset, Value: make([]byte, bytes)})
		}
		is(nil)
		slow := begin(1, 5, 9)
		quick := begin(1, 6, 8)
		is(map[int32]Position{1: {Next: 7, Slow: []int64{5}}})
		more := make(chan *Task)
		go func() { more <- begin(2, 0, 9) }()
		synctest.Wait()
		w.finish(quick, nil)
		select {
		case <-more:
			t.Error("the lane has more bytes than it may")
		default:
		}
		w.finish(slow, nil)
		w.finish(<-more, nil)
		is(map[int32]Position{1: {Next: 7}, 2: {Next: 1}})
		w.forget(map[string][]int32{"t": {1}})
		is(map[int32]Position{2: {Next: 1}})
		if len(all.Of(topics.Parse, "other"))+len(all.Of(topics.Fetch, "t")) > 0 {
			t.Error("positions of another topic, or another stage")
		}
		leave()
		is(nil)
	})
}
