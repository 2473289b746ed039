package status

import (
	"fmt"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/topics"
)

// Offsets are offsets by topic and partition.
type Offsets map[string]map[int32]int64

// Sample is what a Monitor reads of a crawl. It reads the fields in their order: the test
// is exact only in this order.
type Sample struct {
	// Before are the ends of scheduled.
	Before map[int32]int64
	// Commits of each stage's group in its inputs. A missing partition was never
	// committed.
	Commits map[topics.Stage]Offsets
	// Starts and Ends of every log that stages read.
	Starts, Ends Offsets
	// Stable are the ends of the part of seeds that can be read, before open
	// transactions. For a missing partition it is the end of the log.
	Stable Offsets
	// Gauges of the last valid event in each partition of scheduled; nil if there is
	// none.
	Gauges []*weftpb.Gauges
	// Strangers is the number of records of the ledgers that are not events.
	Strangers int64
	// Damaged are the partitions of scheduled whose end cannot be read. Their
	// errors wrap ledger.ErrCorrupt.
	Damaged []error
}

// next is the offset at which a stage goes on in an input.
func (r Sample) next(stage topics.Stage, topic string, partition int32) int64 {
	next := r.Starts[topic][partition]
	if committed, ok := r.Commits[stage][topic][partition]; ok {
		next = max(next, committed)
	}
	return next
}

// Status makes the status of a crawl, with lags in the order of the loop.
func (r Sample) Status(names topics.Names) (Status, error) {
	s := Status{Gauges: sum(r.Gauges), Strangers: r.Strangers, Damaged: r.Damaged}
	for p, end := range r.Ends[names.Scheduled] {
		if was, ok := r.Before[p]; !ok || was != end {
			s.Moving++
		}
	}
	for _, stage := range topics.Groups() {
		if topics.KindOf(stage) == topics.Archiver && len(r.Commits[stage]) == 0 {
			continue // the crawl has no archive, or none of its files is full yet
		}
		for _, topic := range names.Inputs(stage) {
			for p := range int32(len(r.Ends[topic])) {
				start, ok1 := r.Starts[topic][p]
				end, ok2 := r.Ends[topic][p]
				if !ok1 || !ok2 {
					return Status{}, fmt.Errorf("read bounds of %s/%d: %w", topic, p, topics.ErrMissing)
				}
				l := Lag{Stage: stage, Topic: topic, Partition: p, Start: start, End: end, Committed: -1}
				if c, ok := r.Commits[stage][topic][p]; ok {
					l.Committed = c
				}
				if stable, ok := r.Stable[topic][p]; ok {
					l.Open = max(end-max(stable, r.next(stage, topic, p)), 0)
				}
				s.Lags = append(s.Lags, l)
			}
		}
	}
	return s, nil
}

// sum adds up the gauges of partitions.
func sum(partitions []*weftpb.Gauges) *weftpb.Gauges {
	total := new(weftpb.Gauges)
	for _, g := range partitions {
		AddGauges(total, g, 1)
	}
	return total
}

// AddGauges adds each of the gauges to total, times times.
func AddGauges(total, gauges *weftpb.Gauges, times int64) {
	to := total.ProtoReflect()
	gauges.ProtoReflect().Range(func(field protoreflect.FieldDescriptor, n protoreflect.Value) bool {
		to.Set(field, protoreflect.ValueOfInt64(to.Get(field).Int()+times*n.Int()))
		return true
	})
}
