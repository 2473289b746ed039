package performance

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
)

// Versions in the table are those that are installed.
func TestVersionsArePinned(t *testing.T) {
	pins := map[string][2]string{
		"spider":  {"spider/Cargo.toml", `spider = "=VERSION"`},
		"Colly":   {"colly/go.mod", "github.com/gocolly/colly/v2 vVERSION"},
		"Scrapy":  {"scrapy/requirements.txt", "Scrapy==VERSION"},
		"Crawlee": {"crawlee/package.json", `"@crawlee/cheerio": "VERSION"`},
	}
	pins["Crawlee in memory"] = pins["Crawlee"]
	for _, p := range Programs() {
		pin, ok := pins[p.Name]
		if ok != (p.Version != "") {
			t.Errorf("%s has version %q, and a manifest: %v", p.Name, p.Version, ok)
		}
		if !ok {
			continue
		}
		manifest, err := os.ReadFile(filepath.Join("../peers", pin[0]))
		if err != nil {
			t.Fatal(err)
		}
		if want := strings.Replace(pin[1], "VERSION", p.Version, 1); !strings.Contains(string(manifest), want+"\n") {
			t.Errorf("%s has no line that ends with %s", pin[0], want)
		}
	}
}

var programs = []Program{{Name: "limit"}, {Name: Weft, Durable: "yes"}, {Name: "slow", Version: "1.2", Durable: "no"}, {Name: "absent"}}

// run of a program that fetched 1000 pages.
func run(program string, seconds, cpu float64) Run {
	return Run{Program: program, Fetched: 1000, Expected: 1000, Seconds: seconds, CPUSeconds: cpu, PeakMB: 100, KiB: 20_000}
}

func rounds() []Run {
	bad := run("slow", 10, 4)
	bad.Fetched, bad.Repeats, bad.Robots = 990, 7, 50
	return []Run{
		run("limit", 0.5, 1), run(Weft, 1, 2), run("slow", 8, 4),
		run("limit", 0.5, 1), run(Weft, 2, 2), bad,
		run("limit", 0.5, 1), run(Weft, 1, 4), run("slow", 9, 20),
	}
}

func TestSummarize(t *testing.T) {
	all := Summarize(programs, rounds())
	if len(all) != 3 || all[2].Program.Name != "slow" {
		t.Fatalf("%d summaries: %+v", len(all), all)
	}
	slow := all[2]
	if slow.Fetched != 990 || slow.Expected != 1000 || slow.Repeats != 7 || slow.Robots != 50 {
		t.Errorf("the worst round does not count: %+v", slow)
	}
	if got := slow.Seconds; got.Median != 9 || got.Min != 8 || got.Max != 10 {
		t.Errorf("seconds %v", got)
	}
	if got := slow.CPUPerKiB; got.Median != 200 || got.Max != 1000 { // 4 s and 20 s for 20,000 KiB
		t.Errorf("CPU a KiB %v", got)
	}
	// 4 s ÷ 2 s; 4 s on 990 pages ÷ 2 s; 20 s ÷ 4 s
	if got := slow.CPURatio; got.Min != 2 || got.Max != 5 || got.Median < 2.02 || got.Median > 2.03 {
		t.Errorf("CPU ratio %v", got)
	}
	if got := all[1].RateRatio; got.Median != 1 || got.Min != 1 || got.Max != 1 {
		t.Errorf("Weft to itself: %v", got)
	}
}

// The interval of a median takes six figures. Of ten, the second and the ninth bound it.
func TestSpread(t *testing.T) {
	inf := math.Inf(1)
	tests := []struct {
		figures []float64
		want    Spread
	}{
		{nil, Spread{}},
		{[]float64{4, 1, 2, 9}, Spread{3, 1, 9, -inf, inf}},
		{[]float64{6, 5, 4, 3, 2, 1}, Spread{3.5, 1, 6, 1, 6}},
		{[]float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 100}, Spread{5.5, 1, 100, 2, 9}},
	}
	for _, tt := range tests {
		if got := spreadOf(slices.Clone(tt.figures)); got != tt.want {
			t.Errorf("%v: %v, want %v", tt.figures, got, tt.want)
		}
	}
}

func TestWebTable(t *testing.T) {
	var runs []Run
	for i := range 6 {
		runs = append(runs, run("limit", 0.5, 1), run(Weft, 1, float64(10+i)/10))
	}
	got := strings.Split(WebTable([]Comparison{{"few", Summarize(programs, runs)}}), "\n")
	want := []string{
		"| few | limit | 1,000 of 1,000 | 1000 (1000–1000) | 0.80 (0.67–1.00) | 50.0 | 2,000 | 2.00 (2.00–2.00) | 100 |",
		"| few | Weft | 1,000 of 1,000 | 1250 (1000–1500) | 1.00 (1.00–1.00) | 62.5 | 1,000 | 1.00 (1.00–1.00) | 100 |",
	}
	if len(got) != 5 || !slices.Equal(got[2:4], want) {
		t.Errorf("%q\nwant lines %q", got, want)
	}
}

func TestTable(t *testing.T) {
	got := strings.Split(Table(Summarize(programs, rounds())), "\n")
	want := "| slow 1.2 | 990 of 1,000 | 7 | 50 | 9.0 | 111 (99–125) | 0.12 | 4,040 (4,000–20,000) | 2.02 | 100 | no |"
	if len(got) != 6 || got[4] != want {
		t.Errorf("%q\nwant a line %q", got, want)
	}
}

func TestReplace(t *testing.T) {
	document := "a\n<!-- x -->\nold\n<!-- /x -->\nb\n"
	got, err := Replace(document, "x", "new\n")
	if want := "a\n<!-- x -->\nnew\n<!-- /x -->\nb\n"; got != want || err != nil {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
	for _, broken := range []string{"a\n", "<!-- x -->\n", "<!-- /x -->\n<!-- x -->\n"} {
		if got, err := Replace(broken, "x", "new"); err == nil {
			t.Errorf("%q became %q", broken, got)
		}
	}
}

// The plot is XML, and its bars are as long as the figures are great.
func TestPlot(t *testing.T) {
	plot, err := Plot(Summarize(programs, rounds()))
	if err != nil {
		t.Fatal(err)
	}
	var widths []string
	for d := xml.NewDecoder(strings.NewReader(plot)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, plot)
		}
		if e, ok := token.(xml.StartElement); ok && e.Name.Local == "rect" {
			widths = append(widths, e.Attr[0].Value)
		}
	}
	// The background; CPU of 1000, 2000 and 4040 of at most 20000; rates of 2000, 1000, 111.
	if got, want := strings.Join(widths, " "), "100% 15.0 30.0 60.6 300.0 150.0 16.7"; got != want {
		t.Errorf("widths %s, want %s", got, want)
	}
	for _, text := range []string{">slow<", ">4,040<", ">2,000<"} {
		if !strings.Contains(plot, text) {
			t.Errorf("the plot has no %s", text)
		}
	}
}

// sample took so long; functions are from the innermost to the outermost.
func sample(took int64, functions ...string) *profile.Sample {
	s := &profile.Sample{Value: []int64{1, took}}
	for _, name := range functions {
		s.Location = append(s.Location, &profile.Location{Line: []profile.Line{{Function: &profile.Function{Name: name}}}})
	}
	return s
}

func TestShares(t *testing.T) {
	parse, kgo := weftModule+"processors/parse/document.Parse", "github.com/twmb/franz-go/pkg/kgo.(*Client).Produce"
	p := &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "samples"}, {Type: "cpu"}},
		Sample: []*profile.Sample{
			sample(30, "runtime.mallocgc", "strings.Clone", parse, weftModule+"internal/stage.work"),
			sample(10, weftModule+"internal/urls.Parse", parse),
			sample(20, "runtime.gcAssistAlloc", "runtime.mallocgc", parse),
			sample(15, "runtime.memmove", kgo, weftModule+"processors/dedupe.write"),
			sample(10, "runtime.memmove", weftModule+"internal/stage.work"),
			sample(5, "runtime.futex", "runtime.findRunnable", "runtime.schedule"),
			sample(10, "time.Now", "example.com/else.Do"),
		},
	}
	got, err := Shares(p)
	if err != nil {
		t.Fatal(err)
	}
	want := []Share{{"parse", 0.4}, {"garbage collector", 0.2}, {"Kafka client", 0.15}, {"other", 0.1}, {"other parts of Weft", 0.1}, {"Go's scheduler and timers", 0.05}}
	if len(got) != len(want) {
		t.Fatalf("%v, want %v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%v, want %v", got[i], want[i])
		}
	}
	if table := ShareTable(got, 2000); !strings.Contains(table, "| parse | 40.0 % | 800 |\n") {
		t.Errorf("table\n%s", table)
	}
}

func TestSharesNeedCPU(t *testing.T) {
	if _, err := Shares(&profile.Profile{SampleType: []*profile.ValueType{{Type: "inuse_space"}}}); err == nil {
		t.Error("the profile of a heap has shares")
	}
}

// Each group of the house names code that exists.
func TestGroupsNameCode(t *testing.T) {
	for _, g := range groups {
		for _, function := range g.functions {
			folder, ours := strings.CutPrefix(function, weftModule)
			if _, err := os.Stat(filepath.Join("../..", folder)); ours && err != nil {
				t.Errorf("%s: %v", g.name, err)
			}
		}
	}
}
