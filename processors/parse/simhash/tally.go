package simhash

import "math/bits"

// tally counts, for each of 64 bits, in how many of the added words it is set. Counters are
// vertical: bit i of planes[k] is bit k of the counter of bit i, so that an addition changes
// all 64 counters at once. Words are added two at a time by carry-save adders (Harley and
// Seal; Warren, Hacker's Delight, section 5-1): the carries of two additions are added to
// the next plane together, so that an addition takes about ten operations.
type tally struct {
	added  uint64 // words
	planes [counterBits]uint64
	// held are carries into a plane that wait for the carries of the next addition.
	held [heldPlanes]uint64
}

const (
	// counterBits is enough for the features of a text of 4 GiB.
	counterBits = 32
	heldPlanes  = 4
)

// add adds two words.
func (t *tally) add(a, b uint64) {
	pairs := t.added / 2
	t.added += 2
	var carry uint64
	if t.planes[0], carry = carrySave(t.planes[0], a, b); pairs&1 == 0 {
		t.held[1] = carry
		return
	}
	if t.planes[1], carry = carrySave(t.planes[1], t.held[1], carry); pairs&2 == 0 {
		t.held[2] = carry
		return
	}
	if t.planes[2], carry = carrySave(t.planes[2], t.held[2], carry); pairs&4 == 0 {
		t.held[3] = carry
		return
	}
	t.planes[3], carry = carrySave(t.planes[3], t.held[3], carry)
	t.ripple(heldPlanes, carry)
}

// ripple adds carry to a plane, and the carry of that to the next plane.
func (t *tally) ripple(plane int, carry uint64) {
	for k := plane; carry != 0 && k < counterBits; k++ {
		t.planes[k], carry = t.planes[k]^carry, t.planes[k]&carry
	}
}

// settle adds the waiting carries. Nothing may be added afterwards.
func (t *tally) settle() {
	pairs := t.added / 2
	for plane := 1; plane < heldPlanes; plane++ {
		if pairs>>(plane-1)&1 == 1 {
			t.ripple(plane, t.held[plane])
		}
	}
}

// carrySave adds three bits in each of 64 places.
func carrySave(a, b, c uint64) (sum, carry uint64) {
	u := a ^ b
	return u ^ c, a&b | u&c
}

// count returns how many of the words added have bit i set.
func (t *tally) count(i int) (n uint64) {
	for k := counterBits - 1; k >= 0; k-- {
		n = n<<1 | t.planes[k]>>i&1
	}
	return n
}

// mix spreads a and b over 64 bits: the halves of their product (Wang Yi,
// wyhash).
func mix(a, b uint64) uint64 {
	high, low := bits.Mul64(a^0xa0761d6478bd642f, b^0xe7037ed1a0b428db)
	return high ^ low
}
