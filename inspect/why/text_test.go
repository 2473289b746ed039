package why

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/urls"
)

func TestSpans(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0 ms", 250 * time.Millisecond: "250 ms", 999 * time.Millisecond: "999 ms",
		time.Second: "1 s", 1230 * time.Millisecond: "1.2 s", 9960 * time.Millisecond: "10 s", 12 * time.Second: "12 s",
		59700 * time.Millisecond: "1 m", 200 * time.Second: "3 m 20 s", time.Hour: "1 h", 125 * time.Minute: "2 h 5 m",
		76 * time.Hour: "3 d 4 h", 24000 * time.Hour: "1,000 d", -time.Minute: "-1 m",
	} {
		if got := span(d); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}

func TestTimes(t *testing.T) {
	zone := time.FixedZone("there", 13*60*60)
	c := clock{noon, zone} // one in the morning of the second of March
	for at, want := range map[time.Time]string{
		noon:                        "01:00:00 (now)",
		noon.Add(-90 * time.Minute): "2026-03-01 23:30:00 (1 h 30 m ago)",
		noon.Add(5 * time.Second):   "01:00:05 (in 5 s)",
	} {
		if got := c.When(at); got != want {
			t.Errorf("%v: %q, want %q", at, got, want)
		}
	}
}

func TestAnswers(t *testing.T) {
	for _, test := range []struct {
		status uint32
		class  string
		want   string
	}{
		{200, "", "200"}, {404, "", "404"}, {0, "reset", "reset"}, {200, "body_truncated", "body_truncated"},
		{404, "body_truncated", "404 with body_truncated"}, {503, "bad_encoding", "503 with bad_encoding"},
	} {
		if got := answerText(test.status, test.class); got != test.want {
			t.Errorf("%d, %q: %q, want %q", test.status, test.class, got, test.want)
		}
	}
}

func TestShares(t *testing.T) {
	for _, test := range []struct {
		part, whole int64
		want        string
	}{{0, 0, "0 %"}, {0, 5, "0 %"}, {1, 1000, "<1 %"}, {1, 3, "33 %"}, {3, 3, "100 %"}} {
		if got := percent(test.part, test.whole); got != test.want {
			t.Errorf("%d of %d: %q, want %q", test.part, test.whole, got, test.want)
		}
	}
}

func TestChanges(t *testing.T) {
	for raw, want := range map[string][]string{
		"http://example.com/":          nil,
		" http://example.com/ ":        {changedSpace},
		"http://EXAMPLE.com/":          {changedCase},
		"HTTP://example.com/":          {changedCase},
		"http://example.com":           {changedRoot},
		"http://example.com?a":         {changedRoot},
		"http://example.com:80/":       {changedPort},
		"http://u:p@example.com/":      {changedUser},
		"http://example.com/#":         {changedFragment},
		"http://example.com/a/../b":    {changedDots},
		"http://example.com/%2e/b":     {changedDots},
		"http://example.com/%7eme":     {changedEscapes},
		"http://example.com/a b":       {changedEscapes},
		`http:\\example.com\a`:         {changedSlashes},
		"http:/example.com/":           {changedSlashes},
		"http:///example.com/":         {changedSlashes},
		"http://bücher.example/":       {changedHost},
		"http://127.1/":                {changedHost},
		"https://[::1]:443/x#y":        {changedFragment, changedPort},
		"https://example.com:8443/a?b": nil,
	} {
		u, refusal := urls.Parse(raw)
		if refusal != urls.Accepted {
			t.Fatalf("%s: %s", raw, refusal)
		}
		got := changes(raw, u)
		if len(got) != len(want) {
			t.Errorf("%q becomes %s: %q, want %q", raw, u, got, want)
			continue
		}
		for i := range got {
			if got[i] != want[i] {
				t.Errorf("%q becomes %s: %q, want %q", raw, u, got, want)
			}
		}
	}
}

// TestEveryChangeHasARule checks that a URL that differs from its canonical form gets a reason, and
// that a canonical URL does not.
func TestEveryChangeHasARule(t *testing.T) {
	part := func(all ...string) *rapid.Generator[string] { return rapid.SampledFrom(all) }
	rapid.Check(t, func(t *rapid.T) {
		raw := part("", " ").Draw(t, "before") + part("http:", "HTTPS:").Draw(t, "scheme") + part("//", `\\`, "/").Draw(t, "slashes") +
			part("", "u@", "u:p@").Draw(t, "user") + part("a.example", "A.example", "münchen.example", "0x7f.1", "[::1]").Draw(t, "host") +
			part("", ":", ":80", ":443", ":8080").Draw(t, "port") +
			rapid.StringMatching(`(/|/[a-zA-Z~ %.é]{0,4}|/\.\.?|\\){0,4}`).Draw(t, "path") +
			part("", "?", "?a=b", "?%7e").Draw(t, "query") + part("", "#", "#x").Draw(t, "fragment") + part("", "\n").Draw(t, "after")
		u, refusal := urls.Parse(raw)
		if refusal != urls.Accepted {
			t.Skip(string(refusal))
		}
		if got := changes(raw, u); len(got) == 0 != (raw == u.String()) {
			t.Fatalf("%q becomes %s: %q", raw, u, got)
		}
		if got := changes(u.String(), u); len(got) > 0 {
			t.Fatalf("%s is canonical: %q", u, got)
		}
	})
}

// What a request came to says how long the look-up and the connection took, apart, if they took
// any time.
func TestAttemptTellsItsTimes(t *testing.T) {
	for want, a := range map[string]*weftpb.Attempt{
		"200 in 120 ms, 12.0 kB":                                          {TotalUs: 120_000, Status: 200, BodyBytes: 12_000},
		"200 in 120 ms, 12.0 kB (look-up 2.5 s, connection 30 ms)":        {TotalUs: 120_000, Status: 200, BodyBytes: 12_000, DnsMs: 2500, ConnectMs: 30},
		"404 in 120 ms, 12.0 kB (look-up 40 ms)":                          {TotalUs: 120_000, Status: 404, BodyBytes: 12_000, DnsMs: 40},
		"reset after 1.2 s (connection 31 ms)":                            {TotalUs: 1_200_000, ErrorClass: "reset", ConnectMs: 31},
		"dns_error after 10 s (look-up 10 s)":                             {TotalUs: 10_000_000, ErrorClass: "dns_error", DnsMs: 10_000},
		"500 with body_truncated after 1 s (look-up 1 s, connection 2 s)": {TotalUs: 1_000_000, Status: 500, ErrorClass: "body_truncated", DnsMs: 1000, ConnectMs: 2000},
	} {
		if got, err := say(urlText(), "attempt", attemptOf(a)); err != nil || got != want {
			t.Errorf("%q, want %q: %v", got, want, err)
		}
	}
}
