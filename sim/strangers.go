package sim

import (
	"slices"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
)

// intrude lets another program write to a partition until a time: at random
// moments, and each time in the place of the next record of one in rate.
func (w *world) intrude(l *log, until time.Duration, rate int) {
	l.intruding, l.rate = until, rate
	var again func()
	again = func() {
		if w.now <= until {
			w.cluster.append(l, w.stranger(l))
			w.after(w.between(0, 4*time.Second), again)
		}
	}
	again()
}

// intruded lets a stranger take the place that r was to have, now and then. It
// returns false if the broker refuses an event then, so that the next one of its
// owner stands where it was meant to be.
func (c *cluster) intruded(l *log, r record) (goesOn bool) {
	w := c.w
	if l.intruding <= w.now || !w.chance(l.rate) {
		return true
	}
	c.append(l, w.stranger(l))
	if !w.isLedger(l.topic) || !w.chance(3) {
		return true
	}
	w.trace("%v refuses a record, and a stranger's stands in its place", l.place)
	r.settled(-1, errRefused)
	return false
}

// stranger draws what another program writes to a partition.
func (w *world) stranger(l *log) record {
	var r record
	var what string
	switch w.rng.IntN(8) {
	case 0:
		what, r.value = "garbage", make([]byte, 1+w.rng.IntN(40))
		for i := range r.value {
			r.value[i] = byte(w.rng.IntN(256))
		}
	case 1:
		what = "nothing"
	case 2:
		what, r.key, r.value = "text", []byte("key"), []byte("a line of a log")
	case 3:
		what = "half a record"
		r = w.copied(l, l)
		r.value = r.value[:len(r.value)/2]
	case 4:
		what = "a record of another topic"
		r = w.copied(l, w.cluster.logs[w.targets(Stranger)[w.rng.IntN(len(w.targets(Stranger)))]])
	case 5:
		what = "a record of another partition"
		r = w.copied(l, w.cluster.log(l.topic, int32(w.rng.IntN(int(w.partitions)))))
	case 6:
		what, r = "a copied claim", w.copiedClaim(l)
	default:
		what, r = "a copy", w.copied(l, l)
	}
	w.trace("a stranger writes %s to %v at %d", what, l.place, l.end())
	w.count("stranger")
	return record{
		key: slices.Clone(r.key), value: slices.Clone(r.value), strange: true,
		writtenMs: epoch.Add(w.now).UnixMilli(), settled: func(int64, error) {}, unsent: func() bool { return false },
	}
}

// copied is a record of from. One that would stand in l where it stands in from is
// left alone: with the right offset it is as good as forged.
func (w *world) copied(l, from *log) record {
	if from.end() == 0 {
		return record{}
	}
	r := from.records[w.rng.IntN(len(from.records))]
	if r.offset == l.end() {
		return record{}
	}
	return r
}

// copiedClaim is the last claim of a ledger, nothing where l is none.
func (w *world) copiedClaim(l *log) record {
	if !w.isLedger(l.topic) {
		return record{}
	}
	for _, r := range slices.Backward(l.records) {
		var ev weftpb.Event
		if proto.Unmarshal(r.value, &ev) == nil && ev.Claim != nil {
			return r
		}
	}
	return record{}
}

func (w *world) isLedger(topic string) bool {
	return topic == w.names.Deduped || topic == w.names.Scheduled
}
