package transfer

import (
	"fmt"
	"slices"
	"testing"

	"github.com/weftcrawl/weft/ledger"
)

// TestChainKeepsOwnersApart merges the events of two partitions. One of them had two owners: what
// readers of the ledger make of it.
func TestChainKeepsOwnersApart(t *testing.T) {
	var c chain
	var reader ledger.EventReader
	var got []string
	offset := int64(0)
	read := func(raw []byte) {
		ev, err := reader.Read(raw, "ledger", 0, offset)
		if err != nil {
			t.Fatal(err)
		}
		if ev == nil {
			got = append(got, "claim")
		} else {
			got = append(got, fmt.Sprintf("%s of epoch %d", ev.Body, ev.Epoch))
		}
		offset++
	}
	for i, from := range []struct {
		old   int32
		epoch int64
	}{{0, 1}, {1, 1}, {0, 1}, {0, 9}, {1, 1}, {0, 9}} {
		if c.follow(from.old, from.epoch) {
			read(ledger.ClaimOf("test"))
		}
		if c.next != offset {
			t.Fatalf("event %d stands at %d, announced for %d", i, offset, c.next)
		}
		raw, err := c.event(fmt.Appendf(nil, "%d", i))
		if err != nil {
			t.Fatal(err)
		}
		read(raw)
	}
	want := []string{
		"claim", "0 of epoch 1", "1 of epoch 1", "2 of epoch 1", "claim", "3 of epoch 5", "4 of epoch 5", "5 of epoch 5",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
