package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/weftcrawl/weft/internal/memory"
	"github.com/weftcrawl/weft/internal/politeness"
	"github.com/weftcrawl/weft/ledger"
	"github.com/weftcrawl/weft/processors/fetch/httpclient"
	"github.com/weftcrawl/weft/topics"
)

// Set is the metrics of one process. Its methods are safe for concurrent use.
type Set struct {
	pages, pageBytes        prometheus.Counter
	identical, near         prometheus.Counter
	sitemaps                *prometheus.CounterVec
	sitemapEntries          prometheus.Counter
	mainTexts               *prometheus.CounterVec
	structured              *prometheus.CounterVec
	structuredProblems      *prometheus.CounterVec
	extracted               *prometheus.CounterVec
	fieldFailures           *prometheus.CounterVec
	exchanges               *prometheus.CounterVec
	wireBytes               prometheus.Counter
	exchangeTime, firstByte prometheus.Histogram
	dns, connect            prometheus.Histogram

	rejected   *prometheus.CounterVec
	normalized *prometheus.CounterVec
	fresh      prometheus.Counter
	seen       prometheus.Counter
	merged     prometheus.Counter

	settled    *prometheus.GaugeVec
	urls       *prometheus.GaugeVec
	domains    *prometheus.GaugeVec
	visits     prometheus.Gauge
	lag        *prometheus.GaugeVec
	ledger     *prometheus.CounterVec
	checkpoint *prometheus.GaugeVec
	slots      prometheus.Gauge
	violations *prometheus.CounterVec
	breakers   prometheus.Counter
	memory     *prometheus.GaugeVec
}

// New makes the metrics and registers them, together with the metrics of the process and of the
// Go runtime. It panics when the registry has them already. Dashboards and alerts refer to the
// names, which never change.
func New(registry prometheus.Registerer) *Set {
	auto := promauto.With(registry)
	counter := func(name, help string) prometheus.Counter {
		return auto.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	}
	counters := func(name, help string, labels ...string) *prometheus.CounterVec {
		return auto.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	gauge := func(name, help string) prometheus.Gauge {
		return auto.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
	}
	gauges := func(name, help string, labels ...string) *prometheus.GaugeVec {
		return auto.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
	}
	histogram := func(name, help string) prometheus.Histogram { // buckets from 1 ms to about a minute
		return auto.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, Buckets: prometheus.ExponentialBuckets(0.001, 2, 17)})
	}
	deduped := counters("weft_deduped_urls_total", "URLs that dedupe judged: new, seen before, or merged into a variant that is crawled instead.",
		"result")
	duplicate := counters("weft_duplicate_pages_total", "Pages with the same text as an earlier one (identical) or nearly the same (near).",
		"kind")
	s := &Set{
		pages:     counter("weft_pages_total", "Pages handed out in parsed."),
		pageBytes: counter("weft_page_bytes_total", "Bytes of the bodies of pages, decoded."),
		identical: duplicate.WithLabelValues("identical"),
		near:      duplicate.WithLabelValues("near"),

		sitemaps:           counters("weft_sitemaps_total", "Sitemaps that were read, by how that ended.", "outcome"),
		sitemapEntries:     counter("weft_sitemap_entries_total", "Entries of sitemaps."),
		structured:         counters("weft_structured_pages_total", "Pages with structured data, by its source.", "source"),
		structuredProblems: counters("weft_structured_problems_total", "What is wrong with structured data.", "source", "problem"),
		extracted:          counters("weft_extracted_pages_total", "Pages that a rule took fields out of.", "rule"),
		fieldFailures:      counters("weft_field_failures_total", "Fields that a page does not have as its rule says.", "rule", "field", "failure"),
		mainTexts:          counters("weft_main_texts_total", "Pages whose main text was looked for, by what came of that.", "outcome"),

		exchanges: counters("weft_exchanges_total", "HTTP exchanges by class of error, empty when a response was read, and class of status.",
			"class", "status"),
		wireBytes:    counter("weft_exchange_wire_bytes_total", "Bytes of bodies as they came over the wire."),
		exchangeTime: histogram("weft_exchange_seconds", "Time of HTTP exchanges."),
		firstByte:    histogram("weft_exchange_first_byte_seconds", "Time from a connection to the first byte of a response."),
		dns:          histogram("weft_fetch_dns_seconds", "Time that exchanges waited for the addresses of their hosts."),
		connect:      histogram("weft_fetch_connect_seconds", "Time of connections, with TLS, of exchanges that made one."),

		rejected:   counters("weft_rejected_total", "Records that a stage could not use.", "stage", "reason"),
		normalized: counters("weft_normalized_urls_total", "URLs named by pages and seeds, accepted or refused for a reason.", "reason"),
		fresh:      deduped.WithLabelValues("new"),
		seen:       deduped.WithLabelValues("seen"),
		merged:     deduped.WithLabelValues("merged"),

		settled: gauges("weft_settled_urls", "URLs settled since the crawl began: fetched, failed or refused.", "state"),
		urls:    gauges("weft_frontier_urls", "URLs in the frontier: pending of any kind, and of those queued and out.", "state"),
		domains: gauges("weft_frontier_domains", "Domains with pending URLs: with a visit out, or waiting.", "state"),
		visits:  gauge("weft_visits_out", "Visits released and not settled."),
		lag:     gauges("weft_stage_lag_records", "Records of a topic that a stage has not consumed.", "stage", "topic"),
		ledger:  counters("weft_ledger_happenings_total", "Events, claims, checkpoints and troubles of ledgers.", "stage", "kind"),
		checkpoint: gauges("weft_ledger_checkpoint_timestamp_seconds", "When a checkpoint was last published, in seconds since 1970.",
			"stage"),
		slots:      gauge("weft_fetch_slots_in_use", "Requests open now."),
		violations: counters("weft_politeness_violations_total", "Requests that broke the delay of their domain.", "kind"),
		breakers:   counter("weft_breakers_opened_total", "Breakers of hosts and origins that opened after failures in a row."),
		memory:     gauges("weft_memory_bytes", "Memory of Go's runtime by use: live data by what allocated it (estimated), and the rest.", "use"),
	}
	s.begin()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return s
}

// begin makes counters at 0, since a rate needs two samples and an alert looks for the
// first event. There are many reasons, and most never occur: it makes the usual one of
// each stage.
func (s *Set) begin() {
	for _, v := range politeness.Violations() {
		s.violations.WithLabelValues(string(v))
	}
	for _, status := range []int{200, 300, 400, 500} {
		s.exchanges.WithLabelValues(string(httpclient.ClassNone), statusClass(status))
	}
	for _, class := range httpclient.Classes() {
		s.exchanges.WithLabelValues(string(class), statusClass(0))
	}
	for _, use := range memory.Uses() {
		s.memory.WithLabelValues(string(use))
	}
	for _, stage := range topics.Stages() {
		s.rejected.WithLabelValues(string(stage), "undecodable")
	}
	s.normalized.WithLabelValues("accepted")
	for _, stage := range topics.StagesOf(topics.Ledger) {
		for _, kind := range ledger.Incidents() {
			s.ledger.WithLabelValues(string(stage), kind)
		}
	}
}
