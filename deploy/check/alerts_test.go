package check

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
)

const (
	alertsFile     = "deploy/prometheus/alerts.yml"
	alertTestsFile = "deploy/prometheus/alerts_test.yml"
)

// Alerts says what is wrong with the alerts besides what [AlertsFire] says: an
// expression about something that weft does not export, or an alert without a
// summary, a runbook or tests.
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

func TestAlertsAreAboutWhatWeftExports(t *testing.T) {
	holds(t, Alerts, []mistake{
		{"metric that is not exported", alertsFile, "weft_pages_total", "weft_page_total", "exports no weft_page_total"},
		{"label that it does not have", alertsFile, `{kind="restart"}`, `{event="restart"}`, "has no label event"},
		{"value that it never has", alertsFile, `{kind="restart"}`, `{kind="restarts"}`, `never kind="restarts"`},
		{"grouping", alertsFile, "by (crawl, kind)", "by (crawl, why)", "has the label why"},
		{"unknown key", alertsFile, "for: 2m", "during: 2m", "during"},
		{"no runbook", alertsFile, "runbook:", "book:", "no severity, summary or runbook"},
		{"no test", alertsFile, "alert: WeftStageLag", "alert: WeftStageLags", "WeftStageLags has no test"},
	})
}
