package frontier

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/kv"
	"github.com/weftcrawl/weft/internal/politeness"
)

func drawRequest(t *rapid.T) *weftpb.Request {
	q := plainRequest(t)
	if rapid.Bool().Draw(t, "sitemap") {
		q.Target.Sitemap = &weftpb.Sitemap{Level: 3, Guessed: rapid.Bool().Draw(t, "guessed"), Host: rapid.String().Draw(t, "host"), Root: "r"}
	}
	if rapid.Bool().Draw(t, "entry") {
		q.Target.Entry = &weftpb.Entry{
			Priority: rapid.Uint32().Draw(t, "of entry"), LastmodMs: rapid.Int64().Draw(t, "lastmod"), ChangeFrequency: 7,
			Foreign: rapid.String().Draw(t, "foreign"),
		}
	}
	if rapid.Bool().Draw(t, "conditional") {
		q.Etag, q.LastModified = rapid.String().Draw(t, "etag"), rapid.String().Draw(t, "modified")
	}
	return q
}

func plainRequest(t *rapid.T) *weftpb.Request {
	return &weftpb.Request{
		Target: &weftpb.Target{
			Url: rapid.String().Draw(t, "url"), Depth: rapid.Uint32().Draw(t, "depth"),
			Via: weftpb.Via(rapid.Int32Range(0, 9).Draw(t, "via")), ScopeRoot: rapid.String().Draw(t, "root"),
			Redirects: rapid.Uint32().Draw(t, "redirects"),
		},
		Priority: rapid.Uint32Range(0, priorities-1).Draw(t, "priority"),
		Attempt:  rapid.Uint32Range(0, 255).Draw(t, "attempt"), Round: rapid.Uint32().Draw(t, "round"),
		Throttled: rapid.Uint32().Draw(t, "throttled"),
	}
}

func drawDomain(t *rapid.T) *domain {
	small := rapid.Uint64Range(0, 1<<40)
	ms := rapid.Int64()
	d := &domain{
		origins: rapid.Uint32().Draw(t, "origins"), held: small.Draw(t, "held"),
		waiting: small.Draw(t, "waiting"), waitMS: ms.Draw(t, "wait"),
		dueMS: ms.Draw(t, "due"), leaseMS: ms.Draw(t, "lease"), nextMS: ms.Draw(t, "next"),
		waited: rapid.Bool().Draw(t, "waited"), turn: rapid.Uint32().Draw(t, "turn"), responseMS: rapid.Uint32().Draw(t, "response"),
	}
	for p := range priorities {
		d.ready[p], d.served[p] = small.Draw(t, "ready"), rapid.Uint32().Draw(t, "served")
	}
	for range rapid.IntRange(0, 3).Draw(t, "visits") {
		d.visits = append(d.visits, visit{
			offset: ms.Draw(t, "offset"), index: rapid.Uint32().Draw(t, "index"), count: rapid.Uint32().Draw(t, "requests"),
			open: rapid.Uint32().Draw(t, "bits"), leaseMS: ms.Draw(t, "lease"), delayMS: rapid.Uint32().Draw(t, "delay"),
			robots: rapid.Bool().Draw(t, "robots"), probe: rapid.Bool().Draw(t, "probe"), check: rapid.Bool().Draw(t, "check"),
		})
	}
	for c := range d.groups.counts {
		d.groups.counts[c] = rapid.Uint64Range(0, 2).Draw(t, "aside")
	}
	if d.groups != (groupCounts{}) {
		d.groups.movedMS = ms.Draw(t, "moved")
	}
	if rapid.Bool().Draw(t, "set") {
		d.setting = setting{
			delayMS: ms.Draw(t, "delay"), hasDelay: true, perDay: ms.Draw(t, "per day"), priority: weftpb.DomainSetting_PRIORITY_LOW,
			blocked: rapid.Bool().Draw(t, "blocked"), reason: rapid.String().Draw(t, "reason"), setMS: ms.Draw(t, "set at"),
		}
	}
	if d.known = rapid.Uint64Range(0, 3).Draw(t, "known"); d.known > 0 {
		d.day = day{ms.Draw(t, "day"), 3, 2, 1, ms.Draw(t, "blocked until")}
	}
	return d
}

func drawGroup(t *rapid.T) *group {
	n := rapid.Uint64()
	return &group{
		weftpb.Group_State(rapid.Int32Range(0, 2).Draw(t, "state")), n.Draw(t, "count"), n.Draw(t, "head"), n.Draw(t, "tail"),
		n.Draw(t, "left"), n.Draw(t, "allowed"),
	}
}

func drawOrigin(t *rapid.T) *origin {
	ms := rapid.Int64()
	small := rapid.Uint64Range(0, 1<<40)
	o := &origin{
		id: rapid.Uint32().Draw(t, "id"), at: place{uint8(rapid.IntRange(0, 15).Draw(t, "ready")), ms.Draw(t, "until")},
		robotsOut: rapid.Bool().Draw(t, "robotsOut"), unrestricted: rapid.Bool().Draw(t, "free"),
		fetchedMS: ms.Draw(t, "fetched"), ttlMS: ms.Draw(t, "ttl"), crawlDelayMS: rapid.Uint32().Draw(t, "delay"),
		hash: rapid.String().Draw(t, "hash"), retryMS: ms.Draw(t, "retry"),
		refuse: rapid.String().Draw(t, "refuse"), missing: rapid.Bool().Draw(t, "missing"),
	}
	if rapid.Bool().Draw(t, "unhealthy") {
		o.health = health{
			politeness.Breaker{Failures: rapid.Uint32().Draw(t, "failures")}, ms.Draw(t, "failed"), ms.Draw(t, "since"), ms.Draw(t, "waits"),
			rapid.String().Draw(t, "refuse"),
		}
	}
	if o.failures = rapid.Uint32Range(0, 3).Draw(t, "failures"); o.failures > 0 {
		o.failingMS = ms.Draw(t, "failing")
	}
	o.elsewhere = rapid.Uint32Range(0, 3).Draw(t, "elsewhere")
	if rapid.Bool().Draw(t, "retried") {
		o.retries = retries{small.Draw(t, "count"), ms.Draw(t, "head"), small.Draw(t, "seq"), uint32(small.Draw(t, "passed"))}
	}
	for i := range o.queues {
		head := small.Draw(t, "head")
		o.queues[i] = queue{head, head + small.Draw(t, "length")}
	}
	return o
}

func drawHost(t *rapid.T) *host {
	ms := rapid.Int64()
	h := &host{
		waitMS: ms.Draw(t, "wait"), missing: rapid.Bool().Draw(t, "missing"), refuse: rapid.String().Draw(t, "refuse"),
		pace: politeness.Pace{
			LearntMS: rapid.Uint32().Draw(t, "learnt"), Answers: rapid.Uint32().Draw(t, "answers"), Steady: rapid.Uint32().Draw(t, "steady"),
		},
		slowed: rapid.Bool().Draw(t, "slowed"), refusedPage: rapid.Uint64().Draw(t, "refused page"), answeredURL: rapid.String().Draw(t, "answered"), brokenPages: rapid.Uint32().Draw(t, "broken"),
	}
	h.hangsMS, h.silentMS = ms.Draw(t, "hangs"), ms.Draw(t, "silent")
	h.paced = rapid.Bool().Draw(t, "paced")
	h.doubts, h.pageFailed = rapid.Uint32().Draw(t, "doubts"), rapid.Bool().Draw(t, "page failed")
	if rapid.Bool().Draw(t, "failing") {
		h.breaker = politeness.Breaker{Failures: rapid.Uint32Range(1, 9).Draw(t, "failures"), Cycles: rapid.Uint32().Draw(t, "cycles"), Open: true}
		h.sinceMS, h.throttled = ms.Draw(t, "since"), rapid.Uint32().Draw(t, "throttled")
	}
	return h
}

func TestValuesRoundTrip(t *testing.T) {
	unexported := cmp.AllowUnexported(domain{}, queue{}, retries{}, visit{}, origin{}, place{}, host{}, gauges{}, health{}, groupCounts{}, group{}, setting{}, day{})
	rapid.Check(t, func(t *rapid.T) {
		q := drawRequest(t)
		if got, err := decodeRequest(encodeRequest(q)); err != nil || !proto.Equal(got, q) {
			t.Fatalf("request %v became %v (%v)", q, got, err)
		}
		partition, offset, index := rapid.Int32Range(0, 1<<20).Draw(t, "partition"), rapid.Int64Range(0, 1<<60).Draw(t, "offset"), rapid.Uint32Range(0, maxPerDomain).Draw(t, "index")
		if o, i, err := splitID(partition, VisitID(partition, offset, index)); err != nil || o != offset || i != index {
			t.Fatalf("visit %d-%d-%d became %d, %d (%v)", partition, offset, index, o, i, err)
		}
		d := drawDomain(t)
		if got, err := decodeDomain(d.encode()); err != nil || !cmp.Equal(got, d, unexported) {
			t.Fatalf("domain: %s (%v)", cmp.Diff(d, got, unexported), err)
		}
		o := drawOrigin(t)
		if got, err := decodeOrigin(o.encode()); err != nil || !cmp.Equal(got, o, unexported) {
			t.Fatalf("origin: %s (%v)", cmp.Diff(o, got, unexported), err)
		}
		h := drawHost(t)
		if got, err := decodeHost(h.encode()); err != nil || !cmp.Equal(got, h, unexported) {
			t.Fatalf("host: %s (%v)", cmp.Diff(h, got, unexported), err)
		}
		aside := drawGroup(t)
		if got, err := decodeGroup(aside.encode()); err != nil || !cmp.Equal(got, aside, unexported) {
			t.Fatalf("group: %s (%v)", cmp.Diff(aside, got, unexported), err)
		}
		held := gauges{queued: rapid.Int64Range(0, 1<<40).Draw(t, "queued"), withdrawn: rapid.Int64Range(0, 2).Draw(t, "withdrawn")}
		if got, err := decodeGauges(held.encode()); err != nil || got != held {
			t.Fatalf("gauges %v became %v (%v)", held, got, err)
		}
		qs := rapid.SliceOfN(rapid.Custom(drawRequest), 0, maxRequests).Draw(t, "requests")
		got, err := decodeRequests(encodeRequests(qs))
		if err != nil || len(got) != len(qs) {
			t.Fatalf("%d requests became %d (%v)", len(qs), len(got), err)
		}
		for i := range qs {
			if !proto.Equal(got[i], qs[i]) {
				t.Fatalf("request %v became %v", qs[i], got[i])
			}
		}
	})
}

// TestCutValues checks that a value cut short or with something behind it is
// damaged, never something else.
func TestCutValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		for name, value := range map[string][]byte{
			"request": encodeRequest(drawRequest(t)), "domain": drawDomain(t).encode(), "origin": drawOrigin(t).encode(),
			"requests": encodeRequests([]*weftpb.Request{drawRequest(t)}), "gauges": gauges{queued: 7}.encode(), "more gauges": gauges{queued: 7, withdrawn: 1}.encode(),
			"group": drawGroup(t).encode(), "host": drawHost(t).encode(),
		} {
			cut := append([]byte{}, value[:rapid.IntRange(0, len(value)-1).Draw(t, "cut")]...)
			for _, bad := range [][]byte{cut, append(value, 0)} {
				if err := decodeAs(name, bad); !errors.Is(err, kv.ErrValue) {
					t.Fatalf("%s of %d bytes, %d written: %v", name, len(bad), len(value), err)
				}
			}
		}
	})
}

func decodeAs(name string, b []byte) (err error) {
	switch name {
	case "request":
		_, err = decodeRequest(b)
	case "requests":
		_, err = decodeRequests(b)
	case "domain":
		_, err = decodeDomain(b)
	case "origin":
		_, err = decodeOrigin(b)
	case "group":
		_, err = decodeGroup(b)
	case "host":
		_, err = decodeHost(b)
	case "gauges", "more gauges":
		_, err = decodeGauges(b)
	}
	return err
}

// FuzzDecode checks that no value makes a decoder panic or allocate without
// bound, and that what is read is written the same way.
func FuzzDecode(f *testing.F) {
	f.Add((&domain{visits: []visit{{offset: 1, count: 2, open: 3}}}).encode())
	f.Add((&origin{robotsOut: true, hash: "h"}).encode())
	f.Add(encodeRequests([]*weftpb.Request{{Target: &weftpb.Target{Url: "https://a.example/"}}}))
	f.Add(gauges{queued: 1, out: 2}.encode())
	f.Add(gauges{queued: 1, withdrawn: 2}.encode())
	f.Add(gauges{queued: 1, blocked: 1}.encode())
	f.Add((&group{count: 2, tail: 2, allowed: 16}).encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		if d, err := decodeDomain(b); err == nil {
			if again, err := decodeDomain(d.encode()); err != nil || !bytes.Equal(again.encode(), d.encode()) {
				t.Errorf("domain %+v is read back as %+v, %v", d, again, err)
			}
		}
		if o, err := decodeOrigin(b); err == nil {
			if again, err := decodeOrigin(o.encode()); err != nil || *again != *o {
				t.Errorf("origin %+v is read back as %+v, %v", o, again, err)
			}
		}
		if qs, err := decodeRequests(b); err == nil {
			if again, err := decodeRequests(encodeRequests(qs)); err != nil || len(again) != len(qs) {
				t.Errorf("requests %v cannot be read back", qs)
			}
		}
		if g, err := decodeGauges(b); err == nil {
			if again, err := decodeGauges(g.encode()); err != nil || again != g {
				t.Errorf("gauges %+v are read back as %+v, %v", g, again, err)
			}
		}
		if offset, index, err := splitID(0, string(b)); err == nil && VisitID(0, offset, index) != string(b) {
			t.Errorf("visit %q is %d, %d", b, offset, index)
		}
		if origin, ok := originOf(string(b)); ok && !strings.HasPrefix(string(b), origin) {
			t.Errorf("the origin of %q is %q", b, origin)
		}
		if h, err := decodeHost(b); err == nil {
			if again, err := decodeHost(h.encode()); err != nil || *again != *h {
				t.Errorf("host %+v is read back as %+v, %v", h, again, err)
			}
		}
		if g, err := decodeGroup(b); err == nil {
			if again, err := decodeGroup(g.encode()); err != nil || *again != *g {
				t.Errorf("group %+v is read back as %+v, %v", g, again, err)
			}
		}
		_, _ = decodeRequest(b)
		_, _ = decodeRobots(b)
	})
}
