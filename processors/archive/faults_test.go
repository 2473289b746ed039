package archive

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weftcrawl/weft/test/s3server"
	"github.com/weftcrawl/weft/test/stagetest"
)

// fault is what a server does instead of its work: an answer, or a wait before it works.
type fault struct {
	status int
	code   string
	wait   time.Duration
}

// faultyServer stands in front of an S3 server.
type faultyServer struct {
	fault atomic.Pointer[fault]
	hits  atomic.Int64 // requests that met the fault
}

// inFrontOf returns the location of the same bucket behind s.
func (s *faultyServer) inFrontOf(t *testing.T, location string) string {
	bucket, endpoint, _ := strings.Cut(location, "endpoint=")
	target, err := url.Parse(endpoint)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Host = r.In.Host // which is signed
	}}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if f := s.fault.Load(); f != nil {
			s.hits.Add(1)
			time.Sleep(f.wait)
			if f.status != 0 {
				w.Header().Set("Content-Type", "application/xml")
				w.WriteHeader(f.status)
				fmt.Fprintf(w, "<Error><Code>%s</Code><Message>it does not work</Message></Error>", f.code)
				return
			}
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	return bucket + "endpoint=" + front.URL
}

// A bucket that fails, is full, or does not accept the credentials any more loses nothing: nothing
// is committed meanwhile, and then everything is there once. A slow one only takes longer.
func TestBucketFaults(t *testing.T) {
	for name, f := range map[string]fault{
		"failing": {status: http.StatusServiceUnavailable, code: "SlowDown"},
		"full":    {status: http.StatusInsufficientStorage, code: "InsufficientStorage"},
		"expired": {status: http.StatusBadRequest, code: "ExpiredToken"},
		"slow":    {wait: 50 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			var server faultyServer
			b := newBench(t, server.inFrontOf(t, s3server.Gateway(t, "archive")))
			b.fill(0, 3)
			server.fault.Store(&f)
			o := b.options(b.bucket)
			o.Settle = closed()
			stop := stagetest.During(t, func(ctx context.Context) error { return Run(ctx, b.Env, o) })
			for began := time.Now(); server.hits.Load() < 3; time.Sleep(5 * time.Millisecond) {
				if time.Since(began) > stagetest.Bound {
					t.Fatal("the bucket is not asked again")
				}
			}
			if at := b.committed(); f.status != 0 && at > 0 {
				t.Errorf("%d committed", at)
			}
			b.fill(3, 6)
			if f.status != 0 {
				server.fault.Store(nil)
			}
			for began := time.Now(); b.committed() < 6; time.Sleep(5 * time.Millisecond) {
				if time.Since(began) > stagetest.Bound {
					t.Fatalf("committed %d; %s", b.committed(), b.Log)
				}
			}
			if err := stop(); err != nil {
				t.Error(err)
			}
			if says := b.Log.String(); f.status != 0 && (!strings.Contains(says, "the archive cannot be written") || !strings.Contains(says, f.code)) {
				t.Errorf("the log says:\n%s", says)
			}
			b.whole(6)
		})
	}
}
