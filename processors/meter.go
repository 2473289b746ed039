package processors

import (
	"github.com/weftcrawl/weft/fetch"
	"github.com/weftcrawl/weft/politeness"
	"github.com/weftcrawl/weft/topics"
)

// Meter is told what stages do. Reasons are few and fixed: never a URL or a
// domain. Its methods are called by many goroutines.
type Meter interface {
	// Rejected counts a record that a stage could not use.
	Rejected(stage topics.Stage, reason string)
	// Normalized counts n URLs taken ("accepted") or refused for a reason.
	Normalized(reason string, n int)
	// Deduped counts URLs that were new, URLs that had been seen, and URLs that
	// were given up for others which stand for them.
	Deduped(fresh, seen, merged int)
	// Ledger counts a ledger.Happening by its kind.
	Ledger(stage topics.Stage, kind string)
	// Exchange counts an HTTP exchange.
	Exchange(x *fetch.Exchange)
	// Page counts a page handed out; bytes is the size of its body.
	Page(bytes int)
	// Duplicate counts a page that is a duplicate of another, at a distance; 0 is the
	// same text.
	Duplicate(distance int)
	// Slots notes that a request began (1) or ended (-1).
	Slots(change int)
	// Hurried counts a request that began when its domain should have been left
	// alone. There should never be one.
	Hurried(v politeness.Violation)
	// Tripped counts a domain's breaker that opened.
	Tripped()
	// Outcomes reports, when this process gives a partition up, how many of
	// its URLs were settled since the crawl began, by reason.
	Outcomes(partition int32, outcomes map[string]int64)
}
