package ledger

import (
	"errors"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weftcrawl/weft/codecs/weftpb"
)

// Rule 6: ledgers are kept whole. One that was trimmed above the checkpoint
// cannot be recovered from, and what is missing is not passed over.
func TestRule6LedgersAreKeptWhole(t *testing.T) {
	t.Parallel()
	t.Run("before the start", func(t *testing.T) {
		t.Parallel()
		w := worked(t, "a")
		check(t, os.RemoveAll(w.dir))
		check(t, w.cluster.DeleteRecords(ledgerTopic, 0, 1))
		w.endsWith(w.runs(w.options()), ErrTrimmed, ledgerTopic+"/0")
	})
	t.Run("below the checkpoint", func(t *testing.T) {
		t.Parallel()
		w := worked(t, numbers(0, 5)...)
		check(t, w.cluster.DeleteRecords(ledgerTopic, 0, w.end()))
		stop := w.start(w.options())
		w.produce(numbers(5, 10)...)
		w.untilCommitted(10)
		for _, n := range numbers(0, 10) {
			if w.newest().count(n) != 1 {
				t.Errorf("%s was applied %d times", n, w.newest().count(n))
			}
		}
		mustStop(t, stop)
	})
	// Between the look at the log's start and the recovery: goka would go on
	// where the log begins now.
	t.Run("while recovering", func(t *testing.T) {
		t.Parallel()
		w := worked(t, numbers(0, 50)...)
		check(t, os.RemoveAll(w.dir))
		asked := 0
		w.cluster.ControlKey(int16(kmsg.ListOffsets), func(req kmsg.Request) (kmsg.Response, error, bool) {
			w.cluster.KeepControl()
			topic := req.(*kmsg.ListOffsetsRequest).Topics[0]
			if topic.Topic == ledgerTopic && topic.Partitions[0].Timestamp == -2 {
				if asked++; asked == 2 {
					w.cluster.DropControl()
					w.cluster.SleepControl(func() { check(t, w.cluster.DeleteRecords(ledgerTopic, 0, 20)) })
				}
			}
			return nil, nil, false
		})
		w.endsWith(w.runs(w.options()), ErrTrimmed, ledgerTopic+"/0")
	})
}

// worked returns a world whose stage made an event of each of values, and was
// stopped.
func worked(t *testing.T, values ...string) *world {
	t.Helper()
	w := newWorld(t)
	stop := w.start(w.options())
	w.produce(values...)
	valid(w, len(values))
	mustStop(t, stop)
	return w
}

// runs is the error with which a stage ends that cannot go on.
func (w *world) runs(o Options) error {
	ended := make(chan error, 1)
	go func() { ended <- Run(w.t.Context(), w.stage(), o) }()
	select {
	case err := <-ended:
		return err
	case <-time.After(patience):
		return errors.New("the stage goes on")
	}
}

// Rule 7: a corrupt event is fatal and named.
func TestRule7CorruptEventIsFatal(t *testing.T) {
	t.Parallel()
	for name, value := range map[string][]byte{
		"no protobuf": []byte("\xff\xff\xff"),
		"no claim":    encode(&weftpb.Event{Body: []byte("x")}),
		"impossible":  nil, // made below: it must be valid to be applied
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worked(t, "a")
			check(t, os.RemoveAll(w.dir))
			if name == "impossible" {
				claimed := encode(&weftpb.Event{Claim: &weftpb.Claim{}})
				value = encode(&weftpb.Event{Epoch: w.end() + 1, Offset: w.end() + 1, Body: []byte("impossible")})
				check(t, w.client.ProduceSync(t.Context(), &kgo.Record{Topic: ledgerTopic, Value: claimed}).FirstErr())
			}
			check(t, w.client.ProduceSync(t.Context(), &kgo.Record{Topic: ledgerTopic, Value: value}).FirstErr())
			w.endsWith(w.runs(w.options()), ErrCorrupt, ledgerTopic+"/0 at "+strconv.Itoa(int(w.end()-1)))
		})
	}
}
