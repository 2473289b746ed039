package check

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/model/timestamp"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/template"
	"go.yaml.in/yaml/v2"
)

// alertTests is the format of promtool's tests of rules, as far as
// alerts_test.yml uses it.
// https://prometheus.io/docs/prometheus/latest/configuration/unit_testing_rules/
type alertTests struct {
	RuleFiles          []string       `yaml:"rule_files"`
	EvaluationInterval model.Duration `yaml:"evaluation_interval"`
	Tests              []alertTest    `yaml:"tests"`
}

type alertTest struct {
	Name        string         `yaml:"name"`
	Interval    model.Duration `yaml:"interval"`
	InputSeries []struct {
		Series string `yaml:"series"`
		Values string `yaml:"values"`
	} `yaml:"input_series"`
	Expected []expectation `yaml:"alert_rule_test"`
}

// expectation says which alerts of one rule fire at one moment.
type expectation struct {
	EvalTime  model.Duration `yaml:"eval_time"`
	AlertName string         `yaml:"alertname"`
	Alerts    []struct {
		Labels      map[string]string `yaml:"exp_labels"`
		Annotations map[string]string `yaml:"exp_annotations"`
	} `yaml:"exp_alerts"`
}

// AlertsFire runs alerts_test.yml: it says which alerts do not fire when they
// should, fire when they should not, or say something else than expected.
//
// It does what promtool test rules does, with Prometheus' parsers, query engine
// and templates. promtool itself would be four times as much to compile: it brings
// the client of every cloud that Prometheus discovers targets in.
func AlertsFire(files fs.FS) error {
	text, err := fs.ReadFile(files, alertTestsFile)
	if err != nil {
		return err
	}
	var tests alertTests
	if err := yaml.UnmarshalStrict(text, &tests); err != nil {
		return fmt.Errorf("%s: %w", alertTestsFile, err)
	}
	var rules []rulefmt.Rule
	for _, name := range tests.RuleFiles {
		text, err := fs.ReadFile(files, "deploy/prometheus/"+name)
		if err != nil {
			return err
		}
		groups, errs := rulefmt.Parse(text, false, model.UTF8Validation)
		if len(errs) > 0 {
			return errors.Join(errs...)
		}
		for _, group := range groups.Groups {
			rules = append(rules, group.Rules...)
		}
	}
	var p problems
	for _, test := range tests.Tests {
		for _, err := range test.run(rules, time.Duration(tests.EvaluationInterval)) {
			p.addf("%s: %w", test.Name, err)
		}
	}
	return p.joined()
}

// run evaluates the rules from the epoch on, every so often, and compares what
// fires at the moments that the test names.
func (t alertTest) run(rules []rulefmt.Rule, every time.Duration) problems {
	var p problems
	engine := promql.NewEngine(promql.EngineOpts{MaxSamples: 1e6, Timeout: time.Minute, EnableAtModifier: true, EnableNegativeOffset: true})
	var series seriesList
	for _, in := range t.InputSeries {
		if err := series.add(in.Series+" "+in.Values, time.Duration(t.Interval)); err != nil {
			p.addf("series %s: %w", in.Series, err)
		}
	}
	query, known := queries(engine, series), map[string]bool{}
	alerts := make([]alerting, 0, len(rules))
	for _, rule := range rules {
		known[rule.Alert] = true
		alerts = append(alerts, alerting{Rule: rule, query: query, active: map[uint64]*activeAlert{}})
	}
	last := time.Duration(0)
	for _, want := range t.Expected {
		last = max(last, time.Duration(want.EvalTime))
		if !known[want.AlertName] {
			p.addf("there is no alert %s", want.AlertName)
		}
	}
	for at := time.Duration(0); at <= last && p == nil; at += every {
		for i := range alerts {
			if err := alerts[i].evaluate(timestamp.Time(at.Milliseconds())); err != nil {
				p.addf("alertname: %s, time: %s: %w", alerts[i].Alert, model.Duration(at), err)
			}
		}
		for _, want := range t.Expected {
			if moment := time.Duration(want.EvalTime); moment < at || moment >= at+every {
				continue
			}
			var got []string
			for i := range alerts {
				if alerts[i].Alert == want.AlertName {
					got = append(got, alerts[i].firing()...)
				}
			}
			if expected := want.firing(); !slices.Equal(got, expected) {
				p.addf("alertname: %s, time: %s\nexpected:\n%s\ngot:\n%s",
					want.AlertName, want.EvalTime, strings.Join(expected, "\n"), strings.Join(got, "\n"))
			}
		}
	}
	return p
}

// firing is what is expected in the form of [alerting.firing].
func (e expectation) firing() []string {
	var all []string
	for _, a := range e.Alerts {
		named := maps.Clone(a.Labels)
		if named == nil {
			named = map[string]string{}
		}
		named[labels.AlertName] = e.AlertName
		all = append(all, shown(labels.FromMap(named), labels.FromMap(a.Annotations)))
	}
	slices.Sort(all)
	return all
}

func shown(names, annotations labels.Labels) string {
	return names.String() + " " + annotations.String()
}

// queryFunc evaluates an expression at a moment.
type queryFunc func(ctx context.Context, expr string, at time.Time) (promql.Vector, error)

func queries(engine *promql.Engine, series seriesList) queryFunc {
	return func(ctx context.Context, expr string, at time.Time) (promql.Vector, error) {
		query, err := engine.NewInstantQuery(ctx, series.queryable(), nil, expr, at)
		if err != nil {
			return nil, err
		}
		defer query.Close()
		result := query.Exec(ctx)
		if result.Err != nil {
			return nil, result.Err
		}
		vector, ok := result.Value.(promql.Vector)
		if !ok {
			return nil, fmt.Errorf("%s is a %s, not a vector", expr, result.Value.Type())
		}
		return slices.Clone(vector), nil
	}
}

// alerting is an alerting rule and its alerts.
type alerting struct {
	rulefmt.Rule
	query  queryFunc
	active map[uint64]*activeAlert // by hash of labels
}

type activeAlert struct {
	labels, annotations labels.Labels
	since               time.Time
	firing              bool
}

// evaluate does what Prometheus' rules.AlertingRule.Eval does, without
// keep_firing_for, which is refused.
func (r *alerting) evaluate(now time.Time) error {
	if r.KeepFiringFor != 0 {
		return errors.New("keep_firing_for is not evaluated here")
	}
	found, err := r.query(context.Background(), r.Expr, now)
	if err != nil {
		return err
	}
	seen := map[uint64]bool{}
	for _, sample := range found {
		names := labels.NewBuilder(sample.Metric)
		names.Del(labels.MetricName)
		for name, text := range r.Labels {
			expanded, err := r.expand(text, sample, now)
			if err != nil {
				return err
			}
			names.Set(name, expanded)
		}
		names.Set(labels.AlertName, r.Alert)
		annotations := map[string]string{}
		for name, text := range r.Annotations {
			if annotations[name], err = r.expand(text, sample, now); err != nil {
				return err
			}
		}
		alert := &activeAlert{labels: names.Labels(), annotations: labels.FromMap(annotations), since: now}
		hash := alert.labels.Hash()
		if seen[hash] {
			return fmt.Errorf("two alerts have the labels %s", alert.labels)
		}
		seen[hash] = true
		if before := r.active[hash]; before != nil {
			alert.since = before.since
		}
		alert.firing = now.Sub(alert.since) >= time.Duration(r.For)
		r.active[hash] = alert
	}
	maps.DeleteFunc(r.active, func(hash uint64, _ *activeAlert) bool { return !seen[hash] })
	return nil
}

// expand expands the template of a label or an annotation.
func (r *alerting) expand(text string, sample promql.Sample, now time.Time) (string, error) {
	data := template.AlertTemplateData(sample.Metric.Map(), nil, "", sample)
	variables := "{{$labels := .Labels}}{{$externalLabels := .ExternalLabels}}{{$externalURL := .ExternalURL}}{{$value := .Value}}"
	return template.NewTemplateExpander(context.Background(), variables+text, "__alert_"+r.Alert, data,
		model.Time(timestamp.FromTime(now)), template.QueryFunc(r.query), nil, nil).Expand()
}

// firing shows the alerts that fire, sorted.
func (r *alerting) firing() []string {
	var all []string
	for _, a := range r.active {
		if a.firing {
			all = append(all, shown(a.labels, a.annotations))
		}
	}
	slices.Sort(all)
	return all
}

func TestAlertsFire(t *testing.T) {
	holds(t, AlertsFire, []mistake{
		{"syntax", alertsFile, "> 10e6", "> > 10e6", "unexpected"},
		{"no such alert", alertTestsFile, "alertname: WeftProcessDown", "alertname: WeftProcessUp", "no alert WeftProcessUp"},
		{"labels", alertTestsFile, "service: parse,", "service: fetch,", "time: 20m"},
		{"template", alertsFile, "{{ $labels.service }}", "{{ $label.service }}", "undefined variable"},
		{"threshold", alertsFile, "> 10e6", "> 10e9", "alertname: WeftFrontierLarge, time: 30m"},
		{"sooner", alertsFile, "for: 2m", "for: 1m", "time: 12m"},
		{"sums what every process reports", alertsFile, "max by (crawl, stage, topic)", "sum by (crawl, stage, topic)", "300k records"},
	})
}
