package ledger

import (
	"slices"
	"time"
)

// Processor is a stage with a ledger: the topics that it reads, the topic that
// it writes, and what decides.
type Processor struct {
	// Ledger is the topic of events. The consumer group has the same name.
	Ledger string
	// Inputs are the topics that the stage reads.
	Inputs []Input
	// Open makes a partition's state over its store, which holds the fold of
	// a checkpoint or nothing.
	Open func(partition int32, store Store) (State, error)
}

// Input is one input topic of a stage.
type Input struct {
	Topic string
	// Events marks a topic that is a ledger itself.
	Events bool
}

// InputRecord is one record of an input topic. If that topic is a ledger
// itself, it is the body of a valid event.
type InputRecord struct {
	Topic  string
	Key    string
	Value  []byte
	Offset int64
	// TimestampMS is the record's own, in milliseconds since 1970; 0: unknown.
	TimestampMS int64
}

// State is what the events of one partition fold into, and what decides on the
// next one. One goroutine at a time calls it.
//
// Decide, Tick and Snapshot decide: they return the body of the event that will
// have the given offset, or nil if there is nothing to say. They must not change
// the state. Only Apply changes it.
type State interface {
	// Decide answers a record of an input. A *Rejection sends the record to the
	// topic rejected. Any other error stops the partition.
	Decide(in InputRecord, now time.Time, offset int64) ([]byte, error)
	// Apply folds the body of the event at offset. It is deterministic: no
	// clock, no randomness, no I/O but the store's. An error means that the
	// body cannot be an event of this state; it is fatal (ErrCorrupt).
	Apply(key string, body []byte, offset int64) error
	// Due returns up to limit keys whose time has come, oldest first.
	Due(now time.Time, limit int) []string
	// Tick decides on a key that Due named. An error stops the partition.
	Tick(key string, now time.Time, offset int64) ([]byte, error)
	// Snapshot returns the body of an event that only moves positions. An error
	// stops the partition.
	Snapshot(now time.Time, offset int64) ([]byte, error)
	// Begins tells, at each claim, the first offset of the ledger's log. Nothing
	// can read the events before it.
	Begins(offset int64)
	// Close says that the process gives the partition up. The store is closed
	// after it.
	Close()
}

// Untimed is embedded by states that have no timers, no snapshots, and nothing
// to do at a claim or at the end.
type Untimed struct{}

// Due returns no keys.
func (Untimed) Due(time.Time, int) []string { return nil }

// Tick is not called.
func (Untimed) Tick(string, time.Time, int64) ([]byte, error) { return nil, nil }

// Snapshot returns no body.
func (Untimed) Snapshot(time.Time, int64) ([]byte, error) { return nil, nil }

// Begins does nothing.
func (Untimed) Begins(int64) {}

// Close does nothing.
func (Untimed) Close() {}

// Rejection is the error of a decision on an input that the stage cannot use. The
// record goes to the topic rejected, and the stage goes on.
type Rejection struct{ Reason string }

func (r *Rejection) Error() string { return "rejected: " + r.Reason }

// InputTopics are the names of the topics that the stage reads.
func (p Processor) InputTopics() []string {
	topics := make([]string, len(p.Inputs))
	for i, in := range p.Inputs {
		topics[i] = in.Topic
	}
	return topics
}

// TimersWaitFor are the inputs that a partition reads up to their ends before
// its timers run, when it begins and when it goes on after a pause (see
// Partition.CatchUp): all but ledgers. A ledger may be far behind, and says
// nothing that a timer waits for.
func (p Processor) TimersWaitFor() (topics []string) {
	for _, in := range p.Inputs {
		if !in.Events {
			topics = append(topics, in.Topic)
		}
	}
	return topics
}

// isLedger tells whether an input is a ledger itself.
func (p Processor) isLedger(topic string) bool {
	return slices.Contains(p.Inputs, Input{Topic: topic, Events: true})
}
