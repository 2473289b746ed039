package kept

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"go.uber.org/goleak"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/processors/archive/warc"
	"github.com/weftcrawl/weft/test/archived"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const day = 24 * time.Hour

var began = archived.Began

func TestFind(t *testing.T) {
	b := archived.Folder(t)
	if x, err := Find(t.Context(), b, "http://a.example/", began); !errors.Is(err, ErrEmpty) {
		t.Errorf("in a folder without an archive: %+v, %v", x, err)
	}
	url := func(n int) string { return fmt.Sprintf("http://a.example/%04d", n) }
	var many []*weftpb.Fetched // an index that is searched in several steps
	for n := range 1500 {
		many = append(many, archived.Exchange(url(n), fmt.Sprint("page ", n), began))
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, err := w.Write([]byte("as it was coded"))
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	coded := archived.Exchange("http://a.example/coded", "", began)
	coded.CodedBody, coded.ResponseHead = packed.Bytes(), []byte("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n")
	unchanged := archived.Exchange(url(3), "", began.Add(9*day))
	unchanged.Outcome.Status, unchanged.ResponseHead = 304, []byte("HTTP/1.1 304 Not Modified\r\n\r\n")
	archived.Put(t, b, warc.Gzip, "c-1", nil, append(many, coded, archived.Exchange("http://a.example/copy", "page 7", began))...)
	archived.Put(t, b, warc.Zstd, "c-2", nil, archived.Exchange(url(3), "later", began.Add(2*day)), archived.Exchange("http://www.a.example/www", "w", began), unchanged)

	for _, c := range []struct {
		url  string
		at   time.Time
		want string
	}{
		{url(0), began, "page 0"}, {url(777), began, "page 777"}, {url(1499), began, "page 1499"},
		{url(3), began, "page 3"}, {url(3), began.Add(99 * day), "later"}, {url(3), began.Add(day - time.Minute), "page 3"},
		{url(3), began.Add(day + time.Minute), "later"},
		{"http://a.example/copy", began, "page 7"}, {"http://a.example/coded", began, "as it was coded"},
		{"https://a.example/www", began, "w"},
	} {
		x, err := Find(t.Context(), b, c.url, c.at)
		if err != nil {
			t.Errorf("%s: %v", c.url, err)
			continue
		}
		if body, err := x.Body(t.Context()); err != nil || string(body) != c.want || x.Status != 200 || !strings.HasPrefix(string(x.Head), "HTTP/1.1 200 OK\r\n") {
			t.Errorf("%s at %v: %q, %v, %+v", c.url, c.at, body, err, x)
		}
	}
	for _, none := range []string{"http://a.example/07", "http://a.example/zzz", "http://0.example/", "http://b.example/0001"} {
		if x, err := Find(t.Context(), b, none, began); !errors.Is(err, ErrNone) {
			t.Errorf("%s: %+v, %v", none, x, err)
		}
	}
}

// An index is there shortly before its file, and may be of a draft that does not become the file. Until
// the file is there, the earlier response is found.
func TestFindWithoutTheFile(t *testing.T) {
	b := archived.Folder(t)
	const url = "http://a.example/"
	archived.Put(t, b, warc.Gzip, "c-1", nil, archived.Exchange(url, "former", began))
	archived.Put(t, b, warc.Gzip, "c-2", nil, archived.Exchange(url, "new", began.Add(day)))
	finds := func(want string) {
		t.Helper()
		x, err := Find(t.Context(), b, url, began.Add(9*day))
		if err != nil || string(x.Payload) != want {
			t.Errorf("%q, %v, want %q", x.Payload, err, want)
		}
	}
	finds("new")
	if err := b.Delete(t.Context(), "c-2"+warc.Gzip.Extension()); err != nil {
		t.Fatal(err)
	}
	finds("former")
}

// The newest response is not taken if its body was not kept and an older one has its body, unless a time
// is given. A response that had no body is taken.
func TestFindPassesOverWhatHasNoBody(t *testing.T) {
	check := archived.Exchange("", "", began.Add(day)) // its body was too large
	check.ResponseHead = []byte("HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n")
	unread := archived.Exchange("", "", began.Add(day))
	unread.Outcome.ErrorClass = "body_truncated"
	empty := archived.Exchange("", "", began.Add(day))
	cut := archived.Exchange("", "beg", began.Add(day))
	cut.Outcome.ErrorClass = "body_truncated"
	for name, c := range map[string]struct {
		newest *weftpb.Fetched
		aside  bool
		want   string
	}{
		"a check": {check, true, "whole"}, "not read": {unread, false, "whole"}, "empty": {empty, false, ""}, "an empty robots.txt": {empty, true, ""},
		"its beginning is there": {cut, false, "beg"},
	} {
		b := archived.Folder(t)
		url := "http://a.example/"
		c.newest.Request.Target.Url = url
		newest := c.newest
		if c.aside {
			newest = &weftpb.Fetched{Robots: c.newest}
		}
		archived.Put(t, b, warc.Gzip, "c-1", nil, newest)
		if x, err := Find(t.Context(), b, url, time.Time{}); err != nil || string(x.Payload) == "whole" {
			t.Errorf("%s: there is no other: %q, %v", name, x.Payload, err)
		}
		archived.Put(t, b, warc.Gzip, "c-2", nil, archived.Exchange(url, "older", began.Add(-day)), archived.Exchange(url, "whole", began))
		for at, want := range map[time.Time]string{{}: c.want, began.Add(9 * day): string(c.newest.Body), began: "whole"} {
			if x, err := Find(t.Context(), b, url, at); err != nil || string(x.Payload) != want {
				t.Errorf("%s at %v: %q, %v, want %q", name, at, x.Payload, err, want)
			}
		}
	}
}

// An archive that an earlier version began has other keys in some indexes, and in its merged index. Its
// pages are found, and so are those that are merged with them.
func TestFindByFormerKeys(t *testing.T) {
	b := archived.Folder(t)
	const url = "http://a.example/x//100%25?next=%2Fa"
	const former, now = "example,a)/x//100%25?next=%2fa ", "example,a)/x/100%25?next=/a "
	archived.Put(t, b, warc.Gzip, "c-1", nil, archived.Exchange(url, "former", began), archived.Exchange("http://a.example/copy", "former", began))
	index := "c-1.000000000000002.cdxj"
	lines := strings.SplitAfter(strings.Replace(get(t, b, index), now, former, 1), "\n")
	slices.Sort(lines)
	archived.PutText(t, b, index, strings.Join(lines, ""))
	finds := func(url, want string) {
		t.Helper()
		if x, err := Find(t.Context(), b, url, began.Add(9*day)); err != nil || string(x.Payload) != want {
			t.Errorf("%s: %q, %v, want %q", url, x.Payload, err, want)
		}
	}
	finds(url, "former")
	finds("http://a.example/copy", "former")
	if _, _, lines := mergedLines(t, b); !strings.HasPrefix(lines[1], former) {
		t.Fatalf("%q", lines)
	}
	finds(url, "former")
	finds("http://a.example/copy", "former")

	archived.Put(t, b, warc.Gzip, "c-2", nil, archived.Exchange(url, "new", began.Add(day)))
	finds(url, "new")
	if _, _, lines := mergedLines(t, b); !slices.IsSorted(lines) || !strings.HasPrefix(lines[1], former) || !strings.HasPrefix(lines[2], now) {
		t.Fatalf("%q", lines)
	}
	finds(url, "new")
	if x, err := Find(t.Context(), b, url, began); err != nil || string(x.Payload) != "former" {
		t.Errorf("%q, %v", x.Payload, err)
	}
}
