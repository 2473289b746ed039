package similar

import "math/bits"

// tally counts, for each of 64 bits, in how many of the words added it is set.
// Counters are vertical: bit i of planes[k] is bit k of the counter of bit i, so
// that an addition moves all 64 of them at once. Words are added eight at a time
// by carry-save adders (Harley and Seal; Warren, Hacker's Delight, section 5-1),
// which takes some seven operations each.
type tally struct {
	waiting [8]uint64
	n       int // of waiting
	added   uint64
	planes  [counterBits]uint64
}

// counterBits is enough for the features of a text of 4 GiB.
const counterBits = 32

func (t *tally) add(feature uint64) {
	t.waiting[t.n] = feature
	t.n++
	if t.n == len(t.waiting) {
		t.fold()
	}
}

// fold counts the words that wait; those that are missing are 0.
func (t *tally) fold() {
	w := &t.waiting
	ones, twos, fours := t.planes[0], t.planes[1], t.planes[2]
	ones, twoA := carrySave(ones, w[0], w[1])
	ones, twoB := carrySave(ones, w[2], w[3])
	twos, fourA := carrySave(twos, twoA, twoB)
	ones, twoA = carrySave(ones, w[4], w[5])
	ones, twoB = carrySave(ones, w[6], w[7])
	twos, fourB := carrySave(twos, twoA, twoB)
	fours, carry := carrySave(fours, fourA, fourB)
	t.planes[0], t.planes[1], t.planes[2] = ones, twos, fours
	for k := 3; carry != 0 && k < counterBits; k++ {
		t.planes[k], carry = t.planes[k]^carry, t.planes[k]&carry
	}
	t.added += uint64(t.n)
	t.n, t.waiting = 0, [8]uint64{}
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
