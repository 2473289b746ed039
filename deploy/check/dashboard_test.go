package check

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

const (
	dashboardFile  = "deploy/grafana/dashboards/weft.json"
	datasourceFile = "deploy/grafana/provisioning/datasources/prometheus.yaml"
	providerFile   = "deploy/grafana/provisioning/dashboards/weft.yaml"
)

// panel is what is looked at of a panel.
type panel struct {
	ID         int
	Type       string
	Title      string
	Datasource struct{ UID string }
	GridPos    struct{ X, Y, W, H int }
	Targets    []struct {
		RefID, Expr string
		Datasource  struct{ UID string }
	}
}

// Dashboard says what is wrong with Grafana's files: a query about something
// that weft does not export, a data source that is not provisioned, panels that
// overlap, a folder that is not mounted where the provider looks.
func Dashboard(files fs.FS) error {
	known, err := golden(files)
	if err != nil {
		return err
	}
	known["ALERTS"] = map[string][]string{"alertname": nil, "alertstate": {"firing"}}
	text, err := fs.ReadFile(files, dashboardFile)
	if err != nil {
		return err
	}
	var d struct {
		UID, Title string
		Panels     []panel
		Templating struct {
			List []struct{ Name, Definition string }
		}
		Annotations struct {
			List []struct{ Expr string }
		}
	}
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(&d); err != nil {
		return fmt.Errorf("%s: %w", dashboardFile, err)
	}
	var p problems
	uid := p.provisioned(files)
	replace := []string{"$__rate_interval", "5m"}
	for _, v := range d.Templating.List {
		replace = append(replace, "$"+v.Name, ".*")
		metric, _, _ := strings.Cut(strings.TrimPrefix(v.Definition, "label_values("), ",")
		p.expression("variable "+v.Name, metric, known)
	}
	variables := strings.NewReplacer(replace...)
	ids, taken := map[int]bool{}, map[[2]int]string{}
	for _, panel := range d.Panels {
		if ids[panel.ID] {
			p.addf("panel %q has the id of another", panel.Title)
		}
		ids[panel.ID] = true
		p.placed(panel, taken)
		if panel.Type == "row" {
			continue
		}
		if len(panel.Targets) == 0 {
			p.addf("panel %q asks for nothing", panel.Title)
		}
		for _, target := range panel.Targets {
			if panel.Datasource.UID != uid || target.Datasource.UID != uid {
				p.addf("panel %q asks a data source that is not provisioned", panel.Title)
			}
			p.expression(fmt.Sprintf("panel %q", panel.Title), variables.Replace(target.Expr), known)
		}
	}
	for _, a := range d.Annotations.List {
		p.expression("annotation", a.Expr, known)
	}
	return p.joined()
}

// placed panels are within 24 columns and on top of no other.
func (p *problems) placed(panel panel, taken map[[2]int]string) {
	g := panel.GridPos
	if g.W < 1 || g.H < 1 || g.X < 0 || g.X+g.W > 24 {
		p.addf("panel %q is %d wide at %d", panel.Title, g.W, g.X)
	}
	for x := g.X; x < g.X+g.W; x++ {
		for y := g.Y; y < g.Y+g.H; y++ {
			if other, is := taken[[2]int{x, y}]; is {
				p.addf("panel %q covers %q", panel.Title, other)
				return
			}
			taken[[2]int{x, y}] = panel.Title
		}
	}
}

// provisioned checks the data source and the provider against the services of
// docker-compose.yml, and returns the uid of the data source.
func (p *problems) provisioned(files fs.FS) string {
	var sources struct {
		APIVersion  int
		Datasources []struct{ Name, UID, Type, URL string }
	}
	var providers struct {
		APIVersion int
		Providers  []struct {
			Name, Type string
			Options    struct{ Path string }
		}
	}
	project, err := LoadCompose(files)
	if err == nil {
		err = readYAML(files, datasourceFile, &sources)
	}
	if err == nil {
		err = readYAML(files, providerFile, &providers)
	}
	if err != nil || len(sources.Datasources) != 1 || len(providers.Providers) != 1 {
		p.addf("one data source and one provider: %w", err)
		return ""
	}
	source := sources.Datasources[0]
	host, port, _ := strings.Cut(strings.TrimPrefix(source.URL, "http://"), ":")
	if service, ok := project.Services[host]; !ok || len(service.Ports) != 1 || fmt.Sprint(service.Ports[0].Target) != port {
		p.addf("the data source is at %s, where no service is", source.URL)
	}
	found := map[string]bool{}
	for _, mount := range project.Services["grafana"].Volumes {
		found[mount.Target+" "+strings.TrimPrefix(mount.Source, "/repository/")] = true
	}
	for _, want := range []string{
		"/etc/grafana/provisioning deploy/grafana/provisioning",
		providers.Providers[0].Options.Path + " deploy/grafana/dashboards",
	} {
		if !found[want] {
			p.addf("grafana does not mount %s", want)
		}
	}
	return source.UID
}

func readYAML(files fs.FS, name string, to any) error {
	text, err := fs.ReadFile(files, name)
	if err != nil {
		return err
	}
	return yaml.Unmarshal(text, to)
}

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
