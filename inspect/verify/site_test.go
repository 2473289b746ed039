package verify_test

import (
	"cmp"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/inspect/verify"
	"github.com/weftcrawl/weft/inspect/verify/accesslog"
	"github.com/weftcrawl/weft/internal/politeness"
)

// hit is a request as a server's log tells it, milliseconds since begun.
type hit struct {
	start, took int64
	path, agent string
	host        string // empty: a.test
}

const ours = "Mozilla/5.0 (compatible; weft/test)"

// hits are the hits of the healthy story.
func hits() []hit {
	return []hit{
		{start: 100, took: 50, path: "/robots.txt", agent: ours}, {start: 300, took: 900, path: "/", agent: "somebody else"},
		{start: 1200, took: 100, path: "/", agent: ours}, {start: 2400, took: 100, path: "/b", agent: ours},
	}
}

// written writes a log in a format.
func written(t *testing.T, format string, log []hit) string {
	t.Helper()
	var b strings.Builder
	for _, h := range log {
		start, end := begun+h.start, begun+h.start+h.took
		stamp := time.UnixMilli(end).UTC().Format("02/Jan/2006:15:04:05 -0700")
		request := fmt.Sprintf(`"GET %s HTTP/1.1"`, h.path)
		switch format {
		case "combined":
			fmt.Fprintf(&b, "127.0.0.1 - - [%s] %s 200 2326 \"-\" %q\n", stamp, request, h.agent)
		case "vcombined":
			fmt.Fprintf(&b, "A.test:80 127.0.0.1 - - [%s] %s 200 2326 \"-\" %q\n", stamp, request, h.agent)
		case "nginx-msec":
			fmt.Fprintf(&b, "%d.%03d %d.%03d a.test %s 200 %q\n", end/1000, end%1000, h.took/1000, h.took%1000, request, h.agent)
		case "nginx-tabs":
			fmt.Fprintf(&b, "%d.%03d\t127.0.0.1\t192.0.2.1\thttp\t%s\t200\t%d.%03d\t2326\tGET\t%s\t%s\n",
				end/1000, end%1000, cmp.Or(h.host, "a.test"), h.took/1000, h.took%1000, h.path, h.agent)
		case "json":
			fmt.Fprintf(&b, `{"msec":"%d.%03d","request_time":"%d.%03d","host":"a.test","method":"GET","uri":%q,"status":"200","user_agent":%q}`+"\n",
				end/1000, end%1000, h.took/1000, h.took%1000, h.path, h.agent)
		case "caddy":
			fmt.Fprintf(&b, `{"level":"info","ts":%d.%03d,"request":{"host":"a.test","uri":%q,"headers":{"User-Agent":[%q]}},"duration":%d.%03d,"status":200}`+"\n",
				end/1000, end%1000, h.path, h.agent, h.took/1000, h.took%1000)
		case "weft":
			fmt.Fprintf(&b, "%d %d a.test 200 %s %s\n", start*1e6, end*1e6, h.path, h.agent)
		}
	}
	file := filepath.Join(t.TempDir(), "access.log")
	if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

func withLog(t *testing.T, format string, files ...string) func(*verify.Options) {
	t.Helper()
	f, err := accesslog.Named(format)
	if err != nil {
		t.Fatal(err)
	}
	return func(o *verify.Options) { o.Log = &verify.Log{Files: files, Format: f, Host: "a.test", Tolerance: -1} }
}

func TestEveryFormatProves(t *testing.T) {
	for _, format := range accesslog.Names() {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			report := judged(t, healthy(), withLog(t, format, written(t, format, hits())))
			last := report.Proofs[len(report.Proofs)-1]
			if !report.Proven || last.Claim != verify.SiteLog || last.Shown != 3 {
				t.Errorf("%+v:\n%s", last, text(t, report))
			}
		})
	}
}

func TestEveryFormatRefutes(t *testing.T) {
	for _, test := range []struct {
		kind verify.Kind
		// line is the line of the wrong request, written like hits.
		line  int
		plant func(*story, []hit) []hit
		// durations are needed to see it.
		durations bool
		also      verify.Kind
	}{
		{
			kind: verify.KindLogShort, line: 4,
			plant: func(s *story, h []hit) []hit {
				s.told(2).Timing.ResponseMs = 5000 // so that the first request need not wait
				s.told(2).Released[0].DelayMs, s.told(4).Released[0].DelayMs = 5000, 5000
				s.told(5).Settled[0].Attempt.StartedMs = begun + 6400
				return h
			},
		},
		{
			kind: verify.KindLogOverlap, line: 4, durations: true,
			plant: func(_ *story, h []hit) []hit {
				h[2].took = 1500
				return h
			},
		},
		{
			kind: verify.KindLogBeforeRobots, line: 2,
			plant: func(_ *story, h []hit) []hit {
				h[1].start = -9000
				return h[1:]
			},
			also: verify.KindLogBeforeRobots,
		},
		{
			kind: verify.KindLogDenied, line: 5, also: verify.KindLogUnknown,
			plant: func(_ *story, h []hit) []hit {
				return append(h, hit{start: 9000, took: 100, path: "/private", agent: ours})
			},
		},
		{
			kind: verify.KindLogUnknown, line: 5,
			plant: func(_ *story, h []hit) []hit {
				return append(h, hit{start: 9000, took: 100, path: "/stranger", agent: ours})
			},
		},
	} {
		for _, format := range accesslog.Names() {
			f, err := accesslog.Named(format)
			if err != nil {
				t.Fatal(err)
			}
			if test.durations && !f.Durations {
				continue
			}
			t.Run(string(test.kind)+"/"+format, func(t *testing.T) {
				t.Parallel()
				s := healthy()
				log := test.plant(s, hits())
				report := judged(t, s, withLog(t, format, written(t, format, log)))
				found := false
				for _, v := range report.Violations {
					switch {
					case v.Kind == test.kind && v.Lines[0].Line == test.line:
						found = true
					case v.Kind != test.also:
						t.Errorf("found too: %+v", v)
					}
				}
				if !found {
					t.Errorf("not found:\n%s", text(t, report))
				}
			})
		}
	}
}

// TestLogsInParts reads several files in any order, packed, with bad lines, and a log that begins
// after the robots.txt was fetched.
func TestLogsInParts(t *testing.T) {
	log := hits()
	first, second := written(t, "weft", log[:2]), written(t, "weft", slices.Clone(log[2:]))
	raw, err := os.ReadFile(first)
	if err != nil {
		t.Fatal(err)
	}
	packed, err := os.Create(first + ".gz")
	if err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(packed)
	if _, err := z.Write(append([]byte("nonsense\n"), raw...)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := packed.Close(); err != nil {
		t.Fatal(err)
	}
	report := judged(t, healthy(), withLog(t, "weft", second, packed.Name()))
	last := report.Proofs[len(report.Proofs)-1]
	if !report.Proven || last.Shown != 3 || len(last.Unproven) != 1 || !strings.Contains(last.Unproven[0], "line 1:") {
		t.Errorf("%+v:\n%s", last, text(t, report))
	}

	s := healthy()
	late := hits()[3:]
	if report := judged(t, s, withLog(t, "weft", written(t, "weft", late))); !report.Proven {
		t.Errorf("a log that begins late:\n%s", text(t, report))
	}
}

// A request more than the ledgers count as made was in flight at a kill, unless
// they say that it was cut off.
func TestRepeatsHaveTheirReason(t *testing.T) {
	again := append(hits(), hit{start: 9000, took: 100, path: "/b", agent: ours})
	for name, c := range map[string]struct {
		plant func(*story)
		want  string
	}{
		"at a kill": {func(*story) {}, "1 requests are in the access log more often than in the ledgers: they were in flight when their fetcher was killed"},
		"cut off": {func(s *story) {
			last := s.scheduled[len(s.scheduled)-1]
			*last = *scheduled(2600, 0, 1, 1, 1, &weftpb.Scheduled{
				Settled:  []*weftpb.Settlement{{Visit: id(4), RetryMs: -1, Attempt: attempt(2400, 100)}},
				Released: []*weftpb.Visit{released(6, &weftpb.Request{Target: target(linked, 1), Priority: 2, Again: true})},
			}).reads(names.Visited, 2)
			s.scheduled = append(s.scheduled, scheduled(9200, 0, 0, 0, 2, &weftpb.Scheduled{
				Settled: []*weftpb.Settlement{{Visit: id(6), Reason: "fetched", Attempt: attempt(9000, 100)}},
			}).reads(names.Visited, 3))
			s.visited = append(s.visited, &weftpb.Visited{Visit: id(6)})
		}, "1 requests were cut off when their partition went to another fetcher"},
	} {
		t.Run(name, func(t *testing.T) {
			s := healthy()
			c.plant(s)
			report := judged(t, s, withLog(t, "weft", written(t, "weft", again)))
			if said := text(t, report); !report.Proven || !strings.Contains(said, c.want) || strings.Contains(said, "made again") == (name == "at a kill") {
				t.Errorf("it says\n%s", said)
			}
		})
	}
}

// withHits is the report on a story with a log that tells the server's address.
func (s *story) withHits(t *testing.T, log []hit) *verify.Report {
	t.Helper()
	return judged(t, s, withLog(t, "nginx-tabs", written(t, "nginx-tabs", log)))
}

func found(r *verify.Report, kind verify.Kind) (n int) {
	for _, v := range r.Violations {
		if v.Kind == kind {
			n++
		}
	}
	return n
}

// A request that hangs holds back its host, and not the others of its domain (guarantee P1).
func TestHangingRequestsInALog(t *testing.T) {
	const other = "www.a.test"
	hangs := hit{start: 10_000, took: 20_000, path: "/hangs", agent: ours, host: other}
	next := func(start int64, host string) hit {
		return hit{start: start, took: 100, path: "/b", agent: ours, host: host}
	}
	const most, every = politeness.MaxHanging, 4_100
	many := []hit{}
	for i := range int64(most + 1) {
		many = append(many, hit{start: 10_000 + every*i, took: 2 * every * most, path: "/hangs", agent: ours, host: fmt.Sprintf("h%d.a.test", i)})
	}
	for name, c := range map[string]struct {
		log            []hit
		short, overlap int
	}{
		"another host goes on after 3 s and the delay": {log: []hit{hangs, next(14_000, ""), next(15_200, "")}},
		"before the delay":               {log: []hit{hangs, next(13_900, "")}, short: 1},
		"before it hangs":                {log: []hit{hangs, next(12_900, "")}, overlap: 1},
		"its host":                       {log: []hit{hangs, next(14_000, other)}, overlap: 1},
		"its host, after two of another": {log: []hit{hangs, next(14_000, ""), next(15_200, ""), next(16_400, ""), next(17_600, other)}, overlap: 1},
		"the delay follows its end, too": {log: []hit{hangs, next(30_200, "")}, short: 1},
		"robots.txt has a second": {
			log: []hit{{start: 10_000, took: 20_000, path: "/robots.txt", agent: ours, host: other}, next(12_000, "")},
		},
		"as many hang as may":        {log: append(slices.Clone(many[:most]), next(10_200+every*most, ""))},
		"one more is not waited for": {log: append(slices.Clone(many), next(10_600+every*(most+1), "")), overlap: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			report := healthy().withHits(t, append(hits(), c.log...))
			if short, overlap := found(report, verify.KindLogShort), found(report, verify.KindLogOverlap); short != c.short || overlap != c.overlap {
				t.Errorf("%d short and %d overlaps, want %d and %d:\n%s", short, overlap, c.short, c.overlap, text(t, report))
			}
		})
	}
}

// All names of an address share its budget, by the server's log.
func TestAddressesInALog(t *testing.T) {
	names := func(n int, every, took int64) (log []hit) {
		for i := range n {
			log = append(log, hit{start: 10_000 + every*int64(i), took: took, path: "/", agent: ours, host: fmt.Sprintf("www.site%d.test", i)})
		}
		return log
	}
	for name, c := range map[string]struct {
		log          []hit
		exempt       string
		fast, crowds int
	}{
		"at its delay":     {log: names(400, 50, 10)},
		"twice as fast":    {log: names(400, 25, 10), fast: 20},
		"eight open":       {log: names(100, 50, 300)},
		"far more open":    {log: names(100, 50, 2000), crowds: 20},
		"exempt addresses": {log: names(400, 1, 2000), exempt: "192.0.2.0/24"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := healthy()
			if c.exempt != "" {
				s.definitions[0].AddressExempt = []string{c.exempt}
			}
			report := s.withHits(t, append(hits(), c.log...))
			if fast, crowds := found(report, verify.KindLogAddressFast), found(report, verify.KindLogAddressCrowded); fast != c.fast || crowds != c.crowds {
				t.Errorf("%d too fast and %d too many, want %d and %d:\n%s", fast, crowds, c.fast, c.crowds, text(t, report))
			}
		})
	}
}
