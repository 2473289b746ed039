package ledger

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/IBM/sarama"
)

// A message that came with the pause waits, whichever is looked at first.
func TestNothingPassesAPause(t *testing.T) {
	for range 30 {
		synctest.Test(t, func(t *testing.T) {
			paused, changed, resumed := false, make(chan struct{}), make(chan struct{})
			table := &table{run: &runner{opts: Options{Resolution: time.Hour, Paused: func() (bool, <-chan struct{}) {
				was, now := paused, changed
				paused, changed = !paused, resumed
				return was, now
			}}}}
			merged := newSession(table)
			merged.records = make(chan *sarama.ConsumerMessage, 1)
			merged.records <- &sarama.ConsumerMessage{}
			close(changed)
			var cancel context.CancelFunc
			merged.ctx, cancel = context.WithCancel(t.Context())
			go merged.merge()
			synctest.Wait()
			select {
			case <-merged.Messages():
				t.Fatal("it passed")
			default:
			}
			close(resumed)
			<-merged.Messages()
			cancel()
			for range merged.Messages() {
				t.Fatal("another")
			}
		})
	}
}
