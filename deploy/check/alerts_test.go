package check

import "testing"

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

func TestPromtool(t *testing.T) {
	holds(t, Promtool, []mistake{
		{"configuration", prometheusFile, "scrape_interval", "scrap_interval", "scrap_interval"},
		{"syntax", alertsFile, "> 10e6", "> > 10e6", "unexpected"},
		{"template", alertsFile, "{{ $labels.service }}", "{{ $label.service }}", "undefined variable"},
		{"threshold", alertsFile, "> 10e6", "> 10e9", "alertname: WeftFrontierLarge, time: 30m"},
		{"sooner", alertsFile, "for: 2m", "for: 1m", "time: 12m"},
		{"sums what every process reports", alertsFile, "max by (crawl, stage, topic)", "sum by (crawl, stage, topic)", "300k records"},
	})
}

func TestPrometheus(t *testing.T) {
	const file = prometheusFile
	holds(t, Prometheus, []mistake{
		{"target that is no service", file, "[normalize, dedupe", "[normalise, dedupe", "no service normalise"},
		{"port", file, "port: 9100", "port: 9101", "at port 9101"},
		{"stage that is not scraped", file, "fetch, parse]", "fetch]", "not the 5 stages"},
		{"rule file", file, "[alerts.yml]", "[rules.yml]", "rules.yml"},
	})
}
