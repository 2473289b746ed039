package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/weftcrawl/weft/fetch"
	"github.com/weftcrawl/weft/ledger"
	"github.com/weftcrawl/weft/politeness"
	"github.com/weftcrawl/weft/topics"
)

// Set is the metrics of one process. Its methods are safe for concurrent use.
type Set struct {
	pages, pageBytes        prometheus.Counter
	identical, near         prometheus.Counter
	exchanges               *prometheus.CounterVec
	wireBytes               prometheus.Counter
	exchangeTime, firstByte prometheus.Histogram

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
}

// New makes the metrics and registers them, with those of the process and of
// the Go runtime. It panics when the registry has them already.
func New(registry prometheus.Registerer) *Set {
	m := maker{registry}
	deduped := m.counters(nameDeduped, "URLs asked about: new, seen before, or merged, which another URL stands for.", labelResult)
	duplicate := m.counters(nameDuplicates, "Pages with the same text as an earlier one (identical) or nearly the same (near).", labelKind)
	// 1 ms to about a minute.
	times := prometheus.ExponentialBuckets(0.001, 2, 17)
	s := &Set{
		pages:     m.counter(namePages, "Pages handed out in parsed."),
		pageBytes: m.counter(namePageBytes, "Bytes of the bodies of pages, decoded."),
		identical: duplicate.WithLabelValues("identical"),
		near:      duplicate.WithLabelValues("near"),
		exchanges: m.counters(nameExchanges, "HTTP exchanges by class of error, empty when a response was read, and class of status.",
			labelClass, labelStatus),
		wireBytes:    m.counter(nameWireBytes, "Bytes of bodies as they came over the wire."),
		exchangeTime: m.histogram(nameExchangeTime, "Time of HTTP exchanges.", times),
		firstByte:    m.histogram(nameFirstByteTime, "Time from a connection to the first byte of a response.", times),

		rejected:   m.counters(nameRejected, "Records that a stage could not use.", labelStage, labelReason),
		normalized: m.counters(nameNormalized, "URLs named by pages and seeds, accepted or refused for a reason.", labelReason),
		fresh:      deduped.WithLabelValues("new"),
		seen:       deduped.WithLabelValues("seen"),
		merged:     deduped.WithLabelValues("merged"),

		settled:    m.gauges(nameSettled, "URLs settled since the crawl began: fetched, failed or refused.", labelState),
		urls:       m.gauges(nameFrontierURLs, "URLs in the frontier: pending of any kind, and of those queued and out.", labelState),
		domains:    m.gauges(nameFrontierDoms, "Domains with pending URLs: with a visit out, or waiting.", labelState),
		visits:     m.gauge(nameVisitsOut, "Visits released and not settled."),
		lag:        m.gauges(nameLag, "Records of a topic that a stage has not consumed.", labelStage, labelTopic),
		ledger:     m.counters(nameLedger, "Events, claims, checkpoints and troubles of ledgers.", labelStage, labelKind),
		checkpoint: m.gauges(nameCheckpoint, "When a checkpoint was last published, in seconds since 1970.", labelStage),
		slots:      m.gauge(nameSlots, "Requests open now."),
		violations: m.counters(nameViolations, "Requests that began while their domain should have been left alone.", labelKind),
		breakers:   m.counter(nameBreakers, "Breakers of domains that opened after failures in a row."),
	}
	s.begin()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return s
}

// begin makes the counters at 0, since a rate needs two samples and an alert looks
// for the first event. Of reasons, which are many and of which few ever come, it
// makes the usual one of each stage.
func (s *Set) begin() {
	for _, v := range politeness.Violations() {
		s.violations.WithLabelValues(string(v))
	}
	for _, status := range []int{200, 300, 400, 500} {
		s.exchanges.WithLabelValues(string(fetch.ClassNone), statusClass(status))
	}
	for _, class := range fetch.Classes() {
		s.exchanges.WithLabelValues(string(class), statusClass(0))
	}
	for _, stage := range topics.Stages() {
		s.rejected.WithLabelValues(string(stage), "undecodable")
	}
	s.normalized.WithLabelValues("accepted")
	for _, stage := range []topics.Stage{topics.Dedupe, topics.Schedule} {
		for _, kind := range ledger.Happenings() {
			s.ledger.WithLabelValues(string(stage), kind)
		}
	}
}

// maker makes metrics and registers them.
type maker struct{ registry prometheus.Registerer }

func (m maker) counter(name, help string) prometheus.Counter {
	c := prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	m.registry.MustRegister(c)
	return c
}

func (m maker) counters(name, help string, labels ...string) *prometheus.CounterVec {
	c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	m.registry.MustRegister(c)
	return c
}

func (m maker) gauge(name, help string) prometheus.Gauge {
	g := prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
	m.registry.MustRegister(g)
	return g
}

func (m maker) gauges(name, help string, labels ...string) *prometheus.GaugeVec {
	g := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
	m.registry.MustRegister(g)
	return g
}

func (m maker) histogram(name, help string, buckets []float64) prometheus.Histogram {
	h := prometheus.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets})
	m.registry.MustRegister(h)
	return h
}
