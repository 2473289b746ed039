package ledger

import (
	"errors"
	"testing"
	"time"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/test/memstore"
)

// A position that no event carries yet is not in a checkpoint: its next owner
// would commit it, the janitor would trim, and a third one, who has only the
// ledger, would find its inputs gone.
func TestCheckpointsHoldCarriedPositionsOnly(t *testing.T) {
	now := time.Unix(1, 0)
	p, err := NewPartition((&world{}).stage(), 0, &memstore.Store{}, Nothing(), PartitionOptions{CarryIdle: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Fold("", ClaimOf("a"), 0); err != nil {
		t.Fatal(err)
	}
	p.Live(0)
	take := func(offset int64, value string) []byte {
		t.Helper()
		event, err := p.Answer(InputRecord{Topic: inTopic, Value: []byte(value), Offset: offset}, now)
		if err != nil {
			t.Fatal(err)
		}
		return event
	}
	if event := take(0, "skip"); event != nil {
		t.Fatal("a record that is skipped makes an event")
	}
	if at, known := p.Folded().Positions[inTopic]; known {
		t.Errorf("position %v is nowhere in the ledger", at)
	}
	if event := take(0, "word"); event != nil {
		t.Error("a record is answered twice before its position is carried")
	}
	if err := p.FoldNext("", take(1, "word"), now); err != nil {
		t.Fatal(err)
	}
	if at := p.Folded().Positions[inTopic]; at.Offset != 1 {
		t.Errorf("an event carries position 1, the checkpoint says %v", at)
	}
}

// An owner that was stopped between its claim and its resumption finds its
// inputs trimmed behind the owner after it: that is no loss, and mends itself.
func TestInputsTrimmedByTheNextOwnerAreNotLost(t *testing.T) {
	p, err := NewPartition((&world{}).stage(), 0, &memstore.Store{}, Nothing(), PartitionOptions{})
	if err != nil {
		t.Fatal(err)
	}
	moved := &weftpb.Event{Epoch: 1, Offset: 1, Positions: []*weftpb.Position{{Topic: inTopic, Offset: 3}}}
	for offset, record := range [][]byte{ClaimOf("a"), encode(moved), ClaimOf("b")} {
		if err := p.Fold("", record, int64(offset)); err != nil {
			t.Fatal(err)
		}
	}
	trimmed := Bounds{Start: 7, End: 9}
	for end, want := range map[int64]error{3: ErrInputLost, 4: ErrFenced} {
		_, _, err := p.Resume(Logs{Bounds: map[string]Bounds{inTopic: trimmed, ledgerTopic: {End: end}}}, false)
		if !errors.Is(err, want) || lasting(err) != (want == ErrInputLost) {
			t.Errorf("with a ledger that ends at %d: %v", end, err)
		}
	}
}

// After a power cut the ledger of an embedded broker may have lost events whose
// inputs were consumed and trimmed. The commit tells that from a janitor who
// trimmed too far.
func TestALedgerThatLostItsEndGoesOn(t *testing.T) {
	for _, c := range []struct {
		name      string
		committed int64
		mayReset  bool
		want      error
	}{
		{"power cut", 8, true, nil},
		{"trimmed too far", 6, true, ErrInputLost},
		{"a cluster", 8, false, ErrInputLost},
	} {
		p, err := NewPartition((&world{}).stage(), 0, &memstore.Store{}, Nothing(), PartitionOptions{})
		if err != nil {
			t.Fatal(err)
		}
		moved := &weftpb.Event{Epoch: 1, Offset: 1, Positions: []*weftpb.Position{{Topic: inTopic, Offset: 3}}}
		for offset, record := range [][]byte{ClaimOf("a"), encode(moved), ClaimOf("b")} {
			if err := p.Fold("", record, int64(offset)); err != nil {
				t.Fatal(err)
			}
		}
		next, reset, err := p.Resume(Logs{Commits: map[string]int64{inTopic: c.committed}, Bounds: map[string]Bounds{
			inTopic: {Start: 7, End: 9}, ledgerTopic: {End: 3},
		}}, c.mayReset)
		if !errors.Is(err, c.want) || err == nil && (next[inTopic] != 7 || reset == nil) {
			t.Errorf("%s: goes on at %v, %v", c.name, next, err)
		}
	}
}
