package check

import (
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/tsdb/chunks"
	"github.com/prometheus/prometheus/util/annotations"
)

// seriesList is a storage of a few series for Prometheus' query engine.
type seriesList []storage.Series

// add parses a series and its values, one each interval from the epoch on, in
// promtool's notation.
func (l *seriesList) add(text string, interval time.Duration) error {
	name, values, err := parser.ParseSeriesDesc(text)
	if err != nil {
		return err
	}
	var samples []chunks.Sample
	for i, value := range values {
		if !value.Omitted {
			samples = append(samples, point{milliseconds: int64(i) * interval.Milliseconds(), value: value.Value})
		}
	}
	*l = append(*l, storage.NewListSeries(name, samples))
	return nil
}

// point is a sample that is a number. It does not have the methods of histograms.
type point struct {
	chunks.Sample
	milliseconds int64
	value        float64
}

func (p point) T() int64                 { return p.milliseconds }
func (p point) F() float64               { return p.value }
func (p point) Type() chunkenc.ValueType { return chunkenc.ValFloat }

// queryable returns the storage that the engine asks.
func (l seriesList) queryable() storage.Queryable {
	return &storage.MockQueryable{MockQuerier: &storage.MockQuerier{
		SelectMockFunction: func(_ bool, _ *storage.SelectHints, matchers ...*labels.Matcher) storage.SeriesSet {
			set := &selected{at: -1}
			for _, series := range l {
				if matches(series.Labels(), matchers) {
					set.series = append(set.series, series)
				}
			}
			return set
		},
	}}
}

func matches(name labels.Labels, matchers []*labels.Matcher) bool {
	for _, m := range matchers {
		if !m.Matches(name.Get(m.Name)) {
			return false
		}
	}
	return true
}

// selected is what one selector of an expression found.
type selected struct {
	series []storage.Series
	at     int
}

func (s *selected) Next() bool                        { s.at++; return s.at < len(s.series) }
func (s *selected) At() storage.Series                { return s.series[s.at] }
func (s *selected) Err() error                        { return nil }
func (s *selected) Warnings() annotations.Annotations { return nil }
