package politeness

// A 5xx says that the page is broken, or that its host is. A 5xx between other answers counts
// against the page, which waits alone. Two in a row count against the host. A 5xx also counts
// against the host if more than a fifth of its pages answer 5xx: it may be shedding load.
//
// Doubts are the measure of that. A page adds to them once, however often it answers 5xx, so the
// further attempts of one broken page never slow its host down.

const (
	// pageDoubts are the doubts that one page adds. Each answer takes one away. So two pages
	// within this many answers make a host doubtful.
	pageDoubts = 4
	// mostDoubts bounds the memory of a host that failed for long.
	mostDoubts = 4 * pageDoubts
)

// Doubt returns the doubts about a host after a page of it answered 5xx for the first time.
func Doubt(doubts uint32) uint32 { return min(doubts, mostDoubts-pageDoubts) + pageDoubts }

// Trust returns the doubts about a host after an answer.
func Trust(doubts uint32) uint32 { return max(doubts, 1) - 1 }

// Doubtful tells whether a 5xx counts against the host.
func Doubtful(doubts uint32) bool { return doubts > pageDoubts }
