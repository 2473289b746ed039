package fetch

import (
	"bytes"
	"context"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/processors/fetch/hostqueue"
	"github.com/weftcrawl/weft/processors/fetch/httpclient"
	"github.com/weftcrawl/weft/processors/fetch/lease"
	"github.com/weftcrawl/weft/test/stagetest"
)

// server answers with a body.
type server struct {
	known
	body   []byte
	coded  []byte
	before func()
}

func (s server) Do(_ context.Context, r httpclient.Request) *httpclient.Exchange {
	if s.before != nil {
		s.before()
	}
	return &httpclient.Exchange{URL: r.URL, Status: 200, Body: s.body, CodedBody: s.coded}
}

func TestFetchStoresLargeBodies(t *testing.T) {
	b := stagetest.NewWorkbench(t)
	_, bucket := b.WithBodies()
	b.Definition.BodyThreshold = 1000
	v := &hostqueue.Visit{Visit: &weftpb.Visit{Id: "v", Requests: []*weftpb.Request{{Target: &weftpb.Target{Url: "http://k.example/p"}}}}, Domain: "k.example"}
	requesterOf := func(s server) *requester {
		right := lease.New(time.Hour, lease.BootTime)
		right.Extend(0)
		return &requester{env: b.Env, http: s, lease: right}
	}
	for n, stored := range map[int]bool{0: false, 1000: false, 1001: true} {
		q := requesterOf(server{body: bytes.Repeat([]byte("x"), n), coded: []byte("coded")})
		r := q.page(flight{within: t.Context(), visit: v})
		outcome, out := r.outcome, r.records[0]
		var f weftpb.Fetched
		if err := proto.Unmarshal(out.Value, &f); err != nil {
			t.Fatal(err)
		}
		if (f.Stored != nil) != stored || (len(f.Body) == n) == (stored) || outcome.BodyBytes != int64(n) {
			t.Errorf("%d bytes: %d in the record, stored as %v, said to be %d", n, len(f.Body), f.Stored, outcome.BodyBytes)
		}
		whole, err := b.Bodies.Load(t.Context(), out.Value)
		if err != nil {
			t.Fatal(err)
		}
		if proto.Unmarshal(whole, &f) != nil || len(f.Body) != n {
			t.Errorf("%d bytes are claimed as %d", n, len(f.Body))
		}
		if whole, err = b.Bodies.LoadCoded(t.Context(), out.Value); err != nil || proto.Unmarshal(whole, &f) != nil || string(f.CodedBody) != "coded" {
			t.Errorf("%d bytes: the coded body is claimed as %q, %v", n, f.CodedBody, err)
		}
	}

	large := server{body: make([]byte, 5000)}
	q := requesterOf(large)
	q.http = server{body: large.body, before: q.lease.Revoke}
	if r := q.page(flight{within: t.Context(), visit: v}); !r.undone() {
		t.Errorf("without a lease: %+v", r)
	}

	bucket.Down.Store(true)
	ctx, cancel := context.WithCancelCause(t.Context())
	done := make(chan result)
	go func() { done <- requesterOf(large).page(flight{within: ctx, visit: v}) }()
	b.Until(b.Bodies.Waiting, "no exchange waits for the store")
	cancel(httpclient.ErrLeaseLost)
	if r := <-done; !r.undone() {
		t.Errorf("after the wait was cancelled: %+v", r)
	}
}

// undone tells that a request is to be made again, and that it brought nothing.
func (r result) undone() bool {
	return r.outcome.Skipped && r.answer.Stop && len(r.records) == 0 && len(r.exchanges) == 0 && !r.page
}
