package stagetest

import (
	"bytes"
	"testing"

	"github.com/weftcrawl/weft/ledger"
	"github.com/weftcrawl/weft/test/memstore"
)

// folding is a stage's state, live, and the ledger that it has written.
type folding struct {
	t     *testing.T
	stage ledger.Processor
	store *memstore.Store
	Live  ledger.State
	Next  int64 // offset of the next event
}

// NewFolding returns an empty ledger of a stage.
func NewFolding(t *testing.T, stage ledger.Processor) *folding {
	f := &folding{t: t, stage: stage, store: &memstore.Store{}, Next: 1}
	f.Live = f.open(f.store)
	return f
}

func (f *folding) open(store ledger.Store) ledger.State {
	state, err := f.stage.Open(0, store)
	if err != nil {
		f.t.Fatal(err)
	}
	return state
}

// Take decides an input and folds the decision. What was decided has to be the
// same after a restart, and to leave the same behind: what a state remembers
// beside its store is not part of it.
func (f *folding) Take(key string, decide func(ledger.State) ([]byte, error)) (event []byte, err error) {
	again := f.store.Clone()
	restarted := f.open(again)
	event, err = decide(f.Live)
	same, sameErr := decide(restarted)
	if !bytes.Equal(event, same) || (err == nil) != (sameErr == nil) {
		f.t.Fatalf("decided\n%x, %v\nand after a restart\n%x, %v", event, err, same, sameErr)
	}
	if err != nil || event == nil {
		return event, err
	}
	if err := f.Live.Apply(key, event, f.Next); err != nil {
		f.t.Fatalf("what was decided cannot be folded: %v", err)
	}
	if err := restarted.Apply(key, event, f.Next); err != nil {
		f.t.Fatal(err)
	}
	if at, equal := f.store.Equal(again); !equal {
		f.t.Fatalf("folded after a restart, %q differs", at)
	}
	f.Next++
	return event, nil
}
