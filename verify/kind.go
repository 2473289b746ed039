package verify

// Kind names what is wrong. The values are stable.
type Kind string

// The kinds of violations, by claim.
const (
	// A URL that normalize or dedupe has read did not go on.
	KindLost Kind = "lost_url"
	// A URL is in deduped twice.
	KindDedupedTwice Kind = "deduped_twice"
	// A URL lies in the partition, or under the key, of another domain.
	KindMisplaced Kind = "misplaced_url"

	// A URL is let out of a trap that it is not in.
	KindNotParked Kind = "lifted_without_parked"
	// A URL is given up for one that is not in the crawl.
	KindNoStandIn Kind = "merged_into_nothing"

	// schedule has read the URL and did not admit it, admitted it twice, or
	// admitted one that is not in deduped.
	KindNotAdmitted   Kind = "not_admitted"
	KindAdmittedTwice Kind = "admitted_twice"
	KindNotDeduped    Kind = "admitted_without_deduped"
	// A URL moved from a place where it was not.
	KindImpossibleStep Kind = "impossible_step"
	// Gauges say something else than the events before them.
	KindGauges Kind = "gauges"
	// A domain with URLs is neither out nor due, or one without is due.
	KindForgotten Kind = "forgotten_domain"

	// A page without an exchange, an exchange without a page, and a page whose
	// id is not that of its URL.
	KindNoExchange Kind = "page_without_exchange"
	KindNoPage     Kind = "exchange_without_page"
	KindPageID     Kind = "page_id"

	// A request came too soon, or while another was being made.
	KindShort   Kind = "short_interval"
	KindOverlap Kind = "overlap"
	// A visit was released with less delay than what was in force.
	KindDelay Kind = "delay_too_small"

	// A page was released without rules in force, or against them.
	KindBeforeRobots Kind = "before_robots"
	KindDenied       Kind = "denied"

	KindDepth     Kind = "too_deep"
	KindAttempts  Kind = "too_many_attempts"
	KindPerDomain Kind = "too_many_visits_of_domain"
	KindWindow    Kind = "too_many_visits"
	KindSize      Kind = "too_large"

	// A record that is no event.
	KindCorrupt Kind = "corrupt"
	// An event names a claim that is not there, or follows a gap.
	KindEpoch Kind = "epoch"
	KindGap   Kind = "gap"
	// A position went back, or is not within its input.
	KindPosition Kind = "position"
	// A group has committed more than its ledger has folded.
	KindCommit Kind = "commit"

	// The same, by a server's log.
	KindLogShort        Kind = "log_short_interval"
	KindLogOverlap      Kind = "log_overlap"
	KindLogBeforeRobots Kind = "log_before_robots"
	KindLogDenied       Kind = "log_denied"
	// A request that the ledgers never released.
	KindLogUnknown Kind = "log_unknown_request"
)

func (k Kind) claim() Claim {
	switch k {
	case KindLost, KindDedupedTwice, KindMisplaced, KindNotParked, KindNoStandIn:
		return URLs
	case KindNoExchange, KindNoPage, KindPageID:
		return Pages
	case KindShort, KindOverlap, KindDelay:
		return Delays
	case KindBeforeRobots, KindDenied:
		return Robots
	case KindDepth, KindAttempts, KindPerDomain, KindWindow, KindSize:
		return Budgets
	case KindCorrupt, KindEpoch, KindGap, KindPosition, KindCommit:
		return Ledgers
	case KindLogShort, KindLogOverlap, KindLogBeforeRobots, KindLogDenied, KindLogUnknown:
		return SiteLog
	}
	return Journeys
}
