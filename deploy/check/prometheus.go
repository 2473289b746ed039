package check

import (
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"strings"

	"github.com/prometheus/prometheus/config"
	"github.com/prometheus/prometheus/discovery/dns"
)

const prometheusFile = "deploy/prometheus/prometheus.yml"

// Prometheus says what is wrong with deploy/prometheus/prometheus.yml besides
// what [Promtool] says: a rule file that is not there, or a target that is no service of docker-compose.yml.
func Prometheus(files fs.FS) error {
	text, err := fs.ReadFile(files, prometheusFile)
	if err != nil {
		return err
	}
	loaded, err := config.Load(string(text), slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	var p problems
	for _, name := range loaded.RuleFiles {
		if _, err := fs.Stat(files, "deploy/prometheus/"+filepath.Base(name)); err != nil {
			p.addf("rule file: %w", err)
		}
	}
	project, err := LoadCompose(files)
	if err != nil {
		return err
	}
	var targets []string
	for _, scrape := range loaded.ScrapeConfigs {
		for _, d := range scrape.ServiceDiscoveryConfigs {
			dns, ok := d.(*dns.SDConfig)
			if !ok {
				p.addf("%s discovers by %s", scrape.JobName, d.Name())
				continue
			}
			for _, name := range dns.Names {
				targets = append(targets, name)
				service, ok := project.Services[name]
				if _, port, _ := strings.Cut(deref(service.Environment["WEFT_METRICS"]), ":"); !ok || port != fmt.Sprint(dns.Port) {
					p.addf("%s: no service %s serves metrics at port %d", scrape.JobName, name, dns.Port)
				}
			}
		}
	}
	if len(targets) != len(Stages) {
		p.addf("%v are scraped, not the %d stages", targets, len(Stages))
	}
	return p.joined()
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
