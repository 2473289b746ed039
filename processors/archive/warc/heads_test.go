package warc

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/codecs/weftpb"
)

// TestHeadsAsOnTheWire checks that heads are archived byte for byte, except the fields that are not
// true of a body without its codings.
func TestHeadsAsOnTheWire(t *testing.T) {
	const request = "GET //a|b HTTP/1.1\r\nHost: example.com\r\nX-odd:  a\r\n\r\n"
	for _, test := range []struct{ name, head, body, want string }{
		{"as it came", "HTTP/1.0 200 Fine by me: yes\r\nconTent-LENGTH: 3\r\nx-A:caf\xe9 \t\r\nX-Fold: one\r\n  two\r\n\r\n", "abc", ""},
		{"to the connection's end", "HTTP/1.1 404\r\nX: 1\r\n\r\n", "abc", ""},
		{"lines without CR", "HTTP/1.1 200 OK\nContent-Length:3\n\n", "abc", ""},
		{"coded", "HTTP/1.1 200 OK\r\nContent-encoding: gzip\r\nContent-Length: 7\r\nVary: x\r\n\r\n", "abc",
			"HTTP/1.1 200 OK\r\nX-Weft-Orig-Content-encoding: gzip\r\nX-Weft-Orig-Content-Length: 7\r\nVary: x\r\nContent-Length: 3\r\n\r\n"},
		{"coded, in two lines", "HTTP/1.1 200 OK\r\nContent-Encoding: gzip,\r\n\tbr\r\n\r\n", "abc",
			"HTTP/1.1 200 OK\r\nX-Weft-Orig-Content-Encoding: gzip,\r\n\tbr\r\nContent-Length: 3\r\n\r\n"},
		{"coded, by chance as long", "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\n", "abc",
			"HTTP/1.1 200 OK\r\nX-Weft-Orig-Content-Encoding: gzip\r\nX-Weft-Orig-Content-Length: 3\r\nContent-Length: 3\r\n\r\n"},
		{"not changed", "HTTP/1.1 304 Not Modified\r\nContent-Encoding: gzip\r\nContent-Length: 1234\r\n\r\n", "", ""},
		{"not changed, in chunks", "HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n", "",
			"HTTP/1.1 304 Not Modified\r\nX-Weft-Orig-Transfer-Encoding: chunked\r\n\r\n"},
		{"no content", "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n", "", ""},
		{"in chunks", "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n", "abc",
			"HTTP/1.1 200 OK\nX-Weft-Orig-Transfer-Encoding: chunked\nContent-Length: 3\n\n"},
		{"cut", "HTTP/1.1 200 OK\r\nContent-Length: 30\r\n\r\n", "abc", "HTTP/1.1 200 OK\r\nX-Weft-Orig-Content-Length: 30\r\nContent-Length: 3\r\n\r\n"},
	} {
		if test.want == "" {
			test.want = test.head
		}
		x := exchange(1, test.body)
		x.ResponseHead, x.RequestHead = []byte(test.head), []byte(request)
		if _, err := fmt.Sscanf(test.head, "HTTP/1.%1s %d", new(string), &x.Outcome.Status); err != nil {
			t.Fatal(err)
		}
		file, _ := write(t, Options{}, x)
		got := readAll(t, file)
		if len(got) != 3 || got[1].block != test.want+test.body || got[2].block != request {
			t.Errorf("%s: got %q\nwant %q", test.name, got[1:], test.want+test.body)
		}
		if got := OriginalHead([]byte(test.want)); string(got) != test.head {
			t.Errorf("%s: the head was %q, want %q", test.name, got, test.head)
		}
	}
}

// TestOriginalHead checks that a head can be had back, whatever its fields are.
func TestOriginalHead(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	fields := []string{"Content-Length: 3\r\n", "content-length:3\n", "Content-Length: 4\r\n", "Content-Encoding: gzip\r\n", "TRANSFER-encoding: chunked\r\n", "X: 1\r\n", "X-Fold: a\r\n b\r\n", "odd\r\n"}
	for range 5000 {
		head := "HTTP/1.1 200 OK\r\n"
		for range random.IntN(6) {
			head += fields[random.IntN(len(fields))]
		}
		head += "\r\n"
		stored := storedHead([]byte(head), 3, random.IntN(2) == 0)
		if got := OriginalHead(stored); string(got) != head {
			t.Fatalf("%q is stored as %q and is then %q", head, stored, got)
		}
	}
}

// TestTruncation checks that records say why a body is not there whole.
func TestTruncation(t *testing.T) {
	for class, want := range map[string]string{
		"": "", "body_truncated": "disconnect", "total_timeout": "time", "slow_body": "time", "unwanted_type": "unspecified", "bad_encoding": "unspecified",
	} {
		for _, cut := range []bool{false, true} {
			if cut {
				want = "length"
			}
			x := exchange(1, "abc")
			x.Outcome.ErrorClass, x.Outcome.Truncated = class, cut
			file, index := write(t, Options{}, x)
			r, err := ReadMember(file[index[0].Offset:])
			must(t, err)
			if got := r.Field("WARC-Truncated"); got != want {
				t.Errorf("%q, cut at the limit: %v: %q, want %q", class, cut, got, want)
			}
		}
	}
}

// TestRobotsExchange checks that the exchange of a robots.txt is archived like another.
func TestRobotsExchange(t *testing.T) {
	x := exchange(1, "User-agent: *\n")
	x.Request.Target.Url = "http://example.com/robots.txt"
	file, _ := write(t, Options{}, &weftpb.Fetched{Robots: x}, &weftpb.Fetched{Robots: &weftpb.Fetched{}})
	got := readAll(t, file)
	if len(got) != 3 || got[1].kind != "response" || got[1].url != "http://example.com/robots.txt" || !strings.HasSuffix(got[1].block, "User-agent: *\n") {
		t.Errorf("records %q", got)
	}
}
