package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/bench/performance"
	"github.com/weftcrawl/weft/test/webserver"
)

func TestCommand(t *testing.T) {
	got := command("{bin}/weft  crawl --seeds {seeds} --x={data}", map[string]string{"bin": "b", "seeds": "s.txt", "data": "d"})
	if want := []string{"b/weft", "crawl", "--seeds", "s.txt", "--x=d"}; !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestRate(t *testing.T) {
	base := time.Unix(1000, 0)
	var log []webserver.Entry
	for s, n := range []int{1, 5, 100, 100, 3, 0, 7, 110, 110} {
		for i := range n {
			log = append(log, webserver.Entry{Start: base.Add(time.Duration(s)*time.Second + time.Duration(i)*time.Millisecond).UnixNano()})
		}
	}
	up := func(from, to int) stretch {
		return stretch{base.Add(time.Duration(from) * time.Second), base.Add(time.Duration(to) * time.Second)}
	}
	tests := []struct {
		stretches []stretch
		want      float64
	}{
		{[]stretch{up(0, 4)}, 100},
		{[]stretch{up(0, 4), up(5, 9)}, 105},
		{[]stretch{up(0, 1)}, 0},
	}
	for _, tt := range tests {
		if got := rate(log, tt.stretches, 2*time.Second); got != tt.want {
			t.Errorf("%v: %v, want %v", tt.stretches, got, tt.want)
		}
	}
}

func TestReached(t *testing.T) {
	var u usage
	for i, n := range []int64{0, 30, 30, 80, 100} {
		u.peakKB = int64(i + 1)
		u.reached(n, 100)
	}
	if want := [4]int64{2, 4, 4, 5}; u.growthKB != want {
		t.Errorf("growth %v, want %v", u.growthKB, want)
	}
}

func TestNoQuiet(t *testing.T) {
	var (
		at time.Time
		n  int64
	)
	served := noQuiet(func() (int64, error) { return n, nil }, time.Minute, func() time.Time { return at })
	for _, step := range []struct {
		after time.Duration
		pages int64
		fails bool
	}{{time.Minute, 0, false}, {time.Second, 5, false}, {time.Minute, 5, false}, {time.Second, 5, true}, {0, 6, false}} {
		at, n = at.Add(step.after), step.pages
		if got, err := served(); got != step.pages || (err != nil) != step.fails {
			t.Errorf("%+v: %d, %v", step, got, err)
		}
	}
}

// A measurement finds the places of its parts in docs/performance.md.
func TestDraw(t *testing.T) {
	const name = "performance.md"
	document, err := os.ReadFile(filepath.Join("../../docs", name))
	if err != nil {
		t.Fatal(err)
	}
	docs := t.TempDir()
	if err := os.WriteFile(filepath.Join(docs, name), document, 0o644); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	b := newBench("peers", &out)
	parts := map[string]string{machinePart: "machine one\n", peersPart: "table two\n", sharesPart: "table three\n"}
	one := performance.Run{Program: performance.Weft, Fetched: 1234, Expected: 1234, Seconds: 1, CPUSeconds: 1}
	if err := b.draw(performance.Summarize(performance.Programs(), []performance.Run{one}), parts, docs); err != nil {
		t.Fatal(err)
	}
	if err := replaceParts(docs, map[string]string{limitPart: "table four\n"}); err != nil {
		t.Error(err)
	}
	drawn, err := os.ReadFile(filepath.Join(docs, name))
	if err != nil {
		t.Fatal(err)
	}
	for part, text := range parts {
		if !strings.Contains(string(drawn), "<!-- "+part+" -->\n"+text+"<!-- /"+part+" -->\n") || !strings.Contains(out.String(), text) {
			t.Errorf("%s is not drawn:\n%s\nprinted:\n%s", part, drawn, &out)
		}
	}
	if plot, err := os.ReadFile(filepath.Join(docs, "performance.svg")); err != nil || !strings.Contains(string(plot), ">1,234<") {
		t.Errorf("plot: %v\n%s", err, plot)
	}
}

func TestCompared(t *testing.T) {
	one := func(name string, fetched, expected int) clusterRow {
		return clusterRow{row: row{name: name, usage: usage{wall: time.Second}, report: webserver.AuditReport{Fetched: fetched, Expected: expected}}}
	}
	three := one("Kafka, 3 processes", 600, 600)
	tests := []struct {
		name   string
		rows   []clusterRow
		missed int
	}{
		{"good", []clusterRow{one(embedded, 1000, 1000), one(onKafka, 750, 750), three}, 0},
		{"slow", []clusterRow{one(embedded, 1000, 1000), one(onKafka, 749, 749), three}, 1},
		{"means", []clusterRow{one(embedded, 1000, 1000), one(onKafka, 740, 740), three, one(embedded, 1000, 1000), one(onKafka, 770, 770), three}, 0},
		{"lossy", []clusterRow{one(embedded, 1000, 1000), one(onKafka, 760, 761), three}, 1},
	}
	for _, tt := range tests {
		var out bytes.Buffer
		if got := compared(&out, tt.rows); got != tt.missed {
			t.Errorf("%s: %d missed, want %d\n%s", tt.name, got, tt.missed, &out)
		}
		if !strings.Contains(out.String(), "one process/3 processes 1.2") {
			t.Errorf("%s: three processes are not compared:\n%s", tt.name, &out)
		}
	}
}

func TestVerdict(t *testing.T) {
	webs := []speedWeb{{name: "barred", minCPU: 0.75}, {name: "free"}}
	programs := []performance.Program{{Name: "limit"}, {Name: performance.Weft}}
	// A round in which the limit takes 1 s and 1 s of CPU.
	round := func(seconds, cpu, peakMB float64) []performance.Run {
		return []performance.Run{
			{Program: "limit", Fetched: 1000, Seconds: 1, CPUSeconds: 1, PeakMB: 5000},
			{Program: performance.Weft, Fetched: 1000, Seconds: seconds, CPUSeconds: cpu, PeakMB: peakMB},
		}
	}
	good := round(1, 1, 100)
	tests := []struct {
		name         string
		barred, free []performance.Run
		missed       int
	}{
		{"good", good, good, 0},
		{"at the bars", round(1.66, 1.33, 400), good, 0},
		{"much CPU", round(1, 1.34, 100), good, 1},
		{"much CPU where there is no bar", good, round(1, 9, 100), 0},
		{"much CPU in one of three rounds", slices.Concat(round(1, 9, 100), good, good), good, 0},
		{"slow", good, round(1.67, 1, 100), 1},
		{"large in one round", slices.Concat(good, round(1, 1, 401), good), good, 1},
	}
	for _, tt := range tests {
		var out bytes.Buffer
		all := []performance.Comparison{{Web: "barred", Summaries: performance.Summarize(programs, tt.barred)}, {Web: "free", Summaries: performance.Summarize(programs, tt.free)}}
		if got := verdict(&out, webs, all); got != tt.missed {
			t.Errorf("%s: %d bars missed, want %d\n%s", tt.name, got, tt.missed, &out)
		}
	}
}

func TestParsed(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	urls := filepath.Join(dir, "urls.txt")
	write("urls.txt", "http://a/1\nhttp://a/2\n")
	write("pages-1.jsonl", `{"url":"http://a/1","robots":{}}`+"\n")
	if err := parsed(urls, dir); err == nil || !strings.Contains(err.Error(), "http://a/2") {
		t.Errorf("a page is missing: %v", err)
	}
	write("pages-2.jsonl", `{"url":"http://a/other"}`+"\n"+`{"url":"http://a/2"}`+"\n")
	if err := parsed(urls, dir); err != nil {
		t.Errorf("all pages are there: %v", err)
	}
}

func TestJudge(t *testing.T) {
	timed := judgement{domains: 1000, delay: time.Second}
	complete := judgement{domains: 10, complete: true}
	killed := timed
	killed.killed = 3
	tests := []struct {
		name   string
		report webserver.AuditReport
		rate   float64
		j      judgement
		missed int
	}{
		{"good", webserver.AuditReport{}, 900, timed, 0},
		{"slow", webserver.AuditReport{}, 899, timed, 1},
		{"impolite", webserver.AuditReport{Short: 1, Overlaps: 1, BeforeRobots: 1, Denied: 1, Repeats: 1}, 900, timed, 5},
		{"repeats after a kill", webserver.AuditReport{Repeats: 5}, 900, killed, 0},
		{"repeats of no kill", webserver.AuditReport{Repeats: 5, Unexcused: 1}, 900, killed, 1},
		{"complete", webserver.AuditReport{Expected: 1000, Fetched: 995}, 0, complete, 0},
		{"incomplete", webserver.AuditReport{Expected: 1000, Fetched: 994}, 0, complete, 1},
	}
	for _, tt := range tests {
		var out bytes.Buffer
		if got := judge(&out, tt.report, tt.rate, tt.j); got != tt.missed {
			t.Errorf("%s: %d bars missed, want %d\n%s", tt.name, got, tt.missed, &out)
		}
	}
}

func TestPeakOfThisProcess(t *testing.T) {
	if kb, ok := peakKB(os.Getpid()); !ok || kb < 1000 {
		t.Errorf("peak %d kB, %v", kb, ok)
	}
}

// A crawler that would run for ever is killed twice and then interrupted.
func TestCrawlRunKills(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, "crawler")
	if err := os.WriteFile(script, []byte("#!/bin/sh\nexec sleep 1000\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	r := crawlRun{words: []string{script}, log: filepath.Join(dir, "log"), kills: 2, every: time.Millisecond}
	stretches, err := r.run(context.Background(), 50*time.Millisecond)
	if len(stretches) != 3 {
		t.Errorf("%d stretches, want 3", len(stretches))
	}
	if err == nil || !strings.Contains(err.Error(), "interrupt") {
		t.Errorf("a crawler that dies of the interrupt is a failure; got %v", err)
	}
}

// The programs work together, with the limit in the place of the crawler: it fetches every page,
// and it is found out for writing no pages and for asking no robots.txt.
func TestPrograms(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and runs programs")
	}
	bin := t.TempDir()
	build := exec.Command("go", "build", "-o", bin, "../web", "../limit")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	// A crawler that fetches all pages, and writes one line for each.
	crawler := filepath.Join(bin, "crawler")
	script := "#!/bin/sh\nset -e\n" + bin + "/limit -urls $1\nmkdir -p $2/pages\nsed 's/.*/{\"url\":\"&\"}/' $1 >$2/pages/all.jsonl\n"
	if err := os.WriteFile(crawler, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	err := speed(t.Context(), []string{"-bin", bin, "-rounds", "1", "-webs", "few,few-gzip", "-pages", "300", "-crawl", "{bin}/crawler {urls} {data}"}, &out)
	if err != nil || strings.Count(out.String(), "| Weft | 300 of 300 |") != 2 {
		t.Errorf("speed: %v\n%s", err, &out)
	}
	for _, tt := range []struct{ web, pages, line, want string }{
		{"few", "300", "{bin}/limit -urls {urls}", "300 pages were not parsed"},
		{"few", "300", "{bin}/limit -urls {seeds}", "233 pages were not fetched"},
		{"young", "2000", "{bin}/limit -urls {seeds}", "1999 pages were not fetched"},
		{"other", "300", "{bin}/limit -urls {urls}", "there is no web"},
	} {
		err := speed(t.Context(), []string{"-bin", bin, "-rounds", "1", "-webs", tt.web, "-pages", tt.pages, "-crawl", tt.line}, io.Discard)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s with %s: %v, want %s", tt.web, tt.line, err, tt.want)
		}
	}
	out.Reset()
	err = polite(t.Context(), []string{"-bin", bin, "-pages", "300", "-domains", "3", "-duration", "0", "-delay", "0", "-crawl", "{bin}/limit -urls {seeds}", "-bars"}, &out)
	if err == nil || !strings.Contains(out.String(), "MISSED  requests before robots.txt: 3") || !strings.Contains(out.String(), "MISSED  pages reached 3 of 300") {
		t.Errorf("polite: %v\n%s", err, &out)
	}
}

func TestSpeedWebsOf(t *testing.T) {
	if all, err := speedWebsOf(""); err != nil || len(all) != len(speedWebs()) {
		t.Errorf("%d webs, %v", len(all), err)
	}
	if some, err := speedWebsOf("young,few"); err != nil || len(some) != 2 || some[0].name != "young" {
		t.Errorf("%v, %v", some, err)
	}
	if _, err := speedWebsOf("few,yuong"); err == nil || !strings.Contains(err.Error(), "yuong") {
		t.Error(err)
	}
}
