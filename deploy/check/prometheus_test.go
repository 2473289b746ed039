package check

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/relabel"
	"go.yaml.in/yaml/v2"
)

const prometheusFile = "deploy/prometheus/prometheus.yml"

// scraping has the settings of Prometheus that prometheus.yml may use; any other
// key is an error.
// https://prometheus.io/docs/prometheus/latest/configuration/configuration/
type scraping struct {
	Global struct {
		ScrapeInterval     model.Duration `yaml:"scrape_interval"`
		ScrapeTimeout      model.Duration `yaml:"scrape_timeout"`
		EvaluationInterval model.Duration `yaml:"evaluation_interval"`
	} `yaml:"global"`
	RuleFiles     []string `yaml:"rule_files"`
	ScrapeConfigs []struct {
		JobName        string            `yaml:"job_name"`
		DNSDiscovery   []names           `yaml:"dns_sd_configs"`
		RelabelConfigs []*relabel.Config `yaml:"relabel_configs"`
	} `yaml:"scrape_configs"`
}

// names that are looked up are the targets of a job.
type names struct {
	Names           []string       `yaml:"names"`
	Type            string         `yaml:"type"`
	Port            int            `yaml:"port"`
	RefreshInterval model.Duration `yaml:"refresh_interval"`
}

// Prometheus says what is wrong with deploy/prometheus/prometheus.yml: a setting
// that does not exist, a rule file that is not there, or a target that is no
// service of docker-compose.yml.
func Prometheus(files fs.FS) error {
	text, err := fs.ReadFile(files, prometheusFile)
	if err != nil {
		return err
	}
	var config scraping
	if err := yaml.UnmarshalStrict(text, &config); err != nil {
		return fmt.Errorf("%s: %w", prometheusFile, err)
	}
	var p problems
	if config.Global.ScrapeTimeout > config.Global.ScrapeInterval {
		p.addf("%s: a scrape may take longer than its interval", prometheusFile)
	}
	for _, name := range config.RuleFiles {
		if _, err := fs.Stat(files, "deploy/prometheus/"+filepath.Base(name)); err != nil {
			p.addf("rule file: %w", err)
		}
	}
	project, err := LoadCompose(files)
	if err != nil {
		return err
	}
	var targets []string
	jobs := map[string]bool{}
	for _, scrape := range config.ScrapeConfigs {
		if scrape.JobName == "" || jobs[scrape.JobName] {
			p.addf("%s: job %q has no name of its own", prometheusFile, scrape.JobName)
		}
		jobs[scrape.JobName] = true
		for _, rule := range scrape.RelabelConfigs {
			if err := rule.Validate(model.UTF8Validation); err != nil {
				p.addf("%s: %w", scrape.JobName, err)
			}
		}
		for _, d := range scrape.DNSDiscovery {
			if d.Type != "A" && d.Type != "AAAA" {
				p.addf("%s looks up records of type %s, which have no addresses", scrape.JobName, d.Type)
			}
			for _, name := range d.Names {
				targets = append(targets, name)
				service, ok := project.Services[name]
				if _, port, _ := strings.Cut(deref(service.Environment["WEFT_METRICS"]), ":"); !ok || port != fmt.Sprint(d.Port) {
					p.addf("%s: no service %s serves metrics at port %d", scrape.JobName, name, d.Port)
				}
			}
		}
	}
	if stages := len(Stages) + 1; len(targets) != stages { // with archive
		p.addf("%v are scraped, not the %d stages", targets, stages)
	}
	return p.joined()
}

func TestPrometheus(t *testing.T) {
	const file = prometheusFile
	holds(t, Prometheus, []mistake{
		{"unknown setting", file, "scrape_interval", "scrap_interval", "scrap_interval"},
		{"duration", file, "scrape_interval: 5s", "scrape_interval: 5", "duration"},
		{"relabelling", file, "target_label: service", "target: service", "target"},
		{"target that is no service", file, "[normalize, dedupe", "[normalise, dedupe", "no service normalise"},
		{"port", file, "port: 9100", "port: 9101", "at port 9101"},
		{"stage that is not scraped", file, "parse, archive]", "archive]", "not the 6 stages"},
		{"rule file", file, "[alerts.yml]", "[rules.yml]", "rules.yml"},
	})
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
