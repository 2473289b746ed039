package check

import "testing"

func TestCompose(t *testing.T) {
	const file = "docker-compose.yml"
	holds(t, Compose, []mistake{
		{"unknown key", file, "  read_only: true\n", "  readonly: true\n", "readonly"},
		{"unknown variable", file, "WEFT_METRICS: 0.0.0.0", "WEFT_METRIC: 0.0.0.0", "weft has no flag --metric"},
		{"no default", file, "${WEFT_TAG:-dev}", "${WEFT_TAG}", "has no default"},
		{"unpinned", file, "grafana/grafana:12.1.0", "grafana/grafana", "not pinned"},
		{"latest", file, "apache/kafka:4.1.0", "apache/kafka:latest", "not pinned"},
		{"no such service", file, "depends_on: [prometheus]", "depends_on: [prometeus]", "prometeus"},
		{"no such file", file, "./deploy/prometheus/alerts.yml", "./deploy/prometheus/alert.yml", "not there"},
		{"no such volume", file, "prometheus:/prometheus", "tsdb:/prometheus", "tsdb"},
		{"shared states", file, "volumes: [/var/lib/weft]", "volumes: [\"kafka:/var/lib/weft\"]", "share the volume"},
		{"a stage is missing", file, "command: [run, dedupe]", "command: [run, schedule]", "the stage dedupe"},
	})
}
