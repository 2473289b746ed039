package httpclient

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"io"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// peer is the server's side of an HTTP/2 connection on which one request came.
type peer struct {
	*http2.Framer
	raw    io.ReadWriter
	stream uint32
	closed <-chan struct{}
}

// header encodes a header from names and values.
func (p peer) header(fields ...string) []byte {
	var b bytes.Buffer
	e := hpack.NewEncoder(&b)
	for i := 0; i < len(fields); i += 2 {
		_ = e.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]})
	}
	return b.Bytes()
}

// answer writes a response header; end: without a body.
func (p peer) answer(end bool, fields ...string) {
	_ = p.WriteHeaders(http2.HeadersFrameParam{
		StreamID: p.stream, BlockFragment: p.header(fields...), EndHeaders: true, EndStream: end,
	})
}

// until repeats something for as long as the connection lives.
func (p peer) until(do func() error) {
	for do() == nil {
		select {
		case <-p.closed:
			return
		default:
		}
	}
}

// newPeer runs script for each request, on a connection of its own, and holds
// the connection until the client closes it.
func newPeer(t testing.TB, trusted **x509.CertPool, script func(p peer)) string {
	return newDeafPeer(t, trusted, func(p peer) {
		closed := make(chan struct{})
		p.closed = closed
		go func() { defer close(closed); _, _ = io.Copy(io.Discard, p.raw) }()
		script(p)
		<-closed
	})
}

// newDeafPeer is newPeer for a script after whose request nothing is read, and
// which ends when it cannot write.
func newDeafPeer(t testing.TB, trusted **x509.CertPool, script func(p peer)) string {
	cert, pool := certificate(t, time.Now().Add(time.Hour))
	*trusted = pool
	config := &tls.Config{Certificates: []tls.Certificate{cert}, NextProtos: []string{"h2"}}
	return newSecureServer(t, config, func(c *tls.Conn) {
		preface := make([]byte, len(http2.ClientPreface))
		if _, err := io.ReadFull(c, preface); err != nil {
			return
		}
		f := http2.NewFramer(c, c)
		if f.WriteSettings() != nil {
			return
		}
		for {
			frame, err := f.ReadFrame()
			if err != nil {
				return
			}
			if _, request := frame.(*http2.HeadersFrame); request {
				script(peer{Framer: f, raw: c, stream: frame.Header().StreamID})
				return
			}
		}
	})
}

// pings sends PINGs without end. If it is deaf, it does not read the acknowledgements.
func (p peer) pings() {
	many := bytes.Repeat([]byte("\x00\x00\x08\x06\x00\x00\x00\x00\x0012345678"), 900)
	p.until(func() error {
		_, err := p.raw.Write(many)
		return err
	})
}

func http2Servers() []hostile {
	var trusted *x509.CertPool
	options := func(o *Options) {
		small(o)
		o.RootCAs = trusted
	}
	silent := func(h hostile) hostile {
		h.options = func(o *Options) { options(o); hastyHeader(o) }
		return h
	}
	stopping := func(h hostile) hostile {
		h.options = func(o *Options) { options(o); hastyBody(o) }
		return h
	}
	with := func(name string, script func(p peer)) hostile {
		return hostile{"HTTP/2: " + name, func(t *testing.T) string { return newPeer(t, &trusted, script) }, options}
	}
	deaf := func(name string, script func(p peer)) hostile {
		return hostile{"HTTP/2: " + name, func(t *testing.T) string { return newDeafPeer(t, &trusted, script) }, func(o *Options) {
			o.RootCAs = trusted
			// Time to fill what the kernel holds, and so many bytes that they do
			// not end the exchange before.
			o.FirstByteTimeout, o.BodyRateWindow, o.MaxBodyBytes = 5*soon, 5*soon, 10<<20
		}}
	}
	filler := strings.Repeat("x", 1000)
	return []hostile{
		with("a page", func(p peer) {
			p.answer(false, ":status", "200", "content-type", "text/html")
			_ = p.WriteData(p.stream, true, []byte(text))
		}),
		with("GOAWAY instead of an answer", func(p peer) { _ = p.WriteGoAway(0, http2.ErrCodeNo, nil) }),
		with("GOAWAY inside the body", func(p peer) {
			p.answer(false, ":status", "200")
			_ = p.WriteGoAway(p.stream, http2.ErrCodeNo, nil)
			_ = p.WriteData(p.stream, true, []byte(text))
		}),
		with("GOAWAY with an error", func(p peer) { _ = p.WriteGoAway(0, http2.ErrCodeEnhanceYourCalm, nil) }),
		with("GOAWAY that drops the request inside the body", func(p peer) {
			p.answer(false, ":status", "200")
			_ = p.WriteData(p.stream, false, []byte(text))
			_ = p.WriteGoAway(0, http2.ErrCodeNo, nil)
		}),
		silent(with("GOAWAY that promises an answer, and no answer", func(p peer) {
			_ = p.WriteGoAway(p.stream, http2.ErrCodeEnhanceYourCalm, []byte(filler))
		})),
		with("RST_STREAM instead of an answer", func(p peer) { _ = p.WriteRSTStream(p.stream, http2.ErrCodeInternal) }),
		with("RST_STREAM with REFUSED_STREAM", func(p peer) { _ = p.WriteRSTStream(p.stream, http2.ErrCodeRefusedStream) }),
		with("RST_STREAM inside the body", func(p peer) {
			p.answer(false, ":status", "200")
			_ = p.WriteRSTStream(p.stream, http2.ErrCodeCancel)
		}),
		with("storm of RST_STREAM", func(p peer) {
			p.until(func() error { return p.WriteRSTStream(p.stream, http2.ErrCodeCancel) })
		}),
		with("flood of SETTINGS", func(p peer) { p.until(func() error { return p.WriteSettings() }) }),
		with("flood of PING", func(p peer) { p.until(func() error { return p.WritePing(false, [8]byte{}) }) }),
		with("flood of empty DATA", func(p peer) {
			p.answer(false, ":status", "200")
			p.until(func() error { return p.WriteData(p.stream, false, nil) })
		}),
		with("flood of WINDOW_UPDATE", func(p peer) { p.until(func() error { return p.WriteWindowUpdate(0, 1) }) }),
		with("flood of CONTINUATION", func(p peer) {
			_ = p.WriteHeaders(http2.HeadersFrameParam{StreamID: p.stream, BlockFragment: p.header(":status", "200")})
			p.until(func() error { return p.WriteContinuation(p.stream, false, p.header("x", filler)) })
		}),
		with("flood of empty CONTINUATION", func(p peer) {
			_ = p.WriteHeaders(http2.HeadersFrameParam{StreamID: p.stream, BlockFragment: p.header(":status", "200")})
			p.until(func() error { return p.WriteContinuation(p.stream, false, nil) })
		}),
		with("flood of interim responses", func(p peer) {
			p.until(func() error {
				p.answer(false, ":status", "103", "link", "</a>")
				return nil
			})
		}),
		with("flood of unknown frames", func(p peer) {
			p.until(func() error { return p.WriteRawFrame(0xee, 0, 0, []byte(filler)) })
		}),
		with("flood of pushes", func(p peer) {
			p.until(func() error {
				return p.WritePushPromise(http2.PushPromiseParam{
					StreamID: p.stream, PromiseID: 2, BlockFragment: p.header(":method", "GET"), EndHeaders: true,
				})
			})
		}),
		with("endless body", func(p peer) {
			p.answer(false, ":status", "200")
			p.until(func() error { return p.WriteData(p.stream, false, []byte(filler)) })
		}),
		with("header bomb by compression", func(p peer) {
			// One large field, and references of one byte to it.
			var b bytes.Buffer
			e := hpack.NewEncoder(&b)
			_ = e.WriteField(hpack.HeaderField{Name: ":status", Value: "200"})
			for range 1000 {
				_ = e.WriteField(hpack.HeaderField{Name: "x", Value: filler})
			}
			_ = p.WriteHeaders(http2.HeadersFrameParam{StreamID: p.stream, BlockFragment: b.Bytes(), EndHeaders: true})
		}),
		with("no status", func(p peer) { p.answer(true, "x", "y") }),
		with("status 99", func(p peer) { p.answer(true, ":status", "99") }),
		with("status 99999", func(p peer) { p.answer(true, ":status", "99999") }),
		with("status -1", func(p peer) { p.answer(true, ":status", "-1") }),
		with("field name in capitals", func(p peer) { p.answer(true, ":status", "200", "X", "y") }),
		with("NUL inside a field", func(p peer) { p.answer(true, ":status", "200", "x", "a\x00b") }),
		with("content-length above the length of the body", func(p peer) {
			p.answer(false, ":status", "200", "content-length", "1000")
			_ = p.WriteData(p.stream, true, []byte(text))
		}),
		with("content-length below the length of the body", func(p peer) {
			p.answer(false, ":status", "200", "content-length", "10")
			_ = p.WriteData(p.stream, true, []byte(text))
		}),
		with("content-length of 0, and a body", func(p peer) {
			p.answer(false, ":status", "200", "content-length", "0")
			_ = p.WriteData(p.stream, true, []byte(text))
		}),
		with("two different content-lengths", func(p peer) {
			p.answer(false, ":status", "200", "content-length", "56", "content-length", "10")
			_ = p.WriteData(p.stream, true, []byte(text))
		}),
		with("content-length that is not a number", func(p peer) {
			p.answer(false, ":status", "200", "content-length", "-5x")
			_ = p.WriteData(p.stream, true, []byte(text))
		}),
		with("field that belongs to a connection", func(p peer) {
			p.answer(false, ":status", "200", "connection", "close")
			_ = p.WriteData(p.stream, true, []byte(text))
		}),
		with("transfer-encoding: chunked", func(p peer) {
			p.answer(false, ":status", "200", "transfer-encoding", "chunked")
			_ = p.WriteData(p.stream, true, []byte("38\r\n"+text+"\r\n0\r\n\r\n"))
		}),
		with("status 204 with a body", func(p peer) {
			p.answer(false, ":status", "204")
			_ = p.WriteData(p.stream, true, []byte(text))
		}),
		with("status 204 with a content-length", func(p peer) {
			p.answer(false, ":status", "204", "content-length", "56")
			_ = p.WriteData(p.stream, true, nil)
		}),
		with("DATA before a header", func(p peer) { _ = p.WriteData(p.stream, true, []byte(text)) }),
		with("DATA for another stream", func(p peer) { _ = p.WriteData(p.stream+2, true, []byte(text)) }),
		with("more DATA than the window allows", func(p peer) {
			p.answer(false, ":status", "200")
			p.until(func() error { return p.WriteData(p.stream, false, bytes.Repeat([]byte("x"), 16<<10)) })
		}),
		with("frame larger than allowed", func(p peer) { _ = p.WriteRawFrame(http2.FrameHeaders, 0, p.stream, make([]byte, 1<<20)) }),
		with("a second answer", func(p peer) {
			p.answer(false, ":status", "200")
			_ = p.WriteData(p.stream, false, []byte(text))
			p.answer(false, ":status", "200")
		}),
		silent(with("sends no answer", func(peer) {})),
		stopping(with("stops inside the body", func(p peer) {
			p.answer(false, ":status", "200", "content-length", "1000")
			_ = p.WriteData(p.stream, false, []byte(text))
		})),
		deaf("sends PINGs and does not read", peer.pings),
		deaf("sends a header, then PINGs, and does not read", func(p peer) {
			p.answer(false, ":status", "200")
			p.pings()
		}),
		deaf("sends a redirect, then PINGs, and does not read", func(p peer) {
			p.answer(false, ":status", "302", "location", "/to")
			p.pings()
		}),
		with("agrees on HTTP/2, speaks HTTP/1.1", func(p peer) { _, _ = io.WriteString(p.raw, ok+"\r\n"+text) }),
	}
}
