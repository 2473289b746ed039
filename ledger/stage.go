package ledger

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/cluster"
	"github.com/weftcrawl/weft/supervise"
)

// State is what the events of one partition fold into.
type State interface {
	// Apply folds the body of the event at offset. It is deterministic: no
	// clock, no randomness, no I/O but the store's. An error means that the
	// body cannot be an event of this state; it is fatal (ErrCorrupt).
	Apply(key string, body []byte, offset int64) error
	// Due returns up to limit keys whose time has come, oldest first.
	Due(now time.Time, limit int) []string
	// Close is told that the partition is given up, before its store is.
	Close()
}

// Record is one input of a stage: a record of an input topic, or, when that
// topic is a ledger itself, the body of a valid event of it.
type Record struct {
	Topic  string
	Key    string
	Value  []byte
	Offset int64
	// TimestampMS is the record's own, in milliseconds since 1970; 0: unknown.
	TimestampMS int64
}

// Rejection is an input that the stage cannot use. The record goes to the
// topic rejected and the stage goes on.
type Rejection struct{ Reason string }

func (r *Rejection) Error() string { return "rejected: " + r.Reason }

// Stage defines a stateful stage. Its functions are called by one goroutine a
// partition. Decisions must not change the state; they return the body of the
// event that will have the given offset, or nil if there is nothing to say.
type Stage[S State] struct {
	// Ledger is the topic of events; it is the consumer group's name too.
	Ledger string
	// Inputs are the topics that the stage reads.
	Inputs []Input[S]
	// Open makes a partition's state over its store, which holds the fold of
	// a checkpoint or nothing.
	Open func(partition int32, store Store) (S, error)
	// Begins is told at each claim at which offset the ledger's log begins: what
	// stood before it can be read by nobody; nil: nobody.
	Begins func(state S, offset int64)
	// Tick decides on a key that State.Due named. An error stops the partition.
	Tick func(state S, key string, now time.Time, offset int64) ([]byte, error)
	// Snapshot is the body of an event that only moves positions; nil: none.
	Snapshot func(state S, now time.Time, offset int64) ([]byte, error)
}

// Input is one input topic of a stage.
type Input[S State] struct {
	Topic string
	// Events marks a topic that is a ledger itself.
	Events bool
	// Decide answers one record. A *Rejection sends it to rejected; any other
	// error stops the partition.
	Decide func(state S, in Record, now time.Time, offset int64) ([]byte, error)
}

// Options of a stage's runner.
type Options struct {
	// Cluster is where the topics are.
	Cluster cluster.Access
	// Dir holds the states; Run locks it for the stage.
	Dir string
	// Member is a stable name of this process in the group; partitions return
	// to the member that had them.
	Member string
	// Instance is the id by which this process is a static member of the group
	// (KIP-345): one that joins by the id of a member which is gone, within its
	// session, gets that member's partitions at once, and disturbs nobody. The
	// caller must know that the other one has ended. Empty: a member like any.
	Instance string
	// Writer returns options for a producer of events, which must leave a
	// record's partition as it is; nil: none. It is asked for every client,
	// since kgo.ProducerBatchCompression lets clients write to what they share.
	Writer func() []kgo.Opt
	// Embedded says that the broker may forget the end of a log at an unclean
	// end: positions beyond it are reset instead of refused.
	Embedded bool
	// Reject writes an unusable record to the topic rejected and returns when
	// it is acknowledged.
	Reject func(in Record, partition int32, reason string) error
	// Held tells whether the stage takes neither inputs nor timers now, and
	// returns a channel that is closed when that may have changed; nil: never.
	Held func() (held bool, changed <-chan struct{})
	// Clock tells the time; nil: time.Now.
	Clock func() time.Time
	// Remote is where published checkpoints are sent to, and where a partition
	// looks for one that is newer than its own; nil: they stay in Dir.
	Remote *Remote
	// CheckpointEvery is the age at which a checkpoint is made; 30 s.
	CheckpointEvery time.Duration
	// CarryEvery is the time after which moved positions are written without
	// an event; 10 s. CarryIdle is the same when no input came meanwhile.
	CarryEvery, CarryIdle time.Duration
	// Resolution of timers: how often due keys are looked for; 20 ms.
	Resolution time.Duration
	// CacheBytes is Pebble's block cache, shared by all partitions; 16 MiB.
	CacheBytes int64
	// MemtableBytes is Pebble's write buffer of each partition, of which there
	// may be two; 1 MiB. Without cgo both lie on Go's heap.
	MemtableBytes int64
	// SessionTimeout and Heartbeat of the consumer group; 10 s and 500 ms.
	SessionTimeout, Heartbeat time.Duration
	// Observe is told what happened; nil: nobody.
	Observe func(Happening)
	// Failed is told of every processor that ended by itself, before the next one
	// is built; nil: nobody.
	Failed func(context.Context, supervise.Failure)
	Logger *slog.Logger
}

// Happening is something that a runner reports to its metrics.
type Happening struct {
	// Kind is one of the Happened constants.
	Kind      string
	Partition int32
	// Age is set for a published checkpoint: the time since the last one.
	Age time.Duration
}

// What happened.
const (
	HappenedEvent      = "event"      // an event was appended
	HappenedDropped    = "dropped"    // a fold dropped an older owner's event
	HappenedStranger   = "stranger"   // a fold passed over a record that is no event
	HappenedRedelivery = "redelivery" // an input at or below the position
	HappenedCheckpoint = "checkpoint" // a checkpoint was published
	HappenedClaim      = "claim"      // a partition was claimed
	HappenedRejected   = "rejected"   // an input went to rejected
	HappenedRestart    = "restart"    // the supervisor built the processor anew
	HappenedSent       = "sent"       // a checkpoint is complete in the bucket
	HappenedUnsent     = "unsent"     // sending one failed
	HappenedFetched    = "fetched"    // a checkpoint was taken from the bucket
	HappenedPassedOver = "passed"     // one in the bucket could not be used
)

// Happenings returns every kind, for metrics that must know them all.
func Happenings() []string {
	return []string{
		HappenedEvent, HappenedDropped, HappenedStranger, HappenedRedelivery, HappenedCheckpoint, HappenedClaim,
		HappenedRejected, HappenedRestart, HappenedSent, HappenedUnsent, HappenedFetched, HappenedPassedOver,
	}
}

// withDefaults fills what is unset.
func (o Options) withDefaults() Options {
	setDefault(&o.CheckpointEvery, 30*time.Second)
	setDefault(&o.CarryEvery, 10*time.Second)
	setDefault(&o.CarryIdle, 100*time.Millisecond)
	setDefault(&o.Resolution, 20*time.Millisecond)
	setDefault(&o.CacheBytes, 16<<20)
	setDefault(&o.MemtableBytes, 1<<20)
	setDefault(&o.SessionTimeout, 10*time.Second)
	setDefault(&o.Heartbeat, 500*time.Millisecond)
	if o.Held == nil {
		o.Held = func() (bool, <-chan struct{}) { return false, nil }
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Observe == nil {
		o.Observe = func(Happening) {}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Member == "" {
		host, _ := os.Hostname()
		o.Member = fmt.Sprintf("%s-%d", host, os.Getpid())
	}
	return o
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// Validate reports the first option that cannot work.
func (o Options) Validate() error {
	switch {
	case len(o.Cluster.Brokers) == 0:
		return errors.New("ledger: no brokers")
	case o.Dir == "":
		return errors.New("ledger: no state directory")
	case o.Reject == nil:
		return errors.New("ledger: nowhere to send rejected records")
	}
	return nil
}
