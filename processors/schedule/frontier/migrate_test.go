package frontier

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/kv"
	"github.com/weftcrawl/weft/test/memstore"
)

// TestMigrate checks that a store of a former version, with queues of domains, becomes one in
// which every URL waits once, in its order, and nothing else is lost.
func TestMigrate(t *testing.T) {
	store := &memstore.Store{}
	keys := keysOf("a.example")
	visits := []visit{{offset: 7, index: 0, count: 1, open: 1, leaseMS: 9000, delayMS: 1000, robots: true}}
	request := func(url string) *weftpb.Request {
		return &weftpb.Request{Target: &weftpb.Target{Url: url, Depth: 1, Via: weftpb.Via_VIA_LINK}, Priority: 2, Attempt: 1}
	}
	var want []string
	for i := range 3 * migrateChunk {
		url := fmt.Sprintf("https://h%d.a.example/%d", i%3, i)
		want = append(want, url)
		key := binary.BigEndian.AppendUint64(append(keys.make(formerQueueKind, 9), 2), uint64(40+i))
		store.Set(key, encodeRequest(request(url)))
	}
	retry := binary.BigEndian.AppendUint64(keys.make(formerRetryKind, 16), 5000)
	store.Set(binary.BigEndian.AppendUint64(retry, 3), encodeRequest(request("https://h0.a.example/again")))
	store.Set(keys.requests(visits[0]), encodeRequests([]*weftpb.Request{request("https://h1.a.example/robots.txt")}))
	store.Set(keys.origin("https://h0.a.example"), kv.Encode(0, func(f *kv.Fields) { // fetched at 100, holds for an hour
		flags, fetched, ttl, none, unused := uint64(1<<1|1<<2|1<<7), int64(100), int64(3_600_000), "", uint64(0)
		f.Uint(&flags)
		f.Int(&fetched)
		f.Int(&ttl)
		f.Uint(&unused)
		f.String(&none)
		f.Uint(&unused)
		var retryMS int64
		f.Int(&retryMS)
		f.String(&none)
		failures, waitMS, open := uint64(6), int64(8000), uint64(1) // its breaker is open
		f.Uint(&failures)
		f.Uint(&open)
		f.Uint(&open)
		f.Int(&fetched)
		f.Int(&waitMS)
	}))
	store.Set(keys.origin("https://h1.a.example"), kv.Encode(0, func(f *kv.Fields) { // asked
		asked, none, unused := uint64(1), "", uint64(0)
		f.Uint(&asked)
		for range 3 {
			f.Uint(&unused)
		}
		f.String(&none)
		f.Uint(&unused)
		f.Uint(&unused)
		f.String(&none)
	}))
	queued := int64(len(want) + 1)
	store.Set(keys.record(), kv.Encode(0, func(f *kv.Fields) {
		for p := range uint64(priorities) {
			head, n := 40*(p/2), uint64(0)
			if p == 2 {
				n = uint64(len(want))
			}
			f.Uint(&head)
			f.Uint(&n)
		}
		one, two, seq, headMS, none := uint64(1), uint64(2), uint64(4), int64(5000), uint64(0)
		dueMS, leaseMS, nextMS := int64(0), int64(9000), int64(2000)
		f.Uint(&one)
		f.Int(&headMS)
		f.Uint(&seq)
		f.Uint(&two)
		f.Int(&dueMS)
		f.Int(&leaseMS)
		f.Int(&nextMS)
		for range 3 {
			f.Uint(&none)
		}
		f.Uint(&two) // turn
		f.Uint(&none)
		kv.List(f, &visits, maxPerDomain, func(v *visit) { v.fields(f) })
	}))
	f := New(testOptions(), store)
	f.leases.set(store, 9000, []byte("a.example")...)
	f.releases.set(store, 7, append([]byte{0}, "a.example"...)...)
	store.Set([]byte{gaugesKey}, kv.Encode(0, func(f *kv.Fields) {
		for _, n := range []int64{queued, 1, 1, 1, 1, 0, 0, 0, 3000} {
			f.Int(&n)
		}
	}))

	if err := Migrate(store, 0); err != nil {
		t.Fatal(err)
	}
	f = New(testOptions(), store)
	if err := checkStore(f, store); err != nil {
		t.Fatal(err)
	}
	last := map[string]int{}
	found := 0
	if err := f.Queued("a.example", func(at Place, q *weftpb.Request) bool {
		var host, i int
		if n, _ := fmt.Sscanf(q.Target.Url, "https://h%d.a.example/%d", &host, &i); n < 2 {
			if !at.Again || at.ReadyAt.UnixMilli() != 5000 || q.Attempt != 1 {
				t.Errorf("%v waits at %+v", q, at)
			}
			return true
		}
		if i < last[at.Origin] {
			t.Errorf("%s comes after %d", q.Target.Url, last[at.Origin])
		}
		last[at.Origin] = i
		found++
		return true
	}); err != nil || found != len(want) {
		t.Errorf("%d URLs wait, %d waited (%v)", found, len(want), err)
	}
	s, err := f.DomainState("a.example")
	if err != nil || s.State != Out || s.Retries != 1 || s.NextAt.UnixMilli() != 2000 || len(s.Visits) != 1 {
		t.Errorf("the domain is %+v (%v)", s, err)
	}
	if g, err := f.Gauges(); err != nil || g.Queued != queued || g.Out != 1 || g.Down != int64(len(want)/3+1) {
		t.Errorf("gauges %v (%v)", g, err)
	}
	before := store.Clone()
	if err := Migrate(store, 0); err != nil {
		t.Error(err)
	}
	if key, equal := store.Equal(before); !equal {
		t.Errorf("once more changed %q", key)
	}
}
