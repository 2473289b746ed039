package check

import "testing"

func TestDashboard(t *testing.T) {
	holds(t, Dashboard, []mistake{
		{"metric that is not exported", dashboardFile, "weft_visits_out", "weft_visits", "exports no weft_visits"},
		{"label", dashboardFile, "by (state)", "by (kind)", "has the label kind"},
		{"value", dashboardFile, `state=\"pending\"`, `state=\"waiting\"`, `never state="waiting"`},
		{"syntax", dashboardFile, "histogram_quantile(0.5,", "histogram_quantile(0.5", "panel"},
		{"data source", datasourceFile, "uid: weft-prometheus", "uid: prometheus", "not provisioned"},
		{"where the data source is", datasourceFile, "http://prometheus:9090", "http://prometheus:9091", "where no service is"},
		{"where dashboards are", providerFile, "/var/lib/grafana/dashboards", "/dashboards", "does not mount"},
		{"overlap", dashboardFile, `"y": 0`, `"y": 5`, "covers"},
		{"id", dashboardFile, `"id": 2,`, `"id": 1,`, "the id of another"},
	})
}
