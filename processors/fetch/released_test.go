package fetch

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/ledger"
)

// history is a log of scheduled as an owner of the partition writes it, with
// what it means: which requests of which visits are open after each record.
type history struct {
	log  [][]byte
	open []map[string][]uint32 // after record i
	born map[string]int        // offset of a visit's release
}

func drawHistory(t *rapid.T) history {
	h := history{log: [][]byte{stage.Encode(&weftpb.Event{Claim: &weftpb.Claim{Owner: "a"}})}, born: map[string]int{}}
	h.open = append(h.open, map[string][]uint32{})
	epoch := int64(1)
	for i := range rapid.IntRange(0, 40).Draw(t, "records") {
		offset := len(h.log)
		open := map[string][]uint32{}
		for id, left := range h.open[offset-1] {
			open[id] = slices.Clone(left)
		}
		ids := make([]string, 0, len(open))
		for id := range open {
			ids = append(ids, id)
		}
		slices.Sort(ids)
		body := &weftpb.Scheduled{Gauges: &weftpb.Gauges{}}
		ev := &weftpb.Event{Epoch: epoch, Offset: int64(offset)}
		act := rapid.SampledFrom([]string{"release", "settle", "expire", "claim", "stale", "move"}).Draw(t, "act")
		switch {
		case act == "claim":
			epoch = int64(offset) + 1
			ev = &weftpb.Event{Claim: &weftpb.Claim{Owner: "b"}}
		case act == "stale" && epoch > 1: // an older owner's, which does not count
			ev.Epoch = epoch - 1
			body.Expired = ids
		case act == "release":
			v := &weftpb.Visit{Id: "v" + strconv.Itoa(i)}
			for n := range rapid.IntRange(1, 3).Draw(t, "requests") {
				v.Requests = append(v.Requests, &weftpb.Request{})
				open[v.Id] = append(open[v.Id], uint32(n))
			}
			body.Released = []*weftpb.Visit{v}
			h.born[v.Id] = offset
		case act == "settle" && len(ids) > 0:
			id := rapid.SampledFrom(ids).Draw(t, "visit")
			index := rapid.SampledFrom(open[id]).Draw(t, "index")
			body.Settled = []*weftpb.Settlement{{Visit: id, Index: index}}
			open[id] = slices.DeleteFunc(open[id], func(n uint32) bool { return n == index })
			if len(open[id]) == 0 {
				delete(open, id)
			}
		case act == "expire" && len(ids) > 0:
			id := rapid.SampledFrom(ids).Draw(t, "visit")
			body.Expired = []string{id}
			delete(open, id)
		}
		if ev.Claim == nil {
			ev.Body = stage.Encode(body)
		}
		h.log, h.open = append(h.log, stage.Encode(ev)), append(h.open, open)
	}
	return h
}

// oldest is where a fetcher may begin to read when the log ends at end: anywhere up to
// the first release that is open.
func (h history) oldest(end int) int {
	first := end - 1
	for id := range h.open[end-1] {
		first = min(first, h.born[id])
	}
	return max(first, 0)
}

// After a takeover at any moment the visits to start are exactly those that are open
// then, in the order of their release, and afterwards those that are released. All that
// is settled is cancelled.
func TestOpenVisitsAreStarted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := drawHistory(t)
		end := rapid.IntRange(1, len(h.log)).Draw(t, "taken over at")
		from := rapid.IntRange(0, h.oldest(end)).Draw(t, "from")
		b := newReleasedVisits(t.Context(), "scheduled", int64(from), 0, time.Time{})
		started := map[string]*ReleasedVisit{}
		for offset := from; offset < len(h.log); offset++ {
			begun, err := b.Fold("example.org", h.log[offset], 3, int64(offset))
			if err != nil {
				t.Fatal(err)
			}
			if offset == end-1 {
				begun = b.GoLive()
			}
			last := -1
			for _, p := range begun {
				if started[p.Visit.Id] != nil {
					t.Fatalf("%s is started twice", p.Visit.Id)
				}
				started[p.Visit.Id] = p
				if h.born[p.Visit.Id] < last {
					t.Fatalf("%s is started out of turn", p.Visit.Id)
				}
				last = h.born[p.Visit.Id]
			}
			switch {
			case offset < end-1 && len(begun) > 0:
				t.Fatalf("started %d visits before the end of the log was read", len(begun))
			case offset == end-1:
				h.takenOver(t, end, begun)
			}
			if offset >= end-1 {
				for id, p := range started {
					if open := h.open[offset][id] != nil; open != (p.Context.Err() == nil) {
						t.Fatalf("after record %d %s is open: %v, its context says %v", offset, id, open, p.Context.Err())
					}
				}
			}
		}
		b.end(errors.New("over"))
		for id, p := range started {
			if p.Context.Err() == nil {
				t.Fatalf("%s outlives its partition", id)
			}
		}
	})
}

// takenOver compares what is started at once with what is open.
func (h history) takenOver(t *rapid.T, end int, begun []*ReleasedVisit) {
	have, want := map[string]string{}, map[string]string{}
	for _, p := range begun {
		var left []uint32
		for n := range p.Visit.Requests {
			if !p.Visit.Settled[uint32(n)] {
				left = append(left, uint32(n))
			}
		}
		have[p.Visit.Id] = fmt.Sprint(left)
	}
	for id, left := range h.open[end-1] {
		slices.Sort(left)
		want[id] = fmt.Sprint(left)
	}
	if fmt.Sprint(have) != fmt.Sprint(want) {
		t.Fatalf("taken over at %d it starts %v, open are %v", end, have, want)
	}
}

func TestReleasedVisitsRefuseCorruptEvents(t *testing.T) {
	for name, value := range map[string][]byte{
		"turned":     turned(t),
		"no body":    stage.Encode(&weftpb.Event{Epoch: 1, Offset: 1, Body: []byte{0xff}}),
		"other body": stage.Encode(&weftpb.Event{Epoch: 1, Offset: 1, Body: []byte{0x0a, 0x05, 1}}),
	} {
		b := newReleasedVisits(t.Context(), "scheduled", 0, 0, time.Time{})
		if _, err := b.Fold("example.org", value, 0, 1); !errors.Is(err, ledger.ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
		b.end(nil)
	}
}

func TestReleasedVisitsIgnoreStrangers(t *testing.T) {
	for name, value := range map[string][]byte{"garbage": {0xff}, "no claim": stage.Encode(&weftpb.Event{}), "no value": nil} {
		b := newReleasedVisits(t.Context(), "scheduled", 0, 0, time.Time{})
		if released, err := b.Fold("example.org", value, 0, 1); err != nil || len(released) > 0 {
			t.Errorf("%s: %v, %v", name, released, err)
		}
		b.end(nil)
	}
}

// The fold sees what it reads, and nothing of what was admitted; damage stays damage.
func TestAppendReleases(t *testing.T) {
	read := &weftpb.Scheduled{
		DecidedMs: 7, Expired: []string{"v"}, Settled: []*weftpb.Settlement{{Visit: "w", Index: 2}},
		Released: []*weftpb.Visit{{Id: "x", Requests: []*weftpb.Request{{Target: &weftpb.Target{Url: "https://example.com/"}}}}},
	}
	whole := proto.CloneOf(read)
	whole.Gauges, whole.Oldest = &weftpb.Gauges{Pending: 3}, 5
	whole.Admitted = []*weftpb.Admission{{Request: &weftpb.Request{Target: &weftpb.Target{Url: "https://example.com/admitted"}}}}
	raw := stage.Encode(whole)
	var got weftpb.Scheduled
	if err := proto.Unmarshal(appendReleases(nil, raw), &got); err != nil || !proto.Equal(&got, read) {
		t.Errorf("%v, %v; want %v", &got, err, read)
	}
	for cut := range raw {
		var any weftpb.Scheduled
		damaged := proto.Unmarshal(raw[:cut], &any) != nil
		if err := proto.Unmarshal(appendReleases(nil, raw[:cut]), &any); damaged != (err != nil) {
			t.Errorf("the first %d bytes: %v, damaged is %v", cut, err, damaged)
		}
	}
}
