package replay

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/inspect/kept"
	"github.com/weftcrawl/weft/internal/blob"
	"github.com/weftcrawl/weft/processors/archive/warc"
	"github.com/weftcrawl/weft/processors/fetch/httpclient"
	"github.com/weftcrawl/weft/test/archived"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// answered is an exchange with a status, at a number of minutes.
func answered(url string, status int, body string, minute int) *weftpb.Fetched {
	x := archived.Exchange(url, body, archived.Began.Add(time.Duration(minute)*time.Minute))
	x.Outcome.Status = uint32(status)
	x.ResponseHead = fmt.Appendf(nil, "HTTP/1.1 %d %s\r\nContent-Type: text/html\r\n\r\n", status, http.StatusText(status))
	return x
}

// with changes an exchange.
func with(x *weftpb.Fetched, change func(*weftpb.Fetched)) *weftpb.Fetched {
	change(x)
	return x
}

func replayed(t *testing.T, b blob.Bucket, o httpclient.Options) *Exchanges {
	t.Helper()
	e, err := Open(t.Context(), b, o)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestDo(t *testing.T) {
	const site = "http://a.example"
	b := archived.Folder(t)
	check := func(x *weftpb.Fetched) *weftpb.Fetched { return &weftpb.Fetched{Robots: x} }
	failedWith := func(class httpclient.Class) func(*weftpb.Fetched) {
		return func(x *weftpb.Fetched) { x.Outcome.ErrorClass = string(class) }
	}
	archived.Put(t, b, warc.Gzip, "c-00000-1", nil,
		answered(site+"/", 200, "home", 0),
		answered(site+"/copy", 200, "home", 1),
		answered(site+"/twice", 200, "old", 0),
		answered(site+"/busy", 503, "wait", 0),
		answered(site+"/busy", 200, "at last", 1),
		answered(site+"/lost", 200, "it was there", 1),
		answered(site+"/broken", 503, "oops", 1),
		answered(site+"/gone", 404, "no", 1),
		with(answered(site+"/moved", 301, "", 1), func(x *weftpb.Fetched) {
			x.ResponseHead = []byte("HTTP/1.1 301 Moved\r\nLocation: /gone\r\n\r\n")
		}),
		with(answered(site+"/cut", 200, "half", 1), failedWith(httpclient.ClassBodyTruncated)),
		with(answered(site+"/odd", 200, "", 1), failedWith(httpclient.ClassBadEncoding)),
		check(answered(site+"/robots.txt", 200, "User-agent: *\nDisallow: /no", 1)),
		check(answered(site+"/checked", 200, "of the check", 1)),
		with(answered(site+"/long", 200, strings.Repeat("long ", 400), 1), func(x *weftpb.Fetched) { x.Outcome.Truncated = true }),
		with(answered(site+"/image", 200, "png", 1), func(x *weftpb.Fetched) {
			x.ResponseHead = []byte("HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n")
		}),
	)
	archived.Put(t, b, warc.Zstd, "c-00000-2", nil,
		answered("https://a.example/secure", 200, "of https", 5),
		answered("https://www.a.example/www", 200, "of www", 5),
		answered("https://a.example/led", 301, "", 5), // to the URL that is asked for, perhaps
		answered(site+"/twice", 200, "new", 5),
		answered(site+"/lost", 503, "busy", 9),
		answered(site+"/busy", 304, "", 9),
		answered(site+"/same", 304, "", 9),
		check(answered(site+"/checked", 200, "by a later check", 9)),
		answered(site+"/checked", 200, "page", 7),
	)
	options := httpclient.DefaultOptions()
	options.MaxBodyBytes = 1000
	e := replayed(t, b, options)
	for _, c := range []struct {
		path, body string
		kind       httpclient.Kind
		status     int
		class      httpclient.Class
		location   string
		truncated  bool
	}{
		{path: "/", status: 200, body: "home"},
		{path: "/copy", status: 200, body: "home"},
		{path: "/twice", status: 200, body: "new"},
		{path: "/busy", status: 200, body: "at last"},
		{path: "/lost", status: 200, body: "it was there"},
		{path: "/broken", status: 503, class: httpclient.ClassArchivedFailure, body: "oops"},
		{path: "/gone", status: 404, body: "no"},
		{path: "/moved", status: 301, location: site + "/gone"},
		{path: "/cut", status: 200, class: httpclient.ClassArchivedFailure, body: "half"},
		{path: "/odd", status: 200, class: httpclient.ClassBadEncoding},
		{path: "/same", status: 304},
		{path: "/checked", status: 200, body: "page"},
		{path: "/robots.txt", kind: httpclient.KindRobots, status: 200, body: "User-agent: *\nDisallow: /no"},
		{path: "/long", status: 200, body: strings.Repeat("long ", 200), truncated: true},
		{path: "/image", status: 200, class: httpclient.ClassUnwantedType},
		{path: "/secure", status: 200, body: "of https"},
		{path: "/www", status: 200, body: "of www"},
		{path: "/led", class: httpclient.ClassNotArchived},
		{path: "/never", class: httpclient.ClassNotArchived},
		{path: "/Twice", class: httpclient.ClassNotArchived}, // indexes have it under the same key
	} {
		x := e.Do(t.Context(), httpclient.Request{URL: site + c.path, Kind: c.kind})
		if x.Status != c.status || x.Class != c.class || string(x.Body) != c.body || x.Location != c.location || x.Truncated != c.truncated || (x.Error == "") != (c.class == "") {
			t.Errorf("%s: %d %q %q %q, truncated %v: %s", c.path, x.Status, x.Class, x.Body, x.Location, x.Truncated, x.Error)
		}
		if made := x.Recorded.IsZero(); made != (c.class == httpclient.ClassNotArchived) || x.Started.Before(archived.Began) || x.Recorded.After(archived.Began.Add(time.Hour)) {
			t.Errorf("%s: recorded %v, started %v", c.path, x.Recorded, x.Started)
		}
		x.Release()
	}
	if e.Len() != 24 {
		t.Errorf("%d responses", e.Len())
	}
	if address, failure := e.LookUp(t.Context(), site); address.IsValid() || failure != nil {
		t.Errorf("looked up: %v, %v", address, failure)
	}
}

// A robots.txt is followed within the archive.
func TestRobots(t *testing.T) {
	b := archived.Folder(t)
	moved := answered("http://a.example/robots.txt", 301, "", 1)
	moved.ResponseHead = []byte("HTTP/1.1 301 Moved\r\nLocation: http://www.a.example/robots.txt\r\n\r\n")
	archived.Put(t, b, warc.Gzip, "c-00000-1", nil, &weftpb.Fetched{Robots: moved},
		&weftpb.Fetched{Robots: answered("http://www.a.example/robots.txt", 200, "User-agent: *", 1)})
	e := replayed(t, b, httpclient.DefaultOptions())
	var hops []string
	list := e.Robots(t.Context(), httpclient.Request{URL: "http://a.example/robots.txt"}, func(next string) (time.Duration, bool) {
		hops = append(hops, next)
		return 0, true
	})
	if !slices.Equal(hops, []string{"http://www.a.example/robots.txt"}) || len(list) != 2 || string(list[1].Body) != "User-agent: *" {
		t.Errorf("%q: %+v", hops, list)
	}
}

// A record that cannot be read is skipped. An archive that cannot be read is our failure, and the URL
// is tried again. A right that has ended is not the archive's answer.
func TestFailures(t *testing.T) {
	const url = "http://a.example/"
	b := archived.Folder(t)
	if _, err := Open(t.Context(), b, httpclient.DefaultOptions()); !errors.Is(err, kept.ErrEmpty) {
		t.Errorf("an empty archive: %v", err)
	}
	if err := Check(t.Context(), b); !errors.Is(err, kept.ErrEmpty) {
		t.Errorf("the check of an empty archive: %v", err)
	}
	archived.Put(t, b, warc.Gzip, "c-00000-1", nil, answered(url, 200, "old", 0))
	archived.Put(t, b, warc.Gzip, "c-00000-2", nil, answered(url, 200, "new", 9))
	if err := Check(t.Context(), b); err != nil {
		t.Error(err)
	}
	e := replayed(t, b, httpclient.DefaultOptions())
	do := func(ctx context.Context, permit func() bool) *httpclient.Exchange {
		return e.Do(ctx, httpclient.Request{URL: url, Permit: permit})
	}
	archived.PutText(t, b, "c-00000-2.warc.gz", strings.Repeat("damaged", 500))
	if x := do(t.Context(), nil); string(x.Body) != "old" {
		t.Errorf("one of two is damaged: %+v", x)
	}
	archived.PutText(t, b, "c-00000-1.warc.gz", "")
	if x := do(t.Context(), nil); x.Class != httpclient.ClassNotArchived || !strings.Contains(x.Error, "that can be read") {
		t.Errorf("both are damaged: %+v", x)
	}
	if err := b.Delete(t.Context(), "c-00000-1.warc.gz"); err != nil {
		t.Fatal(err)
	}
	if x := do(t.Context(), nil); x.Class != httpclient.ClassLocalError {
		t.Errorf("the file is not there: %+v", x)
	}
	if x := do(t.Context(), func() bool { return false }); x.Class != httpclient.ClassLeaseLost {
		t.Errorf("without permit: %+v", x)
	}
	ended, end := context.WithCancelCause(t.Context())
	end(httpclient.ErrLeaseLost)
	if x := do(ended, nil); x.Class != httpclient.ClassLeaseLost {
		t.Errorf("without lease: %+v", x)
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if x := do(canceled, nil); x.Class != httpclient.ClassCanceled {
		t.Errorf("canceled: %+v", x)
	}
}
