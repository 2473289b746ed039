package robots

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestLifetime(t *testing.T) {
	const (
		noon  = "Fri, 20 Nov 2026 12:00:00 GMT"
		three = "Fri, 20 Nov 2026 15:00:00 GMT"
	)
	for _, test := range []struct {
		cacheControl, date, expires string
		want                        time.Duration
	}{
		{"", "", "", TTL},
		{"max-age=7200", "", "", 2 * time.Hour},
		{"public, Max-Age=\"7200\"", "", "", 2 * time.Hour},
		{"max-age=7200", noon, three, 2 * time.Hour}, // Expires does not count then
		{"max-age=7200, max-age=10800", "", "", 2 * time.Hour},
		{"s-maxage=7200", "", "", TTL},
		{"public", noon, three, 3 * time.Hour},
		{"max-age=0", "", "", MinTTL},
		{"max-age=60", "", "", MinTTL},
		{"no-cache", "", "", MinTTL},
		{"max-age=7200, no-store", "", "", MinTTL},
		{"max-age=31536000", "", "", TTL},
		{"max-age=99999999999999999999999", "", "", TTL},
		{"max-age=-1", "", "", TTL},
		{"max-age", "", "", TTL},
		{"max-age=1h,,=,", "", "", TTL},
		{"max-age=\"99999999999\"", noon, noon, TTL},
		{`private="x, max-age=3600, y", max-age=7200`, "", "", 2 * time.Hour},
		{`x="a\", no-store, \\", max-age=7200`, "", "", 2 * time.Hour},
		{`max-age=7200, private="x, no-store`, "", "", 2 * time.Hour},
		{"", noon, "Friday, 20-Nov-26 15:00:00 GMT", 3 * time.Hour},
		{"", noon, "Fri Nov 20 15:00:00 2026", 3 * time.Hour},
		{"", "Friday, 20-Nov-26 12:00:00 GMT", three, 3 * time.Hour},
		{"", "Fri Nov 20 12:00:00 2026", three, 3 * time.Hour},
		{"", noon, noon, MinTTL},
		{"", three, noon, MinTTL},
		{"", noon, "0", MinTTL},
		{"", noon, "-1", MinTTL},
		{"", "", three, TTL},
		{"", "yesterday", three, TTL},
		{"", noon + "\n" + noon, three + "\n" + noon, 3 * time.Hour},
		{"max-age=7200\nno-store", "", "", MinTTL},
		{"", noon, "Fri, 20 Nov 2099 15:00:00 GMT", TTL},
	} {
		headers := http.Header{}
		for name, value := range map[string]string{"Cache-Control": test.cacheControl, "Date": test.date, "Expires": test.expires} {
			for line := range strings.SplitSeq(value, "\n") {
				headers.Add(name, line)
			}
		}
		got := Lifetime(headers.Values)
		if got != test.want {
			t.Errorf("%q, Date %q, Expires %q: %v, want %v", test.cacheControl, test.date, test.expires, got, test.want)
		}
	}
}

func FuzzLifetime(f *testing.F) {
	f.Add("max-age=7200, no-cache", "Fri, 20 Nov 2026 12:00:00 GMT", "0")
	f.Add(`private="x, max-age=1\", no-store", max-age="7200"`, "Fri Nov 20 12:00:00 2026", "Friday, 20-Nov-26 15:00:00 GMT")
	f.Add("max-age=99999999999999999999", "", "Fri, 20 Nov 0000 12:00:00 GMT")
	f.Fuzz(func(t *testing.T, cacheControl, date, expires string) {
		headers := http.Header{"Cache-Control": {cacheControl, date}, "Date": {date}, "Expires": {expires, date}}
		if got := Lifetime(headers.Values); got < MinTTL || got > TTL {
			t.Errorf("%v", got)
		}
	})
}
