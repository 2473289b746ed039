package progress

// Snapshot is a crawl at one moment. Counts are totals since the crawl began,
// gauges are what is there now.
type Snapshot struct {
	Pages  int64 // parsed
	Bytes  int64 // of bodies, decoded
	Errors int64 // exchanges without a usable response

	Queued         int64 // URLs waiting in the frontier
	Out            int64 // URLs released to the fetchers
	DomainsActive  int64 // domains with a visit out
	DomainsWaiting int64 // domains with URLs, waiting for their turn

	// Held says what holds the crawl back, such as "paused: fetch"; empty: nothing.
	Held string
}
