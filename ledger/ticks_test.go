package ledger

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/IBM/sarama"
)

// claimOf is a claim with these messages.
type claimOf struct {
	sarama.ConsumerGroupClaim
	messages chan *sarama.ConsumerMessage
}

func (c claimOf) Messages() <-chan *sarama.ConsumerMessage { return c.messages }

// A message that came with the hold waits, whichever is looked at first.
func TestNothingPassesAHold(t *testing.T) {
	for range 30 {
		synctest.Test(t, func(t *testing.T) {
			held, changed, released := false, make(chan struct{}), make(chan struct{})
			table := &table{run: &runner{opts: Options{Resolution: time.Hour, Held: func() (bool, <-chan struct{}) {
				was, now := held, changed
				held, changed = !held, released
				return was, now
			}}}}
			claim := claimOf{messages: make(chan *sarama.ConsumerMessage, 1)}
			claim.messages <- &sarama.ConsumerMessage{}
			close(changed)
			merged := newTicks(claim, table, false)
			ctx, cancel := context.WithCancel(t.Context())
			go merged.merge(ctx)
			synctest.Wait()
			select {
			case <-merged.Messages():
				t.Fatal("it passed")
			default:
			}
			close(released)
			<-merged.Messages()
			cancel()
			for range merged.Messages() {
				t.Fatal("another")
			}
		})
	}
}
