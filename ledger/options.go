package ledger

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/internal/kafka"
	"github.com/weftcrawl/weft/internal/supervise"
)

// Options of a stage's runner.
type Options struct {
	// Cluster is where the topics are.
	Cluster kafka.Access
	// Dir holds the states; Run locks it for the stage.
	Dir string
	// Member is a stable name of this process in the group; partitions return
	// to the member that had them.
	Member string
	// Instance is the id by which this process is a static member of the group
	// (KIP-345). A process that joins with the id of a member that has ended,
	// within that member's session, gets its partitions at once, and no other
	// member is disturbed. The caller must know that the other process has ended.
	// Empty: the process is not a static member.
	Instance string
	// Writer returns options for a producer of events, which must leave a record's partition as
	// it is; nil: there are none. It is called for every client, because clients write to data
	// that kgo.ProducerBatchCompression shares.
	Writer func() []kgo.Opt
	// Embedded says that the broker may forget the end of a log at an unclean
	// end: positions beyond it are reset instead of refused.
	Embedded bool
	// Reject writes an unusable record to the topic rejected and returns when
	// it is acknowledged.
	Reject func(in InputRecord, partition int32, reason string) error
	// Paused tells whether the stage is paused now, and returns a channel that is
	// closed when that may have changed; nil: it never is. A paused stage takes
	// neither inputs nor timers.
	Paused func() (paused bool, changed <-chan struct{})
	// Remote sends published checkpoints to a bucket, and a partition looks there
	// for one that is newer than its own; nil: checkpoints stay in Dir.
	Remote *Remote
	// CheckpointEvery is the age at which a checkpoint is made; 30 s.
	CheckpointEvery time.Duration
	// CarryEvery is the time after which moved positions are written without
	// an event of the stage; 10 s. CarryIdle is the same when no input came
	// meanwhile; 100 ms.
	CarryEvery, CarryIdle time.Duration
	// Resolution of timers is how often the runner looks for due keys; 20 ms.
	Resolution time.Duration
	// SessionTimeout and Heartbeat of the consumer group; 10 s and 500 ms.
	SessionTimeout, Heartbeat time.Duration
	// Observe is called for each incident, with one of the kinds below and the partition, 0 if it
	// concerns no partition; nil: nothing is.
	Observe func(kind string, partition int32)
	// Failed is called for every processor that ended by itself, before the next
	// one is built; nil: nothing is.
	Failed func(context.Context, supervise.Failure)
	// Over is called once after one or more calls of Failed for the same processor, when
	// its failures are over; nil: nothing is.
	Over   func(context.Context)
	Logger *slog.Logger
}

func (o Options) withDefaults() Options {
	o.CheckpointEvery = cmp.Or(o.CheckpointEvery, 30*time.Second)
	o.CarryEvery = cmp.Or(o.CarryEvery, 10*time.Second)
	o.CarryIdle = cmp.Or(o.CarryIdle, 100*time.Millisecond)
	o.Resolution = cmp.Or(o.Resolution, 20*time.Millisecond)
	o.SessionTimeout = cmp.Or(o.SessionTimeout, 10*time.Second)
	o.Heartbeat = cmp.Or(o.Heartbeat, 500*time.Millisecond)
	if o.Paused == nil {
		o.Paused = func() (bool, <-chan struct{}) { return false, nil }
	}
	if o.Observe == nil {
		o.Observe = func(string, int32) {}
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

// The kinds of incidents, which a runner reports to its metrics.
const (
	IncidentEvent      = "event"      // an event was appended
	IncidentDropped    = "dropped"    // a fold dropped an older owner's event
	IncidentStranger   = "stranger"   // a fold skipped a record that is not an event
	IncidentRedelivery = "redelivery" // an input at or below the position
	IncidentCheckpoint = "checkpoint" // a checkpoint was published
	IncidentClaim      = "claim"      // a partition was claimed
	IncidentRejected   = "rejected"   // an input went to rejected
	IncidentRestart    = "restart"    // the supervisor built the processor anew
	IncidentSent       = "sent"       // a checkpoint is complete in the bucket
	IncidentUnsent     = "unsent"     // sending one failed
	IncidentFetched    = "fetched"    // a checkpoint was taken from the bucket
	IncidentPassedOver = "passed"     // one in the bucket could not be used
)

// Incidents returns every kind, for metrics that must know them all.
func Incidents() []string {
	return []string{
		IncidentEvent, IncidentDropped, IncidentStranger, IncidentRedelivery, IncidentCheckpoint, IncidentClaim,
		IncidentRejected, IncidentRestart, IncidentSent, IncidentUnsent, IncidentFetched, IncidentPassedOver,
	}
}
