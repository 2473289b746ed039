package httpclient

import (
	"net/http"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/internal/urls"
)

func TestRedirectTarget(t *testing.T) {
	const base = "https://example.com/dir/page?q=1"
	long := strings.Repeat("x", 2*urls.MaxBytes)
	for _, tc := range []struct {
		status         int
		location, want string
	}{
		{301, "https://other.example/x", "https://other.example/x"},
		{302, "/x", "https://example.com/x"},
		{303, "x", "https://example.com/dir/x"},
		{307, "../x?y#z", "https://example.com/x?y#z"},
		{308, "//other.example/x", "https://other.example/x"},
		{302, "?r", "https://example.com/dir/page?r"},
		{302, " /x ", "https://example.com/x"},
		{302, "/é", "https://example.com/%C3%A9"},
		{302, "/\xe9", "https://example.com/%E9"},
		{302, "/100%", "https://example.com/100%"},
		{302, "http://ẞ/", "http://xn--zca/"},
		{302, "http://Ⴀ.example/", "http://xn--rkj.example/"},
		{302, "http://xn--ls8h=/", "http://xn--ls8h=/"},
		{302, "http:x", "http://x/"},
		{302, "//a:b@other.example:443/%7Ex", "https://other.example/~x"},
		{302, "#!é\xe9 #", "https://example.com/dir/page?q=1#!%C3%A9%E9 #"},
		{302, "/" + long, "/" + long},
		{302, "/#" + long, "https://example.com/#" + long},
		{302, "mailto:a@b.example", "mailto:a@b.example"},
		{302, "", ""},
		{302, "http://", ""},
		{302, "http://[", ""},
		{200, "/x", ""},
		{201, "/x", ""},
		{300, "/x", ""},
		{304, "/x", ""},
		{404, "/x", ""},
	} {
		resp := &http.Response{StatusCode: tc.status, Header: http.Header{"Location": {tc.location}}}
		if got := redirectTarget(resp, base); got != tc.want {
			t.Errorf("%d %q: %q, want %q", tc.status, tc.location, got, tc.want)
		}
	}
}

// What is asked for is what the URL says, byte for byte.
func FuzzTarget(f *testing.F) {
	for _, url := range []string{"http://a/", "https://a:1/b?c#d", "http://[::1]//x?y", "http://a//%zz", "http://a?b"} {
		f.Add(url)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		u, err := target(raw)
		if err != nil {
			if Classify(err) != ClassInvalidURL {
				t.Fatalf("class %q", Classify(err))
			}
			return
		}
		_, rest, _ := strings.Cut(raw, "://")
		rest, _, _ = strings.Cut(rest, "#")
		want := strings.TrimPrefix(rest, u.Host)
		if !strings.HasPrefix(want, "/") {
			want = "/" + want
		}
		uri := u.RequestURI()
		if got, _ := originForm([]byte("GET " + uri)); string(got) != "GET "+want || strings.ContainsAny(want, " \r\n\t") {
			t.Fatalf("%q: request %q, want target %q", raw, got, want)
		}
		if got := strings.TrimPrefix(uri, u.Scheme+"://"+u.Host); got != want { // as the transport does for HTTP/2
			t.Fatalf("%q: path %q, want %q", raw, got, want)
		}
		if strings.ContainsAny(u.Host, "/?#@ \r\n") || u.Host == "" {
			t.Fatalf("%q: host %q", raw, u.Host)
		}
	})
}
