package httpclient

import (
	"bufio"
	"bytes"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestHeaderBlock(t *testing.T) {
	for _, tc := range []struct {
		name, in string
		want     []Header
	}{
		{"plain", "HTTP/1.1 200 OK\r\nB: 1\r\nA: 2\r\n\r\nbody\r\n\r\n", []Header{{"B", "1"}, {"A", "2"}}},
		{"bare line feeds", "HTTP/1.1 200 OK\nB: 1\n\nbody", []Header{{"B", "1"}}},
		{"none", "HTTP/1.1 200 OK\r\n\r\n", []Header{}},
		{"no reason", "HTTP/1.1 204\r\nA: 1\r\n\r\n", []Header{{"A", "1"}}},
		{"interim", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 x\r\nLink: a\r\n\r\nHTTP/1.1 200 OK\r\nA: 1\r\n\r\nx", []Header{{"A", "1"}}},
		{"latin-1", "HTTP/1.1 200 OK\r\nA: \xe4\xf6\r\n\r\n", []Header{{"A", "äö"}}},
		{"folded", "HTTP/1.1 200 OK\r\nA: 1,\r\n\t2\r\n\r\n", []Header{{"A", "1, 2"}}},
		{"folded, and others", "HTTP/1.1 200 OK\r\nA: 1\r\n 2\r\n \r\n\t 3 \r\nB:\r\n 4\r\nC: 5\r\n\r\n", []Header{{"A", "1 2  3"}, {"B", "4"}, {"C", "5"}}},
		{"fold before the first field", "HTTP/1.1 200 OK\r\n x\r\n y\r\nA: 1\r\n\r\n", []Header{{"A", "1"}}},
		{"empty value", "HTTP/1.1 200 OK\r\nA:\r\nB: \t\r\n\r\n", []Header{{"A", ""}, {"B", ""}}},
		{"incomplete", "HTTP/1.1 200 OK\r\nA: 1\r\n", nil},
		{"too long", "HTTP/1.1 200 OK\r\nA: " + strings.Repeat("x", 2000) + "\r\n\r\n", nil},
	} {
		// However the bytes arrive, the answer is the same.
		for size := 1; size <= len(tc.in); size++ {
			h := headerBlock{limit: 1000}
			for chunk := range slices.Chunk([]byte(tc.in), size) {
				if h.feed(chunk) {
					break
				}
			}
			got, err := h.headers()
			if diff := cmp.Diff(tc.want, got); diff != "" || err != nil {
				t.Fatalf("%s, in chunks of %d: %v\n%s", tc.name, size, err, diff)
			}
		}
	}
}

// Only whole fields of the header are mended, and what is kept has them as they came.
func TestMend(t *testing.T) {
	const body = "Transfer-Encoding: identity\r\n\"a\": b\r\n"
	for _, tc := range []struct{ in, want string }{
		{"Transfer-Encoding: identity\r\nA: 1\r\ntransfer-encoding:Identity \n", "Xransfer-Encoding: identity\r\nA: 1\r\nXransfer-encoding:Identity \n"},
		{"Transfer-Encoding: chunked\r\nA: 1\r\ntransfer-encoding: Chunked\r\n", "Transfer-Encoding: chunked\r\nA: 1\r\nXransfer-encoding: Chunked\r\n"},
		{"Content-Length: 56, 56\r\ncontent-length:7,7 ,7\n", "Content-Length: 56    \r\ncontent-length:7     \n"},
		{"Content-Length: 56, 5\r\nContent-Length: 5, \r\nContent-Length:,\r\nContent-Length: 5\r\nA: 5, 5\r\n", ""},
		{"A: Transfer-Encoding: identity\r\n Transfer-Encoding: identity\r\n", ""},
		{"Transfer-Encoding: identity, chunked\r\nTransfer-Encoding:\r\n chunked\r\n", ""},
		{"\"Server\": a\r\nSer\xe4ver: \"b\"\r\nA(B)@/<x>: c:/\r\n", "_Server_: a\r\nSer_ver: \"b\"\r\nA_B____x_: c:/\r\n"},
		{"A B : 1\r\nC\tD: 2\r\nE\x00: 3\r\n \"F\": 4\r\n\t\"G\": 5\r\nno (colon)\r\n: 6\r\n", ""},
	} {
		const status = "HTTP/1.1 200 (fine): \"yes\"\r\n"
		head := "HTTP/1.1 103 (wait): x\r\n" + tc.in + "\r\n" + status
		in := []byte(head + tc.in + "\r\n" + body)
		want := string(in)
		if tc.want != "" {
			want = strings.ReplaceAll(head+tc.in, tc.in, tc.want) + "\r\n" + body
		}
		h := headerBlock{limit: 1000}
		if !h.feed(in) || string(in) != want {
			t.Errorf("net/http gets %q, want %q", in, want)
		}
		if string(h.text) != status+tc.in+"\r\n" {
			t.Errorf("kept is %q", h.text)
		}
	}
	// A line that is read in parts stays as it is, and so does the rest of it.
	h := headerBlock{limit: 1000}
	for _, part := range []string{"HTTP/1.1 2", "00 (fine): yes\r\nTransfer-Enc", "oding: identity\r\nTransfer-Encoding: identity", ", chunked\r\nA: b", "(c): d\r\n"} {
		in := []byte(part)
		if h.feed(in); string(in) != part {
			t.Errorf("part %q became %q", part, in)
		}
	}
}

// blockOf is a header of lines, read whole.
func blockOf(lines string) *headerBlock {
	h := &headerBlock{limit: 1 << 20}
	h.feed([]byte("HTTP/1.1 200 OK\r\n" + lines + "\r\n"))
	return h
}

func TestHeaderLinesAreBounded(t *testing.T) {
	for _, tc := range []struct {
		name, lines string
		fields      int
		err         error
	}{
		{"fields", strings.Repeat("A: 1\r\n", maxHeaderFields), maxHeaderFields, nil},
		{"a field more", strings.Repeat("A: 1\r\n", maxHeaderFields+1), 0, errTooManyFields},
		{"folded", "A: 1\r\n" + strings.Repeat(" b\r\n", maxHeaderFields-1), 1, nil},
		{"a folded line more", "A: 1\r\n" + strings.Repeat(" b\r\n", maxHeaderFields), 0, errTooManyFields},
		{"fields and folded lines", strings.Repeat("A: 1\n b\n", maxHeaderFields/2+1), 0, errTooManyFields},
	} {
		list, err := blockOf(tc.lines).headers()
		if len(list) != tc.fields || !errors.Is(err, tc.err) {
			t.Errorf("%s: %d fields, error %v", tc.name, len(list), err)
		}
	}
}

// A folded line costs no copy of those before it.
func TestFoldedLinesCostTheirBytes(t *testing.T) {
	h := blockOf("A: 1\r\n" + strings.Repeat(" "+strings.Repeat("b", 50)+"\r\n", maxHeaderFields-1))
	allocs := testing.AllocsPerRun(10, func() {
		if list, err := h.headers(); err != nil || len(list) != 1 {
			t.Fatal(len(list), err)
		}
	})
	if allocs > 50 {
		t.Errorf("%v allocations for one field of %d lines", allocs, maxHeaderFields)
	}
}

// The fields are those that net/http reads.
func TestHeaderBlockAgrees(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		if rapid.Bool().Draw(t, "interim") {
			b.WriteString("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n")
		}
		b.WriteString("HTTP/1.1 200 OK\r\n")
		for range rapid.IntRange(0, 10).Draw(t, "fields") {
			b.WriteString(rapid.StringMatching(`[A-Za-z][A-Za-z0-9-]{0,8}`).Draw(t, "name"))
			b.WriteString(":" + rapid.StringMatching(`[ \t]?[ -~]{0,20}`).Draw(t, "value"))
			for range rapid.IntRange(0, 3).Draw(t, "folds") {
				b.WriteString(rapid.StringMatching(`\r?\n[ \t]{1,3}[ -~]{0,5}`).Draw(t, "fold"))
			}
			b.WriteString(rapid.SampledFrom([]string{"\r\n", "\n"}).Draw(t, "end"))
		}
		b.WriteString("\r\nbody: not a header\r\n\r\n")
		text := b.String()

		h := headerBlock{limit: 10_000}
		for chunk := range slices.Chunk([]byte(text), rapid.IntRange(1, len(text)).Draw(t, "chunk")) {
			if h.feed(chunk) {
				break
			}
		}
		got := http.Header{}
		list, err := h.headers()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range list {
			got.Add(f.Name, f.Value)
		}
		_, final, _ := strings.Cut(text, "HTTP/1.1 200 OK\r\n")
		resp, err := http.ReadResponse(bufio.NewReader(strings.NewReader("HTTP/1.1 200 OK\r\n"+final)), nil)
		if err != nil {
			t.Skip("not a response: ", err)
		}
		resp.Body.Close()
		want := resp.Header
		for _, moved := range []string{"Transfer-Encoding", "Trailer", "Content-Length"} {
			got.Del(moved)
			want.Del(moved)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%q:\n%s", text, diff)
		}
	})
}

func FuzzHeaderBlock(f *testing.F) {
	f.Add([]byte("HTTP/1.1 100 x\r\n\r\nHTTP/1.1 200 OK\r\nA: 1\r\n b\r\n\r\nx"), 3)
	f.Add([]byte("HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n\r\n"), 60)
	f.Fuzz(func(t *testing.T, data []byte, size int) {
		if size <= 0 {
			size = 1
		}
		whole, parts := headerBlock{limit: 200}, headerBlock{limit: 200}
		whole.feed(bytes.Clone(data))
		for chunk := range slices.Chunk(bytes.Clone(data), size) {
			if parts.feed(chunk) {
				break
			}
		}
		want, _ := whole.headers()
		got, _ := parts.headers()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("chunks of %d:\n%s", size, diff)
		}
		if len(whole.text) > 200 {
			t.Fatalf("%d bytes kept", len(whole.text))
		}
	})
}

// What was read from the wire is read from an archive, too.
func TestRestoreMends(t *testing.T) {
	head := "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\"X-Y\": a\r\nContent-Length: 4\r\n\r\n"
	in := []byte(head)
	x := NewRestorer(DefaultOptions()).Restore(t.Context(), Request{URL: "http://a.example/"}, in, []byte("text"))
	if want(t, x, ClassNone); string(x.Body) != "text" || x.Headers[1].Name != `"X-Y"` || string(in) != head {
		t.Errorf("body %q, headers %q of %q", x.Body, x.Headers, in)
	}
}
