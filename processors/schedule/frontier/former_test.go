package frontier

import (
	"encoding/hex"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/politeness"
)

// TestFormerRecords checks that records of former versions keep their meaning. New fields have
// their zero values. The bytes are those that the commit wrote, and they do not change. A
// record that grows again gets a line with the bytes of before.
func TestFormerRecords(t *testing.T) {
	read := map[string]func(b []byte) (any, error){
		"host":    func(b []byte) (any, error) { return decodeHost(b) },
		"origin":  func(b []byte) (any, error) { return decodeOrigin(b) },
		"domain":  func(b []byte) (any, error) { return decodeDomain(b) },
		"request": func(b []byte) (any, error) { return decodeRequest(b) },
		"gauges":  func(b []byte) (any, error) { g, err := decodeGauges(b); return &g, err },
	}
	older := domain{
		origins: 3, held: 7, ready: [priorities]uint64{2: 1}, served: [priorities]uint32{2: 3}, waiting: 1, waitMS: 5000, dueMS: 6000,
		leaseMS: 9000, nextMS: 4000, turn: 2, responseMS: 120, waited: true, uncounted: true,
		visits: []visit{{offset: 7, count: 2, open: 3, leaseMS: 9000, delayMS: 1000, probe: true}},
	}
	counted := older
	counted.uncounted = false
	for _, c := range []struct {
		record, commit, bytes string
		want                  any
	}{
		{"host", "a901aa4", "05b06d001368747470733a2f2f612e6578616d706c652f700602f02e0301f403", &host{
			waitMS: 7000, answeredURL: "https://a.example/p", brokenPages: 1, pace: politeness.Pace{LearntMS: 500}, sinceMS: 3000, throttled: 3,
			breaker: politeness.Breaker{Failures: 6, Cycles: 2, Open: true},
		}},
		{"host", "a901aa4", "02b06d0d646e735f6e6f745f666f756e64000000", &host{waitMS: 7000, missing: true, refuse: "dns_not_found"}},
		{"host", "1467852", "7cb06d001368747470733a2f2f612e6578616d706c652f700100f02e0100f403d08c010c807d", &host{
			waitMS: 7000, answeredURL: "https://a.example/p", pace: politeness.Pace{LearntMS: 500, Answers: 12}, silentMS: 8000, hangsMS: 9000, paced: true,
			breaker: politeness.Breaker{Failures: 1}, sinceMS: 3000, throttled: 1,
		}},
		{"origin", "a901aa4", "c2030300000000040500000400c80180bab703d00f016802904e0702647800050101140a5000", &origin{
			id: 3, queues: [priorities]queue{2: {4, 9}}, retries: retries{count: 2, headMS: 5000, seq: 7}, at: place{ready: 4}, unrestricted: true,
			fetchedMS: 100, ttlMS: 3_600_000, crawlDelayMS: 2000, hash: "h", failures: 2, failingMS: 50, retryMS: 60,
			health: health{breaker: politeness.Breaker{Failures: 5, Cycles: 1, Open: true}, failedMS: 10, sinceMS: 5, waitMS: 40},
		}},
		{"origin", "1467852", "850603000000000000000000000000000002647812726f626f74735f756e726561636861626c6502", &origin{
			id: 3, elsewhere: 2, failures: 2, failingMS: 50, retryMS: 60, refuse: "robots_unreachable", robotsOut: true, referred: true,
		}},
		{"domain", "a901aa4", "0307000000000103000001904ee05dd08c01c03e0278010e000203d08c01e807020e00000000", &older},
		{"domain", "1467852", "0307000000000103000001904ee05dd08c01c03e0278010e000203d08c01e807028e0200000000", &counted},
		{"domain", "1467852", "0307000000000000000000000000c03e0000010e000101d08c01000cfc030001050003904e14010561736b65649a0109c0b802030201c601", &domain{
			origins: 3, held: 7, upURLs: [priorities]uint64{1: 1, 2: 5}, dueIn: 1, crowded: true, nextMS: 4000, known: 9, day: day{20000, 3, 2, 1, 99},
			setting: setting{delayMS: 5000, hasDelay: true, perDay: 10, priority: weftpb.DomainSetting_PRIORITY_HIGH, blocked: true, reason: "asked", setMS: 77},
			visits:  []visit{{offset: 7, count: 1, open: 1, leaseMS: 9000, check: true, hangs: true}},
		}},
		{"request", "a901aa4", "02010302021368747470733a2f2f612e6578616d706c652f701268747470733a2f2f612e6578616d706c652f", &weftpb.Request{
			Target:   &weftpb.Target{Url: "https://a.example/p", Depth: 2, Via: weftpb.Via_VIA_LINK, ScopeRoot: "https://a.example/"},
			Priority: 2, Attempt: 1, Round: 3,
		}},
		{"request", "1467852", "01800800008480808080021768747470733a2f2f612e6578616d706c652f732e786d6c0007010109612e6578616d706c651268747470733a2f2f612e6578616d706c652f050e00000165016d", &weftpb.Request{
			Target: &weftpb.Target{
				Url: "https://a.example/s.xml", Via: weftpb.Via_VIA_SITEMAP,
				Sitemap: &weftpb.Sitemap{Level: 1, Guessed: true, Host: "a.example", Root: "https://a.example/"},
				Entry:   &weftpb.Entry{Priority: 5, LastmodMs: 7},
			},
			Priority: 1, Throttled: 4, Etag: "e", LastModified: "m",
		}},
		{"gauges", "a901aa4", "0300000e0402020212040200", &gauges{queued: 7, out: 2, visits: 1, domains: 1, domainsOut: 1, fetched: 9, failed: 2, refused: 1}},
		{"gauges", "1467852", "050602040e000000000000000a", &gauges{queued: 7, withdrawn: 1, down: 2, blocked: 3, decidedMS: 5}},
	} {
		written, err := hex.DecodeString(c.bytes)
		if err != nil {
			t.Fatal(err)
		}
		unexported := cmp.AllowUnexported(domain{}, queue{}, retries{}, visit{}, origin{}, place{}, host{}, gauges{}, health{}, groupCounts{}, setting{}, day{})
		got, err := read[c.record](written)
		if diff := cmp.Diff(c.want, got, unexported, protocmp.Transform()); err != nil || diff != "" {
			t.Errorf("%s of %s: %v\n%s", c.record, c.commit, err, diff)
		}
	}
}
