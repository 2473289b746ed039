package ledger

import "time"

// Definition is a Stage without its type parameter: what a Partition runs.
type Definition struct {
	ledger   string
	inputs   []input
	open     func(partition int32, store Store) (State, error)
	begins   func(s State, offset int64)
	tick     func(s State, key string, now time.Time, offset int64) ([]byte, error)
	snapshot func(s State, now time.Time, offset int64) ([]byte, error)
}

type input struct {
	topic  string
	events bool
	decide func(s State, in Record, now time.Time, offset int64) ([]byte, error)
}

// Define erases a stage's type of state.
func Define[S State](stage Stage[S]) Definition {
	d := Definition{
		ledger: stage.Ledger,
		open:   func(p int32, store Store) (State, error) { return stage.Open(p, store) },
	}
	for _, in := range stage.Inputs {
		d.inputs = append(d.inputs, input{in.Topic, in.Events,
			func(s State, rec Record, now time.Time, offset int64) ([]byte, error) {
				return in.Decide(s.(S), rec, now, offset)
			}})
	}
	d.begins = func(s State, offset int64) {
		if stage.Begins != nil {
			stage.Begins(s.(S), offset)
		}
	}
	d.tick = func(s State, key string, now time.Time, offset int64) ([]byte, error) {
		return stage.Tick(s.(S), key, now, offset)
	}
	if stage.Snapshot != nil {
		d.snapshot = func(s State, now time.Time, offset int64) ([]byte, error) {
			return stage.Snapshot(s.(S), now, offset)
		}
	}
	return d
}

// Ledger is the topic of the stage's events.
func (d Definition) Ledger() string { return d.ledger }

// Inputs are the topics that the stage reads.
func (d Definition) Inputs() []string {
	topics := make([]string, len(d.inputs))
	for i, in := range d.inputs {
		topics[i] = in.topic
	}
	return topics
}

// input returns the input of a topic, nil when the stage does not read it.
func (d Definition) input(topic string) *input {
	for i := range d.inputs {
		if d.inputs[i].topic == topic {
			return &d.inputs[i]
		}
	}
	return nil
}
