package blob_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/weftcrawl/weft/internal/blob"
	"github.com/weftcrawl/weft/test/s3server"
)

// If two clients put a new object at the same time, S3 answers 409 to one of them, and the other one may
// still fail. So the first one tries again.
func TestPutNewConflicts(t *testing.T) {
	small, large := "small", strings.Repeat("large", 4<<20) // in parts
	for name, test := range map[string]struct {
		body string
		// conflicts is how many uploads get 409, and appears is what another writer has put then.
		conflicts int32
		appears   string
		once      bool // the body cannot go back
		want      error
		temporary bool
	}{
		"one":                                  {small, 1, "", false, nil, false},
		"one, in parts":                        {large, 1, "", false, nil, false},
		"one, and another writer wins":         {small, 1, "other", false, blob.ErrExists, false},
		"always":                               {small, 1000, "", false, nil, true},
		"a body that is read once":             {small, 1, "", true, nil, true},
		"such a body, and another writer wins": {small, 1, "other", true, blob.ErrExists, false},
	} {
		t.Run(name, func(t *testing.T) {
			there, endpoint, _ := strings.Cut(s3server.Fake(t, "crawls"), "endpoint=")
			direct, err := blob.Open(t.Context(), there+"endpoint="+endpoint)
			if err != nil {
				t.Fatal(err)
			}
			front := conflicting(t, endpoint, test.conflicts, func() {
				if test.appears != "" {
					put(t, direct, "k", test.appears)
				}
			})
			b, err := blob.Open(t.Context(), there+"endpoint="+front)
			if err != nil {
				t.Fatal(err)
			}
			all := strings.NewReader("before" + test.body)
			if _, err := all.Seek(int64(len("before")), io.SeekStart); err != nil {
				t.Fatal(err)
			}
			body := io.Reader(all)
			if test.once {
				body = io.MultiReader(body)
			}
			err = b.PutNew(t.Context(), "k", body, int64(len(test.body)))
			if failed := test.want != nil || test.temporary; (err != nil) != failed || !errors.Is(err, test.want) && test.want != nil || blob.Temporary(err) != test.temporary {
				t.Fatalf("%v, temporary %v", err, blob.Temporary(err))
			}
			var got bytes.Buffer
			if err == nil && (direct.Get(t.Context(), "k", &got) != nil || got.String() != test.body) {
				t.Errorf("%d bytes are there", got.Len())
			}
		})
	}
}

// conflicting is an S3 server that answers some conditional requests with 409, after a call of meanwhile.
func conflicting(t *testing.T, endpoint string, conflicts int32, meanwhile func()) (location string) {
	t.Helper()
	behind, err := url.Parse(endpoint)
	if err != nil {
		t.Fatal(err)
	}
	var left atomic.Int32
	left.Store(conflicts)
	proxy := httputil.NewSingleHostReverseProxy(behind)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("If-None-Match") != "*" || left.Add(-1) < 0 {
			proxy.ServeHTTP(w, r)
			return
		}
		_, _ = io.Copy(io.Discard, r.Body)
		meanwhile()
		w.WriteHeader(http.StatusConflict)
		fmt.Fprint(w, "<Error><Code>ConditionalRequestConflict</Code><Message>try again</Message></Error>")
	}))
	t.Cleanup(front.Close)
	return front.URL
}
