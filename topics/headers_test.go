package topics_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/topics"
)

// headers are the headers of a record by name; each must be there once.
func headers(t *testing.T, e topics.Exchange, schema topics.Schema, by topics.Stage) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, h := range e.Headers(schema, by) {
		if _, twice := all[h.Key]; twice {
			t.Errorf("%s is there twice", h.Key)
		}
		all[h.Key] = string(h.Value)
	}
	return all
}

// The values are those that consumers see: a repeat must have the same.
func TestHeadersAreStable(t *testing.T) {
	e := topics.Loop("news").Exchange("503c1beec51db0209ff1930daa8e5b98", 1_790_000_000_123)
	want := map[string]string{
		"schema":      "weft.parsed/1",
		"page-id":     "503c1beec51db0209ff1930daa8e5b98",
		"crawl":       "news",
		"traceparent": "00-b1519e536fd65ad4f6b60b81cb5f1fdb-947fdc3154f4754c-01",
	}
	got := headers(t, e, topics.SchemaParsed, topics.Parse)
	for name, value := range want {
		if got[name] != value {
			t.Errorf("%s is %q, want %q", name, got[name], value)
		}
	}
	if len(got) != len(want) {
		t.Errorf("headers %v", got)
	}
}

func TestTraceOfAnExchange(t *testing.T) {
	form := regexp.MustCompile(`^00-([0-9a-f]{32})-([0-9a-f]{16})-01$`) // W3C Trace Context §3.2.2
	ids := func(e topics.Exchange, schema topics.Schema, by topics.Stage) (trace, span string) {
		value := headers(t, e, schema, by)[topics.HeaderTraceparent]
		parts := form.FindStringSubmatch(value)
		if parts == nil || strings.Trim(parts[1], "0") == "" || strings.Trim(parts[2], "0") == "" {
			t.Fatalf("traceparent %q", value)
		}
		return parts[1], parts[2]
	}
	news := topics.Loop("news")
	e := news.Exchange("p1", 100)
	fetched, fetch := ids(e, topics.SchemaFetched, topics.Fetch)
	parsed, parse := ids(e, topics.SchemaParsed, topics.Parse)
	discovered, parseToo := ids(e, topics.SchemaDiscovered, topics.Parse)
	if fetched != parsed || parsed != discovered {
		t.Errorf("one exchange is the traces %s, %s and %s", fetched, parsed, discovered)
	}
	if fetch == parse || parse != parseToo {
		t.Errorf("fetch is the span %s, parse %s and %s", fetch, parse, parseToo)
	}
	for what, other := range map[string]topics.Exchange{
		"another page":           news.Exchange("p2", 100),
		"the page at other time": news.Exchange("p1", 101),
		"digits of the time":     news.Exchange("p11", 0),
		"another crawl":          topics.Loop("new").Exchange("p1", 100),
	} {
		if trace, _ := ids(other, topics.SchemaFetched, topics.Fetch); trace == fetched {
			t.Errorf("%s has the same trace", what)
		}
	}
}

func BenchmarkHeaders(b *testing.B) {
	n := topics.Loop("weft")
	b.ReportAllocs()
	for b.Loop() {
		e := n.Exchange("503c1beec51db0209ff1930daa8e5b98", 1_790_000_000_123)
		_ = e.Headers(topics.SchemaParsed, topics.Parse)
		_ = e.Headers(topics.SchemaDiscovered, topics.Parse)
	}
}
