package ledger

import (
	"context"
	"time"

	"github.com/IBM/sarama"
)

// ticks is the claim of an input that stops while the stage is held. In that of
// a partition's first input the partition's timers are put between the
// messages: a tick is a message at tickOffset whose key is due.
// goka has visitors for this. They run beside the inputs, so their end has to
// be kept apart from that of a session (goka closes the channel that a visitor
// sends to), and goka v1.1.16 reads the count of an aborted visit while the
// acknowledgements of its events still add to it.
type ticks struct {
	sarama.ConsumerGroupClaim
	table  *table
	timers bool
	merged chan *sarama.ConsumerMessage
}

// tickOffset marks a tick; no record has it.
const tickOffset = -1

func newTicks(claim sarama.ConsumerGroupClaim, t *table, timers bool) *ticks {
	return &ticks{claim, t, timers, make(chan *sarama.ConsumerMessage)}
}

// Messages returns the claim's messages and the ticks.
func (k *ticks) Messages() <-chan *sarama.ConsumerMessage { return k.merged }

// merge feeds Messages until the claim or ctx ends. It asks for due keys when
// those that it asked for before are answered, so no key is ticked twice for
// one reason.
func (k *ticks) merge(ctx context.Context) {
	ticker := time.NewTicker(k.table.run.opts.Resolution)
	defer ticker.Stop()
	defer close(k.merged)
	var due []*sarama.ConsumerMessage
	held, changed := k.table.run.opts.Held()
	k.catchUp(ctx)
	for {
		select {
		case <-changed: // counts before all else that is ready
			if held, changed = k.table.run.opts.Held(); !held {
				k.catchUp(ctx)
			}
		default:
		}
		var tick *sarama.ConsumerMessage
		var merged chan<- *sarama.ConsumerMessage
		if len(due) > 0 {
			tick, merged = due[0], k.merged
		}
		messages := k.ConsumerGroupClaim.Messages()
		if held {
			messages, merged = nil, nil
		}
		select {
		case <-ctx.Done():
			return
		case <-changed:
		case msg, open := <-messages:
			if !open {
				return
			}
			select {
			case k.merged <- msg:
			case <-ctx.Done():
				return
			}
		case merged <- tick:
			due = due[1:]
		case <-ticker.C:
			if !k.timers || held || len(due) > 0 || k.table.ticking.Load() > 0 {
				continue
			}
			due = k.messages(k.table.due())
			k.table.ticking.Store(int64(len(due)))
		}
	}
}

// messages makes the ticks of keys.
func (k *ticks) messages(keys []string) []*sarama.ConsumerMessage {
	msgs := make([]*sarama.ConsumerMessage, len(keys))
	for i, key := range keys {
		msgs[i] = &sarama.ConsumerMessage{Topic: k.Topic(), Partition: k.Partition(), Offset: tickOffset, Key: []byte(key)}
	}
	return msgs
}
