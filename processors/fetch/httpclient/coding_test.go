package httpclient

import (
	"bytes"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

// compress applies codings in order: "deflate" is zlib, "raw" raw deflate.
func compress(t testing.TB, coding string, data []byte) []byte {
	t.Helper()
	for name := range strings.SplitSeq(coding, ",") {
		var b bytes.Buffer
		var w io.WriteCloser
		var err error
		switch strings.TrimSpace(name) {
		case "gzip", "x-gzip":
			w = gzip.NewWriter(&b)
		case "deflate":
			w = zlib.NewWriter(&b)
		case "raw":
			w, err = flate.NewWriter(&b, 5)
		case "br":
			quality := brotli.DefaultCompression
			if len(data) > 64<<10 { // under the race detector, a megabyte would take two seconds
				quality = brotli.BestSpeed
			}
			w = brotli.NewWriterLevel(&b, quality)
		case "zstd":
			w, err = zstd.NewWriter(&b, zstd.WithEncoderConcurrency(1))
		default:
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(data); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		data = b.Bytes()
	}
	return data
}

// page is text that compresses about as HTML does.
func page(n int) []byte {
	b := make([]byte, 0, n+100)
	for i := 0; len(b) < n; i++ {
		b = append(b, `<p class="c`...)
		b = strconv.AppendInt(b, int64(i%7), 10)
		b = append(b, `">paragraph `...)
		b = strconv.AppendInt(b, int64(i*2654435761), 16)
		b = append(b, " of the page</p>\n"...)
	}
	return b[:n]
}

// encoded serves bodies with a Content-Encoding, both named by the test.
type encoded struct {
	header []string
	body   []byte
}

func (e *encoded) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header()["Content-Encoding"] = e.header
	w.Header().Set("Content-Type", "text/html")
	_, _ = w.Write(e.body)
}

func TestCodings(t *testing.T) {
	text := page(100_000)
	gz, deflated := compress(t, "gzip", text), compress(t, "deflate", text)
	for _, tc := range []struct {
		name   string
		header []string
		body   []byte
		want   []byte
	}{
		{"gzip", []string{"gzip"}, gz, text},
		{"x-gzip in capitals", []string{"X-GZip"}, gz, text},
		{"gzip with garbage after it", []string{"gzip"}, append(bytes.Clone(gz), "\r\n\r\n"...), text},
		{"gzip of two members", []string{"gzip"}, append(bytes.Clone(gz), gz...), append(bytes.Clone(text), text...)},
		{"gzip without its trailer", []string{"gzip"}, gz[:len(gz)-8], text},
		{"gzip with half of its trailer", []string{"gzip"}, gz[:len(gz)-4], text},
		{"gzip as PHP programs make it of zlib", []string{"gzip"}, append([]byte("\x1f\x8b\x08\x00\x00\x00\x00\x00"), compress(t, "deflate", text)...), text},
		{"gzip with all fields of its header", []string{"gzip"}, append([]byte("\x1f\x8b\x08\x1e\x00\x00\x00\x00\x00\xff\x03\x00abcname\x00comment\x00\x12\x34"), gz[10:]...), text},
		{"gzip in two codings without its trailer", []string{"gzip, br"}, compress(t, "br", gz[:len(gz)-8]), text},
		{"zlib", []string{"deflate"}, compress(t, "deflate", text), text},
		{"raw deflate", []string{"deflate"}, compress(t, "raw", text), text},
		{"zlib without its checksum", []string{"deflate"}, deflated[:len(deflated)-4], text},
		{"zlib with half of its checksum", []string{"deflate"}, deflated[:len(deflated)-2], text},
		{"zlib in two codings without its checksum", []string{"deflate, gzip"}, compress(t, "gzip", deflated[:len(deflated)-4]), text},
		{"zlib with garbage after it", []string{"deflate"}, append(compress(t, "deflate", text), "\r\n\r\n"...), text},
		{"brotli", []string{"br"}, compress(t, "br", text), text},
		{"brotli with garbage after it", []string{"br"}, append(compress(t, "br", text), "\r\n\r\n"...), text},
		{"zstd", []string{"zstd"}, compress(t, "zstd", text), text},
		{"two codings", []string{"gzip, br"}, compress(t, "gzip,br", text), text},
		{"two fields", []string{"br", "zstd"}, compress(t, "br,zstd", text), text},
		{"same coding twice", []string{"gzip, gzip"}, compress(t, "gzip,gzip", text), text},
		{"gzip announced twice, applied once", []string{"gzip, gzip"}, gz, text},
		{"gzip announced, not applied", []string{"gzip"}, text, text},
		{"zstd announced, not applied", []string{"zstd"}, text, text},
		{"identity", []string{"identity"}, text, text},
		{"no such coding", []string{"utf-8"}, text, text},
		{"empty name", []string{" , "}, text, text},
		{"gzip of nothing", []string{"gzip"}, nil, nil},
		{"brotli of nothing", []string{"br"}, nil, nil},
		{"one byte", []string{"gzip"}, []byte("x"), []byte("x")},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newServer(t, (&encoded{tc.header, tc.body}).ServeHTTP)
			c := newClient(t, nil)
			keeping := newClient(t, func(o *Options) { o.KeepCoded = true })
			for range 2 { // the second time with decoders from the pool
				x := get(t, c, s.URL)
				want(t, x, ClassNone)
				if !bytes.Equal(x.Body, tc.want) || x.Truncated {
					t.Fatalf("body of %d bytes, want %d, truncated %v", len(x.Body), len(tc.want), x.Truncated)
				}
				if kept := get(t, keeping, s.URL); !bytes.Equal(kept.CodedBody, tc.body) || !bytes.Equal(kept.Body, tc.want) ||
					!bytes.Equal(kept.Fetched().CodedBody, tc.body) {
					t.Errorf("coded body of %d bytes, want %d", len(kept.CodedBody), len(tc.body))
				}
				if x.CodedBody != nil {
					t.Errorf("coded body of %d bytes is kept", len(x.CodedBody))
				}
				if x.WireBytes > int64(len(tc.body)) || x.WireBytes == 0 && len(tc.body) > 0 {
					t.Errorf("wire bytes %d of %d", x.WireBytes, len(tc.body))
				}
			}
		})
	}
}

func TestBadCodings(t *testing.T) {
	text := page(50_000)
	flip := func(b []byte) []byte {
		b = bytes.Clone(b)
		for i := len(b) / 2; i < len(b)/2+20; i++ {
			b[i] ^= 0x55
		}
		return b
	}
	half := func(b []byte) []byte { return b[:len(b)/2] }
	another := func(b []byte, fromEnd int) []byte {
		b = bytes.Clone(b)
		b[len(b)-fromEnd] ^= 1
		return b
	}
	// A member of gzip, in a stream of brotli that has no end.
	var open bytes.Buffer
	w := brotli.NewWriter(&open)
	_, _ = w.Write(compress(t, "gzip", text))
	_ = w.Flush()
	for _, tc := range []struct {
		name   string
		header string
		body   []byte
		class  Class
	}{
		{"gzip damaged", "gzip", flip(compress(t, "gzip", text)), ClassBadEncoding},
		{"gzip cut", "gzip", half(compress(t, "gzip", text)), ClassBodyTruncated},
		{"gzip cut in its header", "gzip", []byte("\x1f\x8b\x08\x08\x00\x00\x00\x00\x00\xffname"), ClassBodyTruncated},
		{"gzip with another checksum", "gzip", another(compress(t, "gzip", text), 8), ClassBadEncoding},
		{"gzip with another length", "gzip", another(compress(t, "gzip", text), 4), ClassBadEncoding},
		{"zlib cut", "deflate", half(compress(t, "deflate", text)), ClassBodyTruncated},
		{"zlib with another checksum", "deflate", another(compress(t, "deflate", text), 4), ClassBadEncoding},
		{"zlib with a dictionary", "deflate", append([]byte("\x78\x20\x00\x00\x00\x01"), compress(t, "raw", text)...), ClassBadEncoding},
		{"deflate of text", "deflate", text, ClassBadEncoding},
		{"brotli of text", "br", text, ClassBadEncoding},
		{"brotli cut", "br", half(compress(t, "br", text)), ClassBodyTruncated},
		{"zstd damaged", "zstd", flip(compress(t, "zstd", text)), ClassBadEncoding},
		{"zstd cut", "zstd", half(compress(t, "zstd", text)), ClassBodyTruncated},
		{"zstd with garbage after it", "zstd", append(compress(t, "zstd", text), "\r\n\r\n"...), ClassBadEncoding},
		{"inner cut", "gzip, br", compress(t, "br", half(compress(t, "gzip", text))), ClassBodyTruncated},
		{"outer cut behind a member", "gzip, br", open.Bytes(), ClassBodyTruncated},
		{"compress", "compress", text, ClassBadEncoding},
		{"three codings", "gzip, gzip, gzip", compress(t, "gzip,gzip,gzip", text), ClassBadEncoding},
	} {
		t.Run(tc.name, func(t *testing.T) {
			e := &encoded{[]string{tc.header}, tc.body}
			s := newServer(t, e.ServeHTTP)
			c := newClient(t, nil)
			x := get(t, c, s.URL)
			want(t, x, tc.class)
			if x.Status != 200 || !slices.Equal(x.Values("Content-Type"), []string{"text/html"}) {
				t.Errorf("status %d, headers %v", x.Status, x.Headers)
			}
			// A decoder that failed serves the next response.
			e.header, e.body = []string{"gzip"}, compress(t, "gzip", text)
			if x := get(t, c, s.URL); !bytes.Equal(x.Body, text) {
				t.Errorf("next response: class %q, %d bytes", x.Class, len(x.Body))
			}
		})
	}
}

// Bombs end at the limit, flagged, and do not stay in memory.
func TestBombs(t *testing.T) {
	const limit = 256 << 10
	zeros := make([]byte, 16<<20)
	empty := bytes.Repeat(compress(t, "gzip", nil), limit/10)
	for _, tc := range []struct {
		name, header string
		body         []byte
		decoded      int
	}{
		{"gzip", "gzip", compress(t, "gzip", zeros), limit},
		{"deflate", "deflate", compress(t, "deflate", zeros), limit},
		{"raw", "deflate", compress(t, "raw", zeros), limit},
		{"br", "br", compress(t, "br", zeros), limit},
		{"zstd", "zstd", compress(t, "zstd", zeros), limit},
		{"gzip twice", "gzip, gzip", compress(t, "gzip,gzip", zeros), limit},
		// The outer coding expands far beyond the limit, the inner yields nothing.
		{"members of nothing", "gzip, br", compress(t, "br", empty), 0},
		{"many members of nothing", "gzip", empty, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newServer(t, (&encoded{[]string{tc.header}, tc.body}).ServeHTTP)
			c := newClient(t, func(o *Options) { o.MaxBodyBytes = limit })
			x := get(t, c, s.URL)
			want(t, x, ClassNone)
			if !x.Truncated || len(x.Body) != tc.decoded {
				t.Errorf("%d bytes, truncated %v", len(x.Body), x.Truncated)
			}
			if x.WireBytes > limit {
				t.Errorf("%d bytes read from the wire", x.WireBytes)
			}
		})
	}
}

// A limit behind a member cuts off what was to follow.
func TestLimitBehindAMember(t *testing.T) {
	member := compress(t, "gzip", []byte(text))
	s := newServer(t, (&encoded{[]string{"gzip"}, append(bytes.Clone(member), member...)}).ServeHTTP)
	c := newClient(t, func(o *Options) { o.MaxBodyBytes = int64(len(member)) })
	x := get(t, c, s.URL)
	want(t, x, ClassNone)
	if !x.Truncated || string(x.Body) != text {
		t.Errorf("body %q, truncated %v", x.Body, x.Truncated)
	}
}

// Whatever a server sends, decoding ends within the limit and without a panic.
func FuzzDecode(f *testing.F) {
	for _, coding := range []string{"gzip", "deflate", "raw", "br", "zstd", "gzip,br"} {
		f.Add(strings.ReplaceAll(coding, "raw", "deflate"), compress(f, coding, page(2000)))
	}
	f.Fuzz(func(t *testing.T, coding string, data []byte) {
		const limit = 64 << 10
		b := newBodies(DefaultOptions())
		for range 2 {
			got, err := b.read(t.Context(), nil, &http.Response{
				Header:        http.Header{"Content-Encoding": {coding}},
				ContentLength: -1,
				Body:          io.NopCloser(bytes.NewReader(data)),
			}, limit)
			if len(got.bytes) > limit || got.wireBytes > limit || got.truncated && err != nil {
				t.Fatalf("%d bytes of %d, truncated %v, error %v", len(got.bytes), got.wireBytes, got.truncated, err)
			}
			if class := Classify(err); err != nil && class != ClassBadEncoding && class != ClassBodyTruncated {
				t.Fatalf("class %q: %v", class, err)
			}
		}
	})
}
