package main

import (
	"bytes"
	"os/exec"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/test/webserver"
)

func TestJudgeSick(t *testing.T) {
	outage := webserver.Sickness{Kind: "outage", Yields: webserver.YieldsAll}
	hosts := []*webserver.Host{
		{Name: "a.d.test", Domain: "d.test"}, {Name: "b.e.test", Domain: "e.test"}, {Name: "sick.d.test", Domain: "d.test", Sickness: outage},
	}
	wanted := wantedPages{
		documents: map[document]string{{"a.d.test", "index"}: "/", {"a.d.test", "/x"}: "/x", {"b.e.test", "index"}: "/"},
		of: func(host, path string) document {
			if path == "/" || path == "/index.html" {
				return document{host, "index"}
			}
			return document{host, path}
		},
	}
	started := time.Unix(1000, 0)
	at := func(start, end int, domain, path string, status int) webserver.Entry {
		return webserver.Entry{
			Start: started.Add(time.Duration(start) * time.Millisecond).UnixNano(), End: started.Add(time.Duration(end) * time.Millisecond).UnixNano(),
			Domain: domain, Path: path, Status: status,
		}
	}
	const aborted = webserver.StatusAborted
	ms := time.Millisecond
	tests := []struct {
		name string
		log  []webserver.Entry
		want sickReport
	}{{
		name: "nothing",
		want: sickReport{missing: []string{"a.d.test/", "a.d.test/x", "b.e.test/"}},
	}, {
		name: "all, one by its other path; a host without a name and robots.txt are no pages",
		log: []webserver.Entry{
			at(0, 1, "a.d.test", "/robots.txt", 404), at(0, 1, "b.e.test", "/robots.txt", 404), at(2, 3, "a.d.test", "/index.html", 200),
			at(2, 3, "127.0.0.1", "/", 421), at(8, 9, "a.d.test", "/x", 200), at(5, 20, "b.e.test", "/", 200), at(30, 31, "a.d.test", "/other", 404),
		},
		want: sickReport{fetched: 3, last: 20 * ms, lastAsked: 30 * ms, after: [3]time.Duration{9 * ms, 20 * ms, 20 * ms}},
	}, {
		name: "an error is not a page, its repeat is none; what was answered is repeated, before robots.txt",
		log: []webserver.Entry{
			at(0, 1, "a.d.test", "/x", 500), at(2, 3, "a.d.test", "/x", 200), at(4, 5, "a.d.test", "/x", 200),
		},
		want: sickReport{
			fetched: 1, missing: []string{"a.d.test/", "b.e.test/"}, last: 3 * ms, lastAsked: 4 * ms, repeats: 1, before: 3,
			after: [3]time.Duration{3 * ms, 3 * ms, 3 * ms},
		},
	}, {
		name: "requests of a domain meet: two that are answered, and one beside a host that does not answer",
		log: []webserver.Entry{
			at(0, 1, "a.d.test", "/robots.txt", 404), at(2, 10, "sick.d.test", "/", 200), at(5, 6, "a.d.test", "/", 200),
			at(20, 90, "sick.d.test", "/", aborted), at(30, 31, "a.d.test", "/x", 200), at(100, 101, "a.d.test", "/none", 404),
			at(3, 4, "b.e.test", "/robots.txt", 404),
		},
		want: sickReport{
			fetched: 2, missing: []string{"b.e.test/"}, last: 31 * ms, lastAsked: 100 * ms, overlaps: 2, held: 1,
			after: [3]time.Duration{6 * ms, 31 * ms, 31 * ms},
		},
	}}
	for _, tt := range tests {
		got := judgeSick(hosts, wanted, tt.log, started)
		var p sickProgress
		for n := range len(tt.log) + 1 {
			p.read(tt.log[:n], wanted, func(name string) bool { return name == hosts[0].Name || name == hosts[1].Name })
		}
		if len(p.had) != tt.want.fetched || len(tt.log) > 0 && time.Unix(0, p.lastAsked) != started.Add(tt.want.lastAsked) {
			t.Errorf("%s: progress %+v", tt.name, p)
		}
		kinds := got.kinds
		got.kinds, tt.want.wanted = nil, 3
		if !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: got\n%+v\nwant\n%+v", tt.name, got, tt.want)
		}
		if kinds[""].hosts != 2 || kinds["outage"].hosts != 1 || kinds[""].pages != tt.want.fetched || kinds[""].wanted != 3 {
			t.Errorf("%s: kinds %+v, %+v", tt.name, kinds[""], kinds["outage"])
		}
		if strings.HasPrefix(tt.name, "requests") && (kinds["outage"].requests != 2 || kinds["outage"].most != 2 || kinds["outage"].pages != 1) {
			t.Errorf("%s: %+v", tt.name, kinds["outage"])
		}
	}
}

func TestSickVerdict(t *testing.T) {
	good := func(last time.Duration) sickReport {
		return sickReport{name: "with", wanted: 10, fetched: 10, last: last, cpu: time.Second, overlaps: 2, held: 2}
	}
	lossy, rude, slow := good(time.Second), good(time.Second), good(1101*time.Millisecond)
	lossy.fetched = 9
	rude.repeats, rude.before, rude.overlaps = 1, 1, 3
	tests := []struct {
		name   string
		with   []sickReport
		missed int
	}{
		{"good", []sickReport{good(1100 * time.Millisecond)}, 0},
		{"slow", []sickReport{slow}, 1},
		{"slow once in three times", []sickReport{good(time.Second), slow, good(time.Second)}, 0},
		{"slow twice", []sickReport{slow, good(time.Second), slow}, 1},
		{"the mean of two", []sickReport{good(900 * time.Millisecond), good(1310 * time.Millisecond)}, 1},
		{"lossy", []sickReport{lossy}, 2}, // pages, and the time has no meaning
		{"lossy once in three times", []sickReport{good(time.Second), good(time.Second), lossy}, 2},
		{"rude", []sickReport{rude}, 3},
	}
	for _, tt := range tests {
		var out bytes.Buffer
		var rounds []sickRound
		for _, with := range tt.with {
			rounds = append(rounds, sickRound{withoutLinks: good(time.Second), withOthers: good(1050 * time.Millisecond), withSick: with})
		}
		if got := sickVerdict(&out, rounds); got != tt.missed {
			t.Errorf("%s: %d bars missed, want %d\n%s", tt.name, got, tt.missed, &out)
		}
	}
}

// The programs work together, with the limit in the place of the crawler: it looks the names up
// and has all pages if these are the seeds, and it is found out for asking no robots.txt.
func TestSickPrograms(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and runs programs")
	}
	bin := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", bin, "../limit", ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run := func(args ...string) string {
		args = append([]string{"sick", "-bars", "-rounds", "1", "-bin", bin, "-healthy", "3", "-dead", "4", "-domains", "2", "-limit", "2s", "-crawl", "{bin}/limit -urls {seeds}"}, args...)
		out, err := exec.Command(bin+"/run", args...).CombinedOutput()
		if strings.Contains(string(out), errNoNamespace.Error()) {
			t.Skip(errNoNamespace)
		}
		if err == nil {
			t.Errorf("no bar was missed:\n%s", out)
		}
		return string(out)
	}
	all := run("-pages", "1")
	for _, want := range []string{
		"ok      with: pages of healthy hosts 3 of 3", "MISSED  with: requests before robots.txt 3", "3 of 3 pages of healthy hosts, the last after",
		"the crawl ended by itself",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is not in\n%s", want, all)
		}
	}
	if some := run("-pages", "2"); !strings.Contains(some, "MISSED  with: pages of healthy hosts 3 of 6") || !strings.Contains(some, "missing: 1 pages of docs-1.d00.test") {
		t.Errorf("pages are not missed:\n%s", some)
	}
}
