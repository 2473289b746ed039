package ledger

import (
	"time"

	"github.com/IBM/sarama"
)

// tickOffset marks a tick, which is a message to the partition whose key is due; no
// record has it.
//
// goka has visitors for timers. They are not used, because they run beside the
// inputs. Their end would have to be distinguished from the end of a session
// (goka closes the channel that a visitor sends to), and goka v1.1.16 reads the
// count of an aborted visit while the acknowledgements of its events still add
// to it.
const tickOffset = -1

// merge feeds Messages with the records of the inputs, and with ticks between them,
// until the session ends. It stops while the stage is paused. It looks for due keys
// only when the ticks before are answered, so that no key is ticked twice for one
// reason.
func (s *session) merge() {
	opts := s.table.run.opts
	ticker := time.NewTicker(opts.Resolution)
	defer ticker.Stop()
	defer close(s.messages)
	var due []*sarama.ConsumerMessage
	paused, changed := opts.Paused()
	s.catchUp()
	for {
		select {
		case <-changed: // comes before everything else that is ready
			if paused, changed = opts.Paused(); !paused {
				s.catchUp()
			}
		default:
		}
		var tick *sarama.ConsumerMessage
		var merged chan<- *sarama.ConsumerMessage
		if len(due) > 0 {
			tick, merged = due[0], s.messages
		}
		records := s.records
		if paused {
			records, merged = nil, nil
		}
		select {
		case <-s.ctx.Done():
			return
		case <-changed:
		case msg := <-records:
			select {
			case s.messages <- msg:
			case <-s.ctx.Done():
				return
			}
		case merged <- tick:
			due = due[1:]
		case <-ticker.C:
			if paused || len(due) > 0 || s.table.ticking.Load() > 0 {
				continue
			}
			for _, key := range s.table.due() {
				due = append(due, &sarama.ConsumerMessage{Topic: s.Topic(), Partition: s.Partition(), Offset: tickOffset, Key: []byte(key)})
			}
			s.table.ticking.Store(int64(len(due)))
		}
	}
}

// catchUp asks for the ends of the inputs that timers wait for.
func (s *session) catchUp() {
	t, ends := s.table, map[string]int64{}
	for _, topic := range t.run.TimersWaitFor() {
		b, err := boundsOf(s.ctx, t.run.admin, topic, t.partition)
		if err == nil {
			b.End, err = t.run.source(topic, t.partition).lastGiven(s.ctx, b)
		}
		if err == nil && b.Start < b.End {
			ends[topic] = b.End
		} else if err != nil && s.ctx.Err() == nil {
			t.run.log.Warn("timers do not wait for an input", "topic", topic, "error", err)
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.Partition != nil {
		t.CatchUp(ends)
	}
}
