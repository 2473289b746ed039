package verify_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weftcrawl/weft/inspect/verify"
)

func TestWriteText(t *testing.T) {
	report := verify.Report{
		Crawl: "news", TookMS: 1200, Found: 5,
		Proofs: []verify.Proof{
			{Claim: "delay", States: "no request broke a delay", Shown: 3, Unit: "requests", Violations: 5},
			{Claim: "chain", States: "no URL was lost", Shown: 9, Unit: "URLs", InTransit: 2, Unproven: []string{"the log begins at 7", "a log is missing"}},
		},
		Notes: []string{"1 URL was fetched twice"},
		Violations: []verify.Violation{
			{
				Claim: "delay", Kind: "early", Says: "10 ms too early", Domain: "example.com", URL: "https://example.com/",
				Records: []verify.RecordRef{{Topic: "news.fetched", Partition: 1, Offset: 12, Says: "began"}, {Topic: "news.fetched", Partition: 1, Offset: 11, Says: "ended"}},
				Lines:   []verify.Line{{File: "access.log", Line: 4, Says: "GET /"}},
			},
			{Claim: "delay", Kind: "overlap", Says: "at the same time", Domain: "example.org"},
			{Claim: "delay", Kind: "overlap", Says: "unknown"},
		},
	}
	const want = `crawl news: refuted by 5 violations, in 1.2s
  delay  REFUTED  no request broke a delay  3 requests, 5 violations
  chain  in part  no URL was lost           9 URLs, 2 in transit
not proven of chain: the log begins at 7
not proven of chain: a log is missing
note: 1 URL was fetched twice

early (delay) https://example.com/
  10 ms too early
  news.fetched/1 at 12: began
  news.fetched/1 at 11: ended
  access.log, line 4: GET /

overlap (delay) example.org
  at the same time

overlap (delay)
  unknown
and 2 more
`
	var b strings.Builder
	if err := report.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
