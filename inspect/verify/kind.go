package verify

// Kind names what is wrong. The values are stable.
type Kind string

// The kinds of violations, by claim.
const (
	// A URL that normalize or dedupe has read did not go on.
	KindLost Kind = "lost_url"
	// A URL is in deduped twice.
	KindDedupedTwice Kind = "deduped_twice"
	// A URL is in the partition, or under the key, of another domain.
	KindMisplaced Kind = "misplaced_url"

	// A URL leaves a trap that it is not in.
	KindNotParked Kind = "lifted_without_parked"
	// A URL is merged into one that is not in the crawl.
	KindNoStandIn Kind = "merged_into_nothing"

	// schedule has read the URL and did not admit it, admitted it twice, or
	// admitted one that is not in deduped.
	KindNotAdmitted   Kind = "not_admitted"
	KindAdmittedTwice Kind = "admitted_twice"
	KindNotDeduped    Kind = "admitted_without_deduped"
	// A URL moved from a place, but was not there.
	KindImpossibleStep Kind = "impossible_step"
	// Gauges differ from the events before them.
	KindGauges Kind = "gauges"
	// A domain with URLs is neither out nor due, or one without is due.
	KindForgotten Kind = "forgotten_domain"

	// A page without an exchange, an exchange without a page, and a page with the id of
	// another URL.
	KindNoExchange Kind = "page_without_exchange"
	KindNoPage     Kind = "exchange_without_page"
	KindPageID     Kind = "page_id"

	// A request came too soon, or while another was being made.
	KindShort   Kind = "short_interval"
	KindOverlap Kind = "overlap"
	// An address was asked faster than its budget, or for more at once.
	KindAddressFast    Kind = "address_too_fast"
	KindAddressCrowded Kind = "address_too_many_at_once"
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
	// A visit was released to a blocked domain, or to a domain with no request left for that day.
	KindBlocked Kind = "blocked"
	KindPerDay  Kind = "too_many_requests_a_day"

	// A damaged event.
	KindCorrupt Kind = "corrupt"
	// An event names a claim that does not exist, or follows a gap.
	KindEpoch Kind = "epoch"
	KindGap   Kind = "gap"
	// A position went back, or is not within its input.
	KindPosition Kind = "position"
	// A group has committed more than its ledger has folded.
	KindCommit Kind = "commit"

	// The same, by a server's log.
	KindLogShort          Kind = "log_short_interval"
	KindLogOverlap        Kind = "log_overlap"
	KindLogAddressFast    Kind = "log_address_too_fast"
	KindLogAddressCrowded Kind = "log_address_too_many_at_once"
	KindLogBeforeRobots   Kind = "log_before_robots"
	KindLogDenied         Kind = "log_denied"
	// A request that the ledgers never released.
	KindLogUnknown Kind = "log_unknown_request"
)

// claimOf says which claim a kind refutes.
var claimOf = map[Kind]Claim{
	KindLost: URLs, KindDedupedTwice: URLs, KindMisplaced: URLs, KindNotParked: URLs, KindNoStandIn: URLs,
	KindNotAdmitted: Journeys, KindAdmittedTwice: Journeys, KindNotDeduped: Journeys,
	KindImpossibleStep: Journeys, KindGauges: Journeys, KindForgotten: Journeys,
	KindNoExchange: Pages, KindNoPage: Pages, KindPageID: Pages,
	KindShort: Delays, KindOverlap: Delays, KindDelay: Delays, KindAddressFast: Delays, KindAddressCrowded: Delays,
	KindBeforeRobots: Robots, KindDenied: Robots,
	KindDepth: Budgets, KindAttempts: Budgets, KindPerDomain: Budgets, KindWindow: Budgets, KindSize: Budgets, KindBlocked: Budgets, KindPerDay: Budgets,
	KindCorrupt: Ledgers, KindEpoch: Ledgers, KindGap: Ledgers, KindPosition: Ledgers, KindCommit: Ledgers,
	KindLogShort: SiteLog, KindLogOverlap: SiteLog, KindLogAddressFast: SiteLog, KindLogAddressCrowded: SiteLog,
	KindLogBeforeRobots: SiteLog, KindLogDenied: SiteLog, KindLogUnknown: SiteLog,
}
