package sim

import (
	"slices"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
)

// startForeignWriter lets another program write to a partition until a time: at
// random moments, and besides in front of one in rate of the records that arrive.
func (w *world) startForeignWriter(l *log, until time.Duration, rate int) {
	l.faultUntil[ForeignWriter], l.rate = until, rate
	var again func()
	again = func() {
		if w.now <= until {
			w.cluster.append(l, w.foreignRecord(l))
			w.after(w.between(0, 4*time.Second), again)
		}
	}
	again()
}

// writeBehindForeign writes a foreign record to the offset that r would get. It
// returns whether r is to be written behind it. Sometimes the broker refuses r, if
// that is an event: the owner's next event then gets the offset that it expects.
func (c *cluster) writeBehindForeign(l *log, r record) bool {
	w := c.w
	c.append(l, w.foreignRecord(l))
	if !w.isLedger(l.topic) || !w.chance(3) {
		return true
	}
	w.trace("%v refuses a record, and has a foreign one in its place", l.topicPartition)
	r.settled(-1, errRefused)
	return false
}

// foreignRecord draws a record of another program.
func (w *world) foreignRecord(l *log) record {
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
		targets := w.targets(ForeignWriter)
		r = w.copied(l, w.cluster.logs[targets[w.rng.IntN(len(targets))]])
	case 5:
		what = "a record of another partition"
		r = w.copied(l, w.cluster.log(l.topic, int32(w.rng.IntN(int(w.partitions)))))
	case 6:
		what, r = "a copied claim", w.copiedClaim(l)
	default:
		what, r = "a copy", w.copied(l, l)
	}
	w.trace("a foreign writer writes %s to %v at %d", what, l.topicPartition, l.end())
	w.count("foreign")
	return record{
		key: slices.Clone(r.key), value: slices.Clone(r.value), foreign: true,
		writtenMs: epoch.Add(w.now).UnixMilli(), settled: func(int64, error) {}, unsent: func() bool { return false },
	}
}

// copied is a record of from, or an empty one. An event is not copied to the offset
// that it names: there it would be valid, whichever partition it comes from.
func (w *world) copied(l, from *log) record {
	if from.end() == 0 {
		return record{}
	}
	r := from.records[w.rng.IntN(len(from.records))]
	var ev weftpb.Event
	if r.offset == l.end() || proto.Unmarshal(r.value, &ev) == nil && ev.Offset == l.end() {
		return record{}
	}
	return r
}

// copiedClaim is the last claim of a ledger; an empty record if there is none.
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
