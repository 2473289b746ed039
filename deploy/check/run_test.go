package check

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/compose-spec/compose-go/v2/types"
)

// sitePages is how many pages the site of the tests has.
const sitePages = 30

// newSite serves pages that link to each other. One is larger than what goes
// into a record.
func newSite(t *testing.T) string {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var page int
		if _, err := fmt.Sscanf(r.URL.Path, "/%d", &page); err != nil && r.URL.Path != "/" {
			http.NotFound(w, r)
			return
		}
		fmt.Fprintf(w, "<title>%d</title>", page)
		for next := page + 1; next <= min(page+3, sitePages-1); next++ {
			fmt.Fprintf(w, `<a href="/%d">next</a>`, next)
		}
		if page == 7 {
			fmt.Fprint(w, strings.Repeat("<p>A page larger than a record should be.</p>", 100_000))
		}
	}))
	t.Cleanup(site.Close)
	return site.URL + "/"
}

// The services of docker-compose.yml crawl a site: with the arguments and the
// environment of the file, on the Kafka and the S3 server that it names.
func TestComposeCrawls(t *testing.T) {
	if testing.Short() {
		t.Skip("runs a cluster")
	}
	project, err := LoadCompose(repository(t))
	if err != nil {
		t.Fatal(err)
	}
	s := startStack(t, project)
	site := newSite(t)

	topics := s.container(t, project, "topics")
	topics.env["WEFT_ALLOW_PRIVATE"], topics.env["WEFT_DELAY"] = "true", "10ms"
	topics.env["WEFT_ARCHIVE"] = strings.Replace(topics.env["WEFT_BODIES"], "/bodies", "/archive", 1)
	if out := topics.completes(t); !strings.Contains(out, "crawl weft has 3 partitions") {
		t.Errorf("topics: %s", out)
	}
	if out := topics.completes(t); strings.Contains(out, "created") {
		t.Errorf("topics, once more: %s", out)
	}

	var running []*container
	for _, stage := range append(Stages, Archive, "fetch", "dedupe") { // two of them twice, as by --scale
		c := s.container(t, project, stage)
		c.start(t)
		running = append(running, c)
	}
	for _, c := range running {
		await(t, "http://"+c.metrics+"/readyz")
	}
	seed := s.container(t, project, "seed")
	seed.args = []string{"seed", site}
	seed.completes(t)
	consume := s.container(t, project, "weft")
	consume.args = []string{"consume", "parsed", "--follow", "-n", fmt.Sprint(sitePages)}
	if pages := strings.Count(consume.completes(t), "\n"); pages != sitePages {
		t.Errorf("%d pages, want %d", pages, sitePages)
	}
	exported(t, running)

	var stopping sync.WaitGroup
	for _, c := range running {
		grace := time.Duration(*project.Services[c.name].StopGracePeriod)
		stopping.Go(func() { c.stops(t, grace) })
	}
	stopping.Wait()
	get := s.container(t, project, "weft")
	get.args, get.env["WEFT_ARCHIVE"] = []string{"get", site}, topics.env["WEFT_ARCHIVE"]
	if page := get.completes(t); !strings.Contains(page, "<title>0</title>") {
		t.Errorf("the archive has\n%s", page)
	}
}

// container is one of a service of the file.
func (s stack) container(t *testing.T, project *types.Project, name string) *container {
	service, env := project.Services[name], map[string]string{}
	for name, value := range service.Environment {
		env[name] = s.here.Replace(*value)
	}
	return newContainer(t, name, service.Command, env)
}

// The processes of a crawl together export all series of the golden file, except series of
// faults, and no others: what alerts and dashboards are held against is what Prometheus finds.
func exported(t *testing.T, running []*container) {
	t.Helper()
	files := repository(t)
	want, err := golden(files)
	if err != nil {
		t.Fatal(err)
	}
	var text string
	var got Series
	var lacks []string
	for deadline := time.Now().Add(patience); ; time.Sleep(200 * time.Millisecond) {
		text = ""
		for _, c := range running {
			text += await(t, "http://"+c.metrics+"/metrics")
		}
		got, lacks = ReadSeries(text), nil
		for name := range want {
			if got[name] == nil && name != "up" && name != "weft_rejected_total" && name != "weft_ledger_checkpoint_timestamp_seconds" {
				lacks = append(lacks, name)
			}
		}
		// The frontier's are there once a process has looked, every 5 s.
		if len(lacks) == 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("no process exports %v", lacks)
		}
	}
	for name := range got {
		if strings.HasPrefix(name, "weft_") && want[name] == nil {
			t.Errorf("%s is exported and not in the golden file of package metrics", name)
		}
	}
	if regexp.MustCompile(`(?m)^weft_politeness_violations_total.* [^0]`).MatchString(text) {
		t.Error("a request was hurried")
	}
}

// The workloads of deploy/k8s run with their arguments and their environment,
// answer their probes, and end within their grace.
func TestKubernetesRuns(t *testing.T) {
	if testing.Short() {
		t.Skip("runs a cluster")
	}
	files := repository(t)
	m, err := BuildManifests(files, "base")
	if err != nil {
		t.Fatal(err)
	}
	project, err := LoadCompose(files)
	if err != nil {
		t.Fatal(err)
	}
	s := startStack(t, project)
	var running sync.WaitGroup
	defer running.Wait()
	workloads := m.Workloads()
	for i := len(workloads) - 1; i >= 0; i-- { // the Job is the last
		w := workloads[i]
		env := m.Environment(w)
		env["WEFT_BROKERS"] = s.here.Replace(env["WEFT_BROKERS"])
		c := newContainer(t, w.Name, w.Weft().Args, env)
		if w.Kind == "Job" {
			c.env["WEFT_REPLICATION"] = "1" // there is one broker
			c.completes(t)
			continue
		}
		c.start(t)
		running.Go(func() {
			await(t, "http://"+c.metrics+w.Weft().StartupProbe.HTTPGet.Path)
			await(t, "http://"+c.metrics+w.Weft().LivenessProbe.HTTPGet.Path)
			await(t, "http://"+c.metrics+w.Weft().ReadinessProbe.HTTPGet.Path)
			c.stops(t, time.Duration(*w.Pod.Spec.TerminationGracePeriodSeconds)*time.Second)
		})
	}
}

// weft-crawl.service crawls what crawl.yaml says, here a site of the test's.
func TestUnitCrawls(t *testing.T) {
	files := repository(t)
	unit, err := ReadUnit(files, "weft-crawl.service")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"crawl.yaml": string(files["deploy/systemd/crawl.yaml"].Data),
		"seeds.txt":  newSite(t),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(strings.ReplaceAll(text, "/etc/weft", dir)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	args := strings.Fields(strings.ReplaceAll(unit.Service("ExecStart"), "/etc/weft", dir))[1:]
	c := newContainer(t, "weft-crawl", args, map[string]string{
		"WEFT_METRICS": "of its own", "WEFT_ALLOW_PRIVATE": "true", "WEFT_DELAY": "10ms",
	})
	if out := c.completes(t); !strings.Contains(out, fmt.Sprintf("%d pages", sitePages)) {
		t.Errorf("it says:\n%s", out)
	}
}
