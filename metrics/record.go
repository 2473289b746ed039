package metrics

import (
	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/drain"
	"github.com/weftcrawl/weft/fetch"
	"github.com/weftcrawl/weft/ledger"
	"github.com/weftcrawl/weft/politeness"
	"github.com/weftcrawl/weft/topics"
)

// Rejected counts a record that a stage could not use.
func (s *Set) Rejected(stage topics.Stage, reason string) {
	s.rejected.WithLabelValues(string(stage), reason).Inc()
}

// Normalized counts n URLs taken ("accepted") or refused for a reason.
func (s *Set) Normalized(reason string, n int) {
	s.normalized.WithLabelValues(reason).Add(float64(n))
}

// Deduped counts URLs that were new, URLs that had been seen, and URLs that were
// given up for others which stand for them.
func (s *Set) Deduped(fresh, seen, merged int) {
	s.fresh.Add(float64(fresh))
	s.seen.Add(float64(seen))
	s.merged.Add(float64(merged))
}

// Ledger counts a ledger.Happening by its kind.
func (s *Set) Ledger(stage topics.Stage, kind string) {
	s.ledger.WithLabelValues(string(stage), kind).Inc()
	if kind == ledger.HappenedCheckpoint {
		s.checkpoint.WithLabelValues(string(stage)).SetToCurrentTime()
	}
}

// Exchange counts an HTTP exchange.
func (s *Set) Exchange(x *fetch.Exchange) {
	s.exchanges.WithLabelValues(string(x.Class), statusClass(x.Status)).Inc()
	s.wireBytes.Add(float64(x.WireBytes))
	s.exchangeTime.Observe(x.Total.Seconds())
	if x.Status > 0 {
		s.firstByte.Observe(x.FirstByte.Seconds())
	}
}

// Page counts a page handed out; bytes is the size of its body.
func (s *Set) Page(bytes int) {
	s.pages.Inc()
	s.pageBytes.Add(float64(bytes))
}

// Duplicate counts a page that is a duplicate of another, at a distance; 0 is the
// same text.
func (s *Set) Duplicate(distance int) {
	if distance == 0 {
		s.identical.Inc()
	} else {
		s.near.Inc()
	}
}

// Slots notes that a request began (1) or ended (-1).
func (s *Set) Slots(change int) { s.slots.Add(float64(change)) }

// Hurried counts a request that began when its domain should have been left
// alone.
func (s *Set) Hurried(v politeness.Violation) { s.violations.WithLabelValues(string(v)).Inc() }

// Tripped counts a domain's breaker that opened.
func (s *Set) Tripped() { s.breakers.Inc() }

// Status notes a reading of the crawl's frontier and lags.
func (s *Set) Status(status drain.Status) {
	s.frontier(status.Gauges)
	lags := map[[2]string]int64{}
	for _, lag := range status.Lags {
		lags[[2]string{string(lag.Stage), lag.Topic}] += lag.Behind()
	}
	for labels, records := range lags {
		s.lag.WithLabelValues(labels[0], labels[1]).Set(float64(records))
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
	s.domains.WithLabelValues("out").Set(float64(g.GetDomainsOut()))
	s.domains.WithLabelValues("waiting").Set(float64(g.GetDomains() - g.GetDomainsOut()))
	s.visits.Set(float64(g.GetVisits()))
}

// statusClass keeps servers from choosing our labels.
func statusClass(status int) string {
	switch status / 100 {
	case 0:
		return "none"
	case 1:
		return "1xx"
	case 2:
		return "2xx"
	case 3:
		return "3xx"
	case 4:
		return "4xx"
	case 5:
		return "5xx"
	}
	return "other"
}
