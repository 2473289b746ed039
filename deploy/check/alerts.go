package check

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/promqltest"
	"github.com/prometheus/prometheus/rules"
	"go.yaml.in/yaml/v3"
)

const (
	alertsFile     = "deploy/prometheus/alerts.yml"
	alertTestsFile = "deploy/prometheus/alerts_test.yml"
)

// Alerts says what is wrong with the alerts: what promtool check rules says, an
// expression about something that weft does not export, or one without a summary
// and a runbook.
func Alerts(files fs.FS) error {
	text, err := fs.ReadFile(files, alertsFile)
	if err != nil {
		return err
	}
	known, err := golden(files)
	if err != nil {
		return err
	}
	groups, errs := rulefmt.Parse(text, false, model.UTF8Validation)
	p := problems(errs)
	if groups == nil {
		return p.joined()
	}
	tested, err := fs.ReadFile(files, alertTestsFile)
	if err != nil {
		return err
	}
	for _, group := range groups.Groups {
		for _, rule := range group.Rules {
			p.expression(rule.Alert, rule.Expr, known)
			if rule.Labels["severity"] == "" || rule.Annotations["summary"] == "" || rule.Annotations["runbook"] == "" {
				p.addf("%s has no severity, summary or runbook", rule.Alert)
			}
			if strings.Count(string(tested), "alertname: "+rule.Alert+"\n") < 2 {
				p.addf("%s has no test of when it fires and when it does not", rule.Alert)
			}
		}
	}
	return p.joined()
}

// alertTests are a file of tests as promtool test rules reads it, as far as it
// is used here.
type alertTests struct {
	RuleFiles          []string       `yaml:"rule_files"`
	EvaluationInterval model.Duration `yaml:"evaluation_interval"`
	Tests              []struct {
		Name     string         `yaml:"name"`
		Interval model.Duration `yaml:"interval"`
		Input    []struct {
			Series string `yaml:"series"`
			Values string `yaml:"values"`
		} `yaml:"input_series"`
		Alerts []alertTest `yaml:"alert_rule_test"`
	} `yaml:"tests"`
}

type alertTest struct {
	At       model.Duration `yaml:"eval_time"`
	Name     string         `yaml:"alertname"`
	Expected []struct {
		Labels      map[string]string `yaml:"exp_labels"`
		Annotations map[string]string `yaml:"exp_annotations"`
	} `yaml:"exp_alerts"`
}

// AlertTests runs deploy/prometheus/alerts_test.yml as promtool test rules does:
// it evaluates the rules on the series that the file gives, with Prometheus' own
// rules and query engine, and compares what fires.
func AlertTests(files fs.FS) error {
	text, err := fs.ReadFile(files, alertTestsFile)
	if err != nil {
		return err
	}
	var suite alertTests
	decoder := yaml.NewDecoder(strings.NewReader(string(text)))
	decoder.KnownFields(true)
	if err := decoder.Decode(&suite); err != nil {
		return fmt.Errorf("%s: %w", alertTestsFile, err)
	}
	dir, err := os.MkdirTemp("", "alerts")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	for i, name := range suite.RuleFiles {
		text, err := fs.ReadFile(files, "deploy/prometheus/"+name)
		if err != nil {
			return err
		}
		suite.RuleFiles[i] = filepath.Join(dir, name)
		if err := os.WriteFile(suite.RuleFiles[i], text, 0o600); err != nil {
			return err
		}
	}
	var p problems
	for _, test := range suite.Tests {
		var load strings.Builder
		fmt.Fprintf(&load, "load %v\n", test.Interval)
		for _, s := range test.Input {
			fmt.Fprintf(&load, "  %s %s\n", s.Series, s.Values)
		}
		if err := p.alertTest(test.Name, suite, load.String(), test.Alerts); err != nil {
			p.addf("%s: %w", test.Name, err)
		}
	}
	return p.joined()
}

func (p *problems) alertTest(name string, suite alertTests, load string, tests []alertTest) error {
	series, err := promqltest.NewLazyLoader(load, promqltest.LazyLoaderOpts{EnableAtModifier: true, EnableNegativeOffset: true})
	if err != nil {
		return err
	}
	defer func() { _ = series.Close() }()
	manager := rules.NewManager(&rules.ManagerOptions{
		QueryFunc:  rules.EngineQueryFunc(series.QueryEngine(), series.Storage()),
		Appendable: series.Storage(),
		Context:    context.Background(),
		NotifyFunc: func(context.Context, string, ...*rules.Alert) {},
		Logger:     slog.New(slog.DiscardHandler),
	})
	groups, errs := manager.LoadGroups(time.Duration(suite.EvaluationInterval), labels.EmptyLabels(), "", nil, false, suite.RuleFiles...)
	if errs != nil {
		return problems(errs).joined()
	}
	every, last := time.Duration(suite.EvaluationInterval), time.Duration(0)
	for _, test := range tests {
		last = max(last, time.Duration(test.At))
	}
	for at := time.Duration(0); at <= last; at += every {
		var failed error
		series.WithSamplesTill(time.Unix(0, 0).Add(at), func(err error) {
			if failed = err; failed != nil {
				return
			}
			for _, g := range groups {
				g.Eval(series.Context(), time.Unix(0, 0).Add(at).UTC())
				for _, r := range g.Rules() {
					if r.LastError() != nil {
						failed = fmt.Errorf("%s: %w", r.Name(), r.LastError())
					}
				}
			}
		})
		if failed != nil {
			return failed
		}
		for _, test := range tests {
			if time.Duration(test.At) == at {
				p.fires(name, groups, test)
			}
		}
	}
	return nil
}

// fires compares what fires now with what should.
func (p *problems) fires(name string, groups map[string]*rules.Group, test alertTest) {
	got, want := map[string]bool{}, map[string]bool{}
	for _, g := range groups {
		for _, r := range g.Rules() {
			alerting, ok := r.(*rules.AlertingRule)
			if !ok || alerting.Name() != test.Name {
				continue
			}
			for _, a := range alerting.ActiveAlerts() {
				if a.State == rules.StateFiring {
					got[describe(a.Labels.Map(), a.Annotations.Map())] = true
				}
			}
		}
	}
	for _, e := range test.Expected {
		labels := map[string]string{"alertname": test.Name}
		for k, v := range e.Labels {
			labels[k] = v
		}
		want[describe(labels, e.Annotations)] = true
	}
	for alert := range want {
		if !got[alert] {
			p.addf("%s, at %v: does not fire: %s", name, test.At, alert)
		}
	}
	for alert := range got {
		if !want[alert] {
			p.addf("%s, at %v: fires: %s", name, test.At, alert)
		}
	}
}

func describe(labels, annotations map[string]string) string {
	var b strings.Builder
	for _, key := range keys(labels) {
		fmt.Fprintf(&b, "%s=%q ", key, labels[key])
	}
	for _, key := range keys(annotations) {
		fmt.Fprintf(&b, "\n\t%s: %q", key, annotations[key])
	}
	return b.String()
}
