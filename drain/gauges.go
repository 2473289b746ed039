package drain

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"
	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/ledger"
)

// window is how many records are read at first, and widen by how much more when
// they tell nothing, since they are claims or older owners' events. What lies
// before the window may hold a claim that makes its events invalid; an owner
// that lost the partition stops at its first acknowledgement, so that a window
// of nothing but its events is the work of a moment, and the next reading is
// right.
const (
	window = 64
	widen  = 16
)

// LastGauges returns what the last valid event before end of a partition of
// scheduled says of it, nil when none does. The log holds start to end; read
// returns the records from an offset on, at least one.
func LastGauges(start, end int64, read func(offset int64) ([]*kgo.Record, error)) (*weftpb.Gauges, error) {
	for back := int64(window); ; back *= widen {
		from := max(start, end-back)
		last, err := gaugesFrom(from, end, read)
		if last != nil || err != nil || from == start {
			return last, err
		}
	}
}

func gaugesFrom(from, end int64, read func(offset int64) ([]*kgo.Record, error)) (last *weftpb.Gauges, err error) {
	var follow ledger.Reader
	for at := from; at < end; {
		records, err := read(at)
		if err != nil {
			return nil, err
		}
		for _, rec := range records {
			if at = rec.Offset + 1; at > end {
				break // written after the ends were read
			}
			gauges, err := gaugesOf(&follow, rec)
			if err != nil {
				return nil, err
			}
			if gauges != nil {
				last = gauges
			}
		}
	}
	return last, nil
}

// gaugesOf returns the gauges that a record tells, nil if it is not valid or
// tells none.
func gaugesOf(follow *ledger.Reader, r *kgo.Record) (*weftpb.Gauges, error) {
	event, err := follow.Read(r.Value, r.Topic, r.Partition, r.Offset)
	if err != nil || event == nil {
		return nil, err
	}
	var body weftpb.Scheduled
	if err := proto.Unmarshal(event.Body, &body); err != nil {
		return nil, fmt.Errorf("%w: %s/%d at %d: %w", ledger.ErrCorrupt, r.Topic, r.Partition, r.Offset, err)
	}
	return body.Gauges, nil
}
