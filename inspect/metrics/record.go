package metrics

import (
	"fmt"
	"time"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/inspect/status"
	"github.com/weftcrawl/weft/internal/memory"
	"github.com/weftcrawl/weft/internal/politeness"
	"github.com/weftcrawl/weft/ledger"
	"github.com/weftcrawl/weft/topics"
)

// Rejected counts a record that a stage could not use.
func (s *Set) Rejected(stage topics.Stage, reason string) {
	s.rejected.WithLabelValues(string(stage), reason).Inc()
}

// Normalized counts n URLs that were accepted (reason "accepted") or refused.
func (s *Set) Normalized(reason string, n int) {
	s.normalized.WithLabelValues(reason).Add(float64(n))
}

// Deduped counts new URLs, URLs that were seen before, and URLs that are merged into a
// variant.
func (s *Set) Deduped(fresh, seen, merged int) {
	s.fresh.Add(float64(fresh))
	s.seen.Add(float64(seen))
	s.merged.Add(float64(merged))
}

// Ledger counts an incident of a ledger by its kind.
func (s *Set) Ledger(stage topics.Stage, kind string) {
	s.ledger.WithLabelValues(string(stage), kind).Inc()
	if kind == ledger.IncidentCheckpoint {
		s.checkpoint.WithLabelValues(string(stage)).SetToCurrentTime()
	}
}

// Exchange counts an HTTP exchange, see stage.Meter.
func (s *Set) Exchange(class string, status int, wireBytes int64, firstByte, total time.Duration) {
	s.exchanges.WithLabelValues(class, statusClass(status)).Inc()
	s.wireBytes.Add(float64(wireBytes))
	s.exchangeTime.Observe(total.Seconds())
	if status > 0 {
		s.firstByte.Observe(firstByte.Seconds())
	}
}

// Connected notes how an exchange came to its connection, see stage.Meter.
func (s *Set) Connected(dns, connect time.Duration) {
	s.dns.Observe(dns.Seconds())
	if connect > 0 {
		s.connect.Observe(connect.Seconds())
	}
}

// Page counts a page handed out; bytes is the size of its body.
func (s *Set) Page(bytes int) {
	s.pages.Inc()
	s.pageBytes.Add(float64(bytes))
}

// Sitemap counts a sitemap by how its reading ended, and its entries.
func (s *Set) Sitemap(outcome string, entries int) {
	s.sitemaps.WithLabelValues(outcome).Inc()
	s.sitemapEntries.Add(float64(entries))
}

// MainText counts a page whose main text was looked for; outcome is empty if it was found.
func (s *Set) MainText(outcome string) {
	if outcome == "" {
		outcome = "found"
	}
	s.mainTexts.WithLabelValues(outcome).Inc()
}

// Structured counts a page that has structured data of a source.
func (s *Set) Structured(source string) { s.structured.WithLabelValues(source).Inc() }

// StructuredProblem counts something that is wrong with structured data of a source.
func (s *Set) StructuredProblem(source, problem string) {
	s.structuredProblems.WithLabelValues(source, problem).Inc()
}

// Extracted counts a page that a rule took fields out of.
func (s *Set) Extracted(rule string) { s.extracted.WithLabelValues(rule).Inc() }

// FieldFailed counts a field that a page does not have as its rule says.
func (s *Set) FieldFailed(rule, field, failure string) {
	s.fieldFailures.WithLabelValues(rule, field, failure).Inc()
}

// Duplicate counts a duplicate page by the distance between the two texts; 0 is the same
// text.
func (s *Set) Duplicate(distance int) {
	if distance == 0 {
		s.identical.Inc()
	} else {
		s.near.Inc()
	}
}

// Slots notes that a request began (1) or ended (-1).
func (s *Set) Slots(change int) { s.slots.Add(float64(change)) }

// PolitenessViolation counts a request that began when its domain or host should have been left
// alone.
func (s *Set) PolitenessViolation(v politeness.Violation) {
	s.violations.WithLabelValues(string(v)).Inc()
}

// BreakerOpened counts a breaker that opened: of a host, or of an origin.
func (s *Set) BreakerOpened() { s.breakers.Inc() }

// Status notes a reading of the crawl's frontier and lags.
func (s *Set) Status(status status.Status) {
	s.frontier(status.Gauges)
	lags := map[[2]string]int64{}
	for _, lag := range status.Lags {
		lags[[2]string{string(lag.Stage), lag.Topic}] += lag.Behind()
	}
	for labels, records := range lags {
		s.lag.WithLabelValues(labels[0], labels[1]).Set(float64(records))
	}
}

// Memory notes what the memory of the process is used for.
func (s *Set) Memory(usage memory.Usage) {
	for _, use := range memory.Uses() {
		s.memory.WithLabelValues(string(use)).Set(float64(usage[use]))
	}
}

func (s *Set) frontier(g *weftpb.Gauges) {
	s.settled.WithLabelValues("fetched").Set(float64(g.GetFetched()))
	s.settled.WithLabelValues("failed").Set(float64(g.GetFailed()))
	s.settled.WithLabelValues("refused").Set(float64(g.GetRefused()))
	s.urls.WithLabelValues("pending").Set(float64(g.GetPending()))
	s.urls.WithLabelValues("queued").Set(float64(g.GetQueued()))
	s.urls.WithLabelValues("out").Set(float64(g.GetOut()))
	s.urls.WithLabelValues("withdrawn").Set(float64(g.GetWithdrawn()))
	s.urls.WithLabelValues("down").Set(float64(g.GetDown()))
	s.urls.WithLabelValues("blocked").Set(float64(g.GetBlocked()))
	s.domains.WithLabelValues("out").Set(float64(g.GetDomainsOut()))
	s.domains.WithLabelValues("waiting").Set(float64(g.GetDomains() - g.GetDomainsOut()))
	s.visits.Set(float64(g.GetVisits()))
}

// statusClass groups status codes, so that a server cannot choose the labels.
func statusClass(status int) string {
	switch class := status / 100; {
	case class == 0:
		return "none"
	case class > 0 && class <= 5:
		return fmt.Sprintf("%dxx", class)
	}
	return "other"
}
