package ledger

import (
	"context"
	"testing"

	"github.com/IBM/sarama"
)

// lostHandler is goka, and loses its partition while it recovers.
type lostHandler struct {
	sarama.ConsumerGroupHandler // ConsumeClaim is not called
	lose                        context.CancelFunc
	cleaned                     bool
}

func (h *lostHandler) Setup(sarama.ConsumerGroupSession) error   { h.lose(); return nil }
func (h *lostHandler) Cleanup(sarama.ConsumerGroupSession) error { h.cleaned = true; return nil }

// A partition that is lost before it is claimed is closed without having been read.
func TestPartitionLostBeforeItsClaim(t *testing.T) {
	ctx, lose := context.WithCancel(t.Context())
	goka := &lostHandler{lose: lose}
	if err := newSession(&table{run: &runner{opts: Options{}.withDefaults()}}).Consume(ctx, nil, goka); err != nil {
		t.Error(err)
	}
	if !goka.cleaned {
		t.Error("goka did not clean up")
	}
}
