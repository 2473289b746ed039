package duplicates

import (
	"encoding/binary"

	"github.com/weftcrawl/weft/similar"
)

// known is what is in memory of a partition: its representatives, and which texts
// it may have. Most pages have a text of their own, and Pebble need not be asked
// for it, neither when they are judged nor when they are folded.
type known struct {
	near  near
	texts texts
}

// texts is a set of texts, of which it has the first 32 bits of their hashes: among
// a million, one text of four thousand that are not in it looks as if it were. It
// takes 5 to 11 bytes for each; a map takes 13 to 20.
type texts struct {
	slots []uint32 // the hash or, if that is taken, the next; 0: free
	n     int
}

// fewestSlots is a power of two, as all numbers of slots are.
const fewestSlots = 64

func (t *texts) add(hash similar.Hash) {
	if 4*(t.n+1) > 3*len(t.slots) {
		t.grow()
	}
	if at := t.find(short(hash)); t.slots[at] == 0 {
		t.slots[at] = short(hash)
		t.n++
	}
}

// mayHave tells whether the text may have been added. Its no is final.
func (t *texts) mayHave(hash similar.Hash) bool {
	return t.n > 0 && t.slots[t.find(short(hash))] != 0
}

// short is never 0.
func short(hash similar.Hash) uint32 { return max(binary.BigEndian.Uint32(hash[:]), 1) }

// find is the slot of a text, or the free one where it would be.
func (t *texts) find(text uint32) int {
	last := len(t.slots) - 1
	at := int(text) & last
	for t.slots[at] != 0 && t.slots[at] != text {
		at = (at + 1) & last
	}
	return at
}

func (t *texts) grow() {
	old := t.slots
	t.slots = make([]uint32, max(2*len(old), fewestSlots))
	for _, text := range old {
		if text != 0 {
			t.slots[t.find(text)] = text
		}
	}
}
