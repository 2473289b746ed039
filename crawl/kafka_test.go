package crawl_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/crawl"
	"github.com/weftcrawl/weft/inspect/status"
	"github.com/weftcrawl/weft/test/kafkaserver"
	"github.com/weftcrawl/weft/test/webserver"
	"github.com/weftcrawl/weft/topics"
)

// program is the command weft, with the brokers of a cluster.
type program struct {
	path    string
	brokers []string
}

// weftBinary is the command, built once for all tests.
var weftBinary = sync.OnceValues(func() (string, error) {
	path := filepath.Join(scratch(), "weft")
	if out, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", path, "../cmd/weft").CombinedOutput(); err != nil {
		return "", fmt.Errorf("build weft: %w\n%s", err, out)
	}
	return path, nil
})

// build builds the command.
func build(t *testing.T, brokers []string) program {
	t.Helper()
	path, err := weftBinary()
	if err != nil {
		t.Fatal(err)
	}
	return program{path, brokers}
}

func (p program) command(args ...string) *exec.Cmd {
	cmd := exec.Command(p.path, args...)
	cmd.Env = append(os.Environ(), "WEFT_BROKERS="+strings.Join(p.brokers, ","))
	return cmd
}

// do runs the command, which must do what it is told, and returns what it says.
func (p program) do(t *testing.T, args ...string) string {
	t.Helper()
	cmd := p.command(args...)
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("weft %s: %v\n%s%s", strings.Join(args, " "), err, out, complaints.String())
	}
	return string(out)
}

// start starts the command; it does not outlive the test.
func (p program) start(t *testing.T, args ...string) *child {
	t.Helper()
	c := &child{cmd: p.command(args...), ended: make(chan struct{})}
	c.cmd.Stdout, c.cmd.Stderr = &c.out, &c.err
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = c.cmd.Wait() // the state tells
		close(c.ended)
	}()
	t.Cleanup(func() { c.kill() })
	return c
}

// drained waits until nothing is left to do.
func (p program) drained(t *testing.T) {
	t.Helper()
	p.drainedWithin(t, "weft", patience)
}

// drainedWithin is drained for a crawl of any name and size.
func (p program) drainedWithin(t *testing.T, crawl string, patience time.Duration) {
	t.Helper()
	status, err := status.NewMonitor(topics.Loop(crawl), kgo.SeedBrokers(p.brokers...))
	if err != nil {
		t.Fatal(err)
	}
	defer status.Close()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for {
		s, err := status.Read(ctx)
		if err == nil && s.Drained() {
			return
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			t.Fatalf("not drained after %v: %s %v", patience, s.Left(), err)
		}
	}
}

// The loop as a team runs it: on Apache Kafka, each group of stages in processes
// of its own, told what to do by commands. A process of the stateful stages, one
// that fetches and the one that archives are killed; others take over. The web
// server's own log, the topic parsed, the archive and weft verify judge.
func TestStagesOnKafka(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for sessions of killed stages to end")
	}
	t.Parallel()
	const delay = 20 * time.Millisecond
	cluster := kafkaserver.Start(t, kafkaserver.Options{})
	accessLog := filepath.Join(t.TempDir(), "access.log")
	log, err := os.Create(accessLog)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	w := serve(t, webserver.Options{
		Pages: 3000, Domains: 40, CrossLinks: 0.1, DeniedEvery: 20, ErrorEvery: 30, RedirectEvery: 30, NoRobotsEvery: 7,
	}, webserver.ServerOptions{Latency: 2 * time.Millisecond, Log: log})

	weft := build(t, cluster.Addrs())
	dir := t.TempDir()
	weft.do(t, "topics", "create", "--partitions", "4", "--delay", delay.String(), "--allow-private", "--contact", "https://example.org/bot",
		"--archive", filepath.Join(dir, "warc"), "--archive-file", "1MiB")
	run := func(name string, stages ...string) *child {
		return weft.start(t, append(append([]string{"run"}, stages...), "--data", filepath.Join(dir, name))...)
	}
	deciding := run("deciding", "normalize", "dedupe", "schedule")
	fetching, fetchingToo := run("fetching", "fetch"), run("fetching-too", "fetch")
	parsing, archiving := run("parsing", "parse"), run("archiving", "archive")
	weft.do(t, append([]string{"seed"}, w.server.Seeds()...)...)

	var kills []webserver.Outage
	kill := func(c *child) {
		gone := c.kill()
		kills = append(kills, webserver.Kill(gone))
	}
	w.reaches(t, 700, fetching)
	kill(deciding)
	deciding = run("deciding", "normalize", "dedupe", "schedule")
	w.reaches(t, 700, deciding)
	kill(fetching)
	kill(archiving)
	archiving = run("archiving", "archive")
	weft.drained(t)
	t.Log(weft.do(t, "status", "--interval", "0"))
	weft.do(t, "stop")
	for _, c := range []*child{deciding, fetchingToo, parsing, archiving} {
		if status, _, complaints := c.end(t); status != 0 {
			t.Errorf("%v ended with status %d:\n%s", c.cmd.Args[1:], status, complaints)
		}
	}

	report := w.audit(t, webserver.Expect{Pages: w.Pages(), Delay: w.delay(delay), Outages: kills})
	t.Logf("the server's log:\n%v", report)
	w.repeatsOnlyIn(t, kills)
	var pages []string
	for _, r := range readTopic(t, outsider(t, cluster.Addrs()[0]), topics.Loop("weft").Parsed) {
		pages = append(pages, string(r.Value))
	}
	holds(t, w, read(t, pages))
	archived := responses(t, crawl.Options{Dir: dir})
	w.isArchived(t, archived)
	w.isArchivedOnce(t, archived, kills)
	if err := w.server.FlushLog(); err != nil {
		t.Fatal(err)
	}
	t.Log(weft.do(t, "verify", "--access-log", accessLog, "--format", "weft"))
}
