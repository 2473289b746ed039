package similar

import "math/bits"

// numerals counts words of nothing but digits, which make no features.
type numerals struct {
	numbers int
	// seen has a bit for each different number, or several that share it.
	seen [4]uint64
	// days is how far the numbers count from one, whatever lies between them.
	days uint64
}

const (
	// gridDays is how far every month counts.
	gridDays = 28
	// mostOfCalendar is more different numbers than a calendar has: days, weeks,
	// hours, minutes, and some years. One with a list of many years to choose from is
	// taken for a table.
	mostOfCalendar = 64
)

func (n *numerals) number(value uint64) {
	n.numbers++
	slot := value * 0x9e3779b97f4a7c15 >> 56
	n.seen[slot/64] |= 1 << (slot % 64)
	if value == n.days+1 {
		n.days++
	}
}

// isGrid tells whether the days of a month are there.
func (n *numerals) isGrid() bool { return n.days >= gridDays }

// isTable tells whether there are more numbers than words, and more different ones
// than in any calendar.
func (n *numerals) isTable(words int) bool {
	different := 0
	for _, slots := range n.seen {
		different += bits.OnesCount64(slots)
	}
	return n.numbers > words && different > mostOfCalendar
}
