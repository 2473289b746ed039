package webserver

import (
	"iter"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// at is a request with times in milliseconds.
func at(start, end int64, domain, path string, status int) Entry {
	return Entry{Start: start * 1e6, End: end * 1e6, Domain: domain, Path: path, Status: status}
}

func pages(list ...string) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for _, p := range list {
			if domain, path, _ := strings.Cut(p, "/"); !yield(domain, "/"+path) {
				return
			}
		}
	}
}

func TestAudit(t *testing.T) {
	second := func(string) time.Duration { return time.Second }
	deny := func(_, path string) bool { return strings.HasPrefix(path, "/private/") }
	tests := []struct {
		name   string
		log    []Entry
		expect Expect
		want   AuditReport
	}{{
		name: "nothing",
		want: AuditReport{Status: map[int]int{}},
	}, {
		name: "faultless",
		log: []Entry{
			at(0, 10, "a", "/robots.txt", 200), at(1010, 1020, "a", "/", 200),
			at(5, 15, "b", "/robots.txt", 404), at(1015, 1016, "b", "/", 200),
		},
		expect: Expect{Pages: pages("a/", "b/"), Delay: second, Denied: deny},
		want: AuditReport{Requests: 4, Domains: 2, Expected: 2, Fetched: 2, MinInterval: time.Second, MinIntervalDomain: "a",
			Intervals: 2, RobotsRequests: 2, Status: map[int]int{200: 3, 404: 1}},
	}, {
		name:   "too soon by a millisecond, log out of order",
		log:    []Entry{at(1009, 1020, "a", "/", 200), at(0, 10, "a", "/robots.txt", 200)},
		expect: Expect{Delay: second},
		want: AuditReport{Requests: 2, Domains: 1, MinInterval: 999 * time.Millisecond, MinIntervalDomain: "a", Intervals: 1, Short: 1,
			RobotsRequests: 1, Status: map[int]int{200: 2}},
	}, {
		name:   "too soon, by a process that went on; then by another",
		log:    []Entry{at(0, 10, "a", "/robots.txt", 200), at(15, 20, "a", "/", 200), at(500, 510, "a", "/x", 200)},
		expect: Expect{Delay: second, Woken: []Outage{{From: 14e6, To: 114e6}}},
		want: AuditReport{Requests: 3, Domains: 1, MinInterval: 5 * time.Millisecond, MinIntervalDomain: "a", Intervals: 2, Short: 1,
			RobotsRequests: 1, Status: map[int]int{200: 3}},
	}, {
		name: "a short response within a long one hides no overlap",
		log:  []Entry{at(0, 1, "a", "/robots.txt", 200), at(2, 100, "a", "/long", 200), at(3, 4, "a", "/short", 200), at(50, 60, "a", "/x", 200)},
		want: AuditReport{Requests: 4, Domains: 1, MinInterval: -97 * time.Millisecond, MinIntervalDomain: "a", Intervals: 3, Overlaps: 2, Short: 2,
			RobotsRequests: 1, Status: map[int]int{200: 4}},
	}, {
		name:   "missing and repeated",
		log:    []Entry{at(0, 1, "a", "/robots.txt", 200), at(2, 3, "a", "/x", 200), at(4, 5, "a", "/x", 200), at(6, 7, "a", "/y", 404)},
		expect: Expect{Pages: pages("a/x", "a/y", "b/x")},
		want: AuditReport{Requests: 4, Domains: 1, Expected: 3, Fetched: 1, Missing: []string{"a/y", "b/x"}, Repeats: 1, Repeated: []string{"a/x"},
			Unexcused: 1, UnexcusedURLs: []string{"a/x"},
			MinInterval: time.Millisecond, MinIntervalDomain: "a", Intervals: 3, RobotsRequests: 1, Status: map[int]int{200: 3, 404: 1}},
	}, {
		name: "repeated after kills: in flight, begun after, and ended well before",
		log: []Entry{at(0, 1, "a", "/robots.txt", 200),
			at(2, 3, "a", "/x", 200), at(20, 21, "a", "/y", 200), at(30, 31, "a", "/x", 200), at(40, 41, "a", "/z", 200),
			at(2000, 2001, "a", "/y", 200), at(2002, 2003, "a", "/z", 200)},
		expect: Expect{Outages: []Outage{{10e6, 10e6}, {1030e6, 1030e6}}},
		want: AuditReport{Requests: 7, Domains: 1, Repeats: 3, Repeated: []string{"a/x", "a/y", "a/z"}, Unexcused: 1, UnexcusedURLs: []string{"a/y"},
			MinInterval: time.Millisecond, MinIntervalDomain: "a", Intervals: 6, RobotsRequests: 1, Status: map[int]int{200: 7}},
	}, {
		name: "the server read the request when the process had ended",
		log: []Entry{at(0, 1, "a", "/robots.txt", 200), at(60, 65, "a", "/x", 200), at(160, 165, "a", "/y", 200),
			at(2000, 2001, "a", "/x", 200), at(2002, 2003, "a", "/y", 200)},
		expect: Expect{Outages: []Outage{Kill(50e6)}},
		want: AuditReport{Requests: 5, Domains: 1, Repeats: 2, Repeated: []string{"a/x", "a/y"}, Unexcused: 1, UnexcusedURLs: []string{"a/y"},
			MinInterval: time.Millisecond, MinIntervalDomain: "a", Intervals: 4, RobotsRequests: 1, Status: map[int]int{200: 5}},
	}, {
		name: "a retry after a failure is no repeat",
		log: []Entry{at(0, 1, "a", "/robots.txt", 200), at(2, 3, "a", "/x", 503), at(4, 5, "a", "/x", StatusAborted), at(6, 7, "a", "/x", 429),
			at(8, 9, "a", "/x", 200)},
		want: AuditReport{Requests: 5, Domains: 1, MinInterval: time.Millisecond, MinIntervalDomain: "a", Intervals: 4, RobotsRequests: 1,
			Status: map[int]int{200: 2, 503: 1, 499: 1, 429: 1}},
	}, {
		name: "before robots.txt has been answered, and denied",
		log: []Entry{at(0, 5, "a", "/first", 200), at(1, 10, "a", "/robots.txt", 200), at(9, 12, "a", "/early", 200), at(20, 21, "a", "/private/x", 200),
			at(0, 1, "b", "/", 200)},
		expect: Expect{Denied: deny},
		want: AuditReport{Requests: 5, Domains: 2, MinInterval: -4 * time.Millisecond, MinIntervalDomain: "a", Intervals: 3, Short: 2, Overlaps: 2,
			BeforeRobots: 3, Denied: 1, DeniedURLs: []string{"a/private/x"}, RobotsRequests: 1, Status: map[int]int{200: 5}},
	}}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := Audit(tt.log, tt.expect)
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got\n%+v\nwant\n%+v", got, tt.want)
			}
		})
	}
}

// A schedule that keeps the delay is never accused, and one that breaks it
// once always is.
func TestAuditPace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		delay := rapid.Int64Range(1, 1000).Draw(t, "delay")
		gaps := rapid.SliceOfN(rapid.Int64Range(0, 500), 1, 50).Draw(t, "gaps")
		broken := rapid.IntRange(-1, len(gaps)-1).Draw(t, "broken")
		log := []Entry{at(0, 1, "a", "/robots.txt", 200)}
		now := int64(1)
		for i, gap := range gaps {
			start := now + delay + gap
			if i == broken {
				start = now + delay - 1
			}
			now = start + 3
			log = append(log, at(start, now, "a", "/", 200))
		}
		log = rapid.Permutation(log).Draw(t, "order")
		want := 0
		if broken >= 0 {
			want = 1
		}
		r := Audit(log, Expect{Delay: func(string) time.Duration { return time.Duration(delay) * time.Millisecond }})
		if r.Short != want || r.Overlaps != 0 {
			t.Fatalf("short %d, want %d, overlaps %d", r.Short, want, r.Overlaps)
		}
	})
}

func TestRates(t *testing.T) {
	log := []Entry{at(2500, 0, "a", "/", 200), at(100, 0, "a", "/", 200), at(1099, 0, "a", "/", 200), at(1100, 0, "a", "/", 200)}
	if got := Rates(log, time.Second); !reflect.DeepEqual(got, []int{2, 1, 1}) {
		t.Errorf("rates %v", got)
	}
	if Rates(nil, time.Second) != nil {
		t.Error("rates of an empty log")
	}
}

func TestReportString(t *testing.T) {
	s := AuditReport{Requests: 3, Missing: []string{"a/x"}, Denied: 1, DeniedURLs: []string{"a/private/"}}.String()
	for _, want := range []string{"requests 3", "missing: a/x", "denied: a/private/"} {
		if !strings.Contains(s, want) {
			t.Errorf("%q is not in\n%s", want, s)
		}
	}
}

func FuzzReadLog(f *testing.F) {
	f.Add("1 2 127.1.0.1 200 / agent\n")
	f.Add("1 2 d 499 /a b\n")
	f.Fuzz(func(t *testing.T, s string) {
		entries, err := ReadLog(strings.NewReader(s))
		if err != nil {
			return
		}
		var again []byte
		for _, e := range entries {
			again = e.append(again)
		}
		if got, err := ReadLog(strings.NewReader(string(again))); err != nil || !reflect.DeepEqual(got, entries) {
			t.Errorf("%q reads back as %+v, %v; was %+v", again, got, err, entries)
		}
	})
}
