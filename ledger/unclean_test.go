package ledger

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/internal/broker"
)

// brokerDisk is an embedded broker whose logs can be cut, as a power cut does.
type brokerDisk struct {
	t   *testing.T
	dir string
	b   *broker.Broker
}

// newDisk is a world on a broker with a directory.
func newDisk(t *testing.T) (*brokerDisk, *world) {
	t.Helper()
	d := &brokerDisk{t: t, dir: t.TempDir()}
	w := d.open(nil)
	_, err := w.admin.CreateTopics(t.Context(), 1, 1, nil, inTopic, ledgerTopic)
	check(t, err)
	return d, w
}

// open starts the broker; the world keeps the states that the last one had.
func (d *brokerDisk) open(last *world) *world {
	d.t.Helper()
	b, err := broker.Open(broker.Options{Dir: d.dir, Listen: "127.0.0.1:0", Listener: broker.Listener{Trusted: true}})
	check(d.t, err)
	d.b = b
	d.t.Cleanup(func() { b.Close() })
	w := newWorldAt(d.t, d.b.Addr())
	if last != nil {
		w.dir = last.dir
	}
	return w
}

// cut ends the broker and takes the last n batches from a topic's log.
func (d *brokerDisk) cut(topic string, n int) {
	d.t.Helper()
	check(d.t, d.b.Close())
	dir := filepath.Join(d.dir, "kafka", "partitions", topic+"-0")
	check(d.t, os.Remove(filepath.Join(dir, "snapshot.json")))
	segments, err := filepath.Glob(filepath.Join(dir, "*.dat"))
	check(d.t, err)
	if len(segments) != 1 {
		d.t.Fatalf("segments %q", segments)
	}
	raw, err := os.ReadFile(segments[0])
	check(d.t, err)
	var starts []int
	for at := 0; at < len(raw); at += 12 + int(binary.BigEndian.Uint32(raw[at+8:])) {
		starts = append(starts, at)
	}
	if len(starts) <= n {
		d.t.Fatalf("%d batches in %s", len(starts), topic)
	}
	check(d.t, os.Truncate(segments[0], int64(starts[len(starts)-n])))
	check(d.t, os.RemoveAll(strings.TrimSuffix(segments[0], ".dat")+".idx"))
}

// An input lost its end with the power, and other records were written at the
// same offsets before the owner was back: each of them is decided.
func TestInputOffsetsReused(t *testing.T) {
	t.Parallel()
	for _, more := range []int{2, 4, 6} { // the log ends below, at, beyond where it did
		t.Run(strconv.Itoa(more), func(t *testing.T) {
			t.Parallel()
			d, w := newDisk(t)
			stop := w.start(w.options())
			w.produce(numbers(0, 10)...)
			w.exactly(numbers(0, 10))
			mustStop(t, stop)
			d.cut(inTopic, 4)
			w = d.open(w)
			w.produce(numbers(100, 100+more)...)

			cluster := w.options()
			cluster.Embedded = false
			w.endsWith(w.runs(cluster), ErrInputLost, inTopic+"/0 holds 0 to "+strconv.Itoa(6+more))

			stop = w.start(w.options())
			w.exactly(slices.Concat(numbers(0, 10), numbers(100, 100+more)))
			live := w.newest().dump()
			mustStop(t, stop)
			w.sameAsRebuilt(live)
		})
	}
}

// A ledger lost its end with the power, below a checkpoint, and has grown
// beyond it again: the checkpoint is of a history that did not happen.
func TestLedgerOffsetsReused(t *testing.T) {
	t.Parallel()
	for _, here := range []bool{true, false} {
		t.Run("same machine="+strconv.FormatBool(here), func(t *testing.T) {
			t.Parallel()
			d, w := newDisk(t)
			stop := w.start(w.options())
			for i, n := range numbers(0, 10) {
				w.produce(n)
				valid(w, i+1) // each in a batch of its own
			}
			mustStop(t, stop)
			d.cut(ledgerTopic, 4)
			w = d.open(w)
			// The next owner writes over the lost end and publishes nothing.
			own := owner{Dir: w.dir}
			if !here {
				own.Dir = t.TempDir()
			}
			p := w.process(own)
			p.start()
			for i, n := range numbers(10, 30) {
				w.produce(n)
				p.reaches(IncidentEvent, i+1)
			}
			w.exactly(numbers(0, 30))
			p.kill()
			w.evict()
			stop = w.start(w.options())
			w.produce("31")
			valid(w, 31)
			live := w.newest().dump()
			mustStop(t, stop)
			w.sameAsRebuilt(live)
		})
	}
}
