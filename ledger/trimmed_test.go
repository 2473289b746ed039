package ledger

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// A janitor trims what is committed whenever it likes: also the record at the
// position, between the questions of a new owner. That is no reason to end.
func TestInputTrimmedDuringClaim(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	stop := w.start(w.options())
	w.produce(slices.Repeat([]string{"skip"}, 20)...) // so that only the input has an offset 29
	w.produce(numbers(0, 10)...)
	w.exactly(numbers(0, 10))
	mustStop(t, stop)

	const fetch = 1
	trimmed, asked := make(chan error, 1), false // control functions are called one at a time
	w.cluster.ControlKey(fetch, func(request kmsg.Request) (kmsg.Response, error, bool) {
		w.cluster.KeepControl()
		if asked || !asksFor(request.(*kmsg.FetchRequest), 29) {
			return nil, nil, false
		}
		asked = true
		w.cluster.SleepControl(func() {
			answers, err := w.admin.DeleteRecords(t.Context(), kadm.Offsets{inTopic: {0: {Topic: inTopic, At: 30}}})
			if err == nil {
				err = answers.Error()
			}
			trimmed <- err
		})
		return nil, nil, false
	})
	var ended []string
	o := w.options()
	o.Observe = func(kind string, partition int32) {
		if kind == IncidentRestart {
			ended = append(ended, strconv.Itoa(int(partition)))
		}
	}
	stop = w.start(o)
	w.produce(numbers(10, 12)...)
	w.exactly(numbers(0, 12))
	mustStop(t, stop)
	if len(trimmed) == 0 {
		t.Fatal("nobody asked for the record at the position")
	}
	check(t, <-trimmed)
	if len(ended) > 1 { // the graceful end is one
		t.Errorf("the stage ended %d times: partitions %s", len(ended), strings.Join(ended, ", "))
	}
}

// asksFor tells whether a partition is asked for at an offset.
func asksFor(request *kmsg.FetchRequest, offset int64) bool {
	for _, topic := range request.Topics {
		for _, p := range topic.Partitions {
			if p.FetchOffset == offset {
				return true
			}
		}
	}
	return false
}
