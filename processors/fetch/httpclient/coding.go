package httpclient

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/adler32"
	"hash/crc32"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

// acceptEncoding is sent with every request; each coding in it is decoded.
const acceptEncoding = "gzip, deflate, br, zstd"

// maxCodings bounds how many codings one body has. Two occur where a proxy compresses again.
// More are an attack on the reader.
const maxCodings = 2

// zstdWindow is the most that a sender may use in HTTP (RFC 9659).
const zstdWindow = 8 << 20

// maxWindows bounds the layers with a large window that are decoded at a time, of all exchanges
// together. A window of brotli is up to 16 MiB (RFC 7932 section 9.1), whatever the size of
// the body: every metablock announces its length, and the decoder trusts it. A decoder in a
// pool keeps its window until the second garbage collection. There are at most maxWindows
// decoders of each coding, and one more for each core, since a pool makes a decoder only when
// it is empty.
const maxWindows = 8

// windows returns how many of list are codings with a large window.
func windows(list []string) int64 {
	var n int64
	for _, coding := range list {
		if coding == "br" || coding == "zstd" {
			n++
		}
	}
	return n
}

// codings returns the content codings to remove, the last applied first, from the values of
// Content-Encoding (RFC 9110 section 8.4).
//
// Names that no registry has ("utf-8", "none") are ignored, as browsers do. Registered codings
// that are not decoded here are an error, since the body is not text.
func codings(values []string) ([]string, error) {
	var list []string
	for _, value := range values {
		for token := range strings.SplitSeq(value, ",") {
			switch token = strings.ToLower(strings.TrimSpace(token)); token {
			case "gzip", "x-gzip":
				list = append(list, "gzip")
			case "deflate", "br", "zstd":
				list = append(list, token)
			case "compress", "x-compress", "dcb", "dcz", "exi", "pack200-gzip", "aes128gcm", "sdch":
				return nil, failf(ClassBadEncoding, "content coding %s is not supported", token)
			}
		}
	}
	if len(list) > maxCodings {
		return nil, failf(ClassBadEncoding, "%d content codings on top of each other", len(list))
	}
	slices.Reverse(list)
	return list, nil
}

// decoders pools a layer for each coding.
type decoders map[string]*sync.Pool

func newDecoders() decoders {
	d := decoders{}
	for coding, fresh := range map[string]func() decoder{
		"gzip":    func() decoder { return &gunzip{} },
		"deflate": func() decoder { return &inflate{sum: adler32.New()} },
		"br":      func() decoder { return &unbrotli{} },
		"zstd":    func() decoder { return &unzstd{} },
	} {
		d[coding] = &sync.Pool{New: func() any {
			return &layer{coding: coding, in: bufio.NewReaderSize(nil, 16<<10), decoder: fresh()}
		}}
	}
	return d
}

// decoder removes one coding from a source.
type decoder interface {
	io.Reader
	// reset begins a new input. plain means that the input does not have the coding and
	// is passed on as it is.
	reset(in *bufio.Reader) (plain bool, err error)
}

// layer is a pooled decoder with its input buffer.
type layer struct {
	coding  string
	in      *bufio.Reader
	decoder decoder
	plain   bool
}

// open begins to remove a coding from src.
//
// A response that announces gzip or zstd and does not begin with their magic number is passed
// on as it is. Servers that announce a coding that they did not apply are common, and the
// magic number shows it for certain. Deflate and brotli have no magic number, so a wrong
// announcement of them is bad_encoding. An empty body is empty in every coding.
func (d decoders) open(coding string, src io.Reader) (*layer, error) {
	l := d[coding].Get().(*layer)
	l.in.Reset(src)
	if _, err := l.in.Peek(1); err != nil {
		l.plain = true // the reader gets the error, or the end
		return l, nil
	}
	var err error
	l.plain, err = l.decoder.reset(l.in)
	return l, err
}

// close returns the layer to its pool.
func (d decoders) close(l *layer) {
	l.in.Reset(nil) // releases the response
	d[l.coding].Put(l)
}

func (l *layer) Read(p []byte) (int, error) {
	if l.plain {
		return l.in.Read(p)
	}
	return l.decoder.Read(p)
}

// deflated reads the raw format (RFC 1951). Its tables are kept for the next stream.
type deflated struct{ io.ReadCloser }

func (d *deflated) reset(in *bufio.Reader) error {
	if d.ReadCloser == nil {
		d.ReadCloser = flate.NewReader(in)
		return nil
	}
	return d.ReadCloser.(flate.Resetter).Reset(in, nil)
}

// gunzip reads all members of a gzip file (RFC 1952) and ignores what follows
// them, as browsers do. The trailer of the last member may be missing or cut, because
// programs that make gzip by hand leave it out, and browsers do not look at it. A whole
// trailer must be right.
type gunzip struct {
	in   *bufio.Reader
	body deflated
	sum  uint32 // of the member, CRC-32
	size uint32 // of the member, modulo 2^32
}

func (g *gunzip) reset(in *bufio.Reader) (plain bool, err error) {
	if !startsWith(in, "\x1f\x8b") {
		return true, nil
	}
	g.in = in
	return false, g.next()
}

// next begins a member.
func (g *gunzip) next() error {
	if err := skipGzipHeader(g.in); err != nil {
		return err
	}
	g.sum, g.size = 0, 0
	return g.body.reset(g.in)
}

func (g *gunzip) Read(p []byte) (int, error) {
	n, err := g.body.Read(p)
	g.sum = crc32.Update(g.sum, crc32.IEEETable, p[:n])
	g.size += uint32(n)
	if err == io.EOF {
		err = g.trailer()
	}
	return n, err
}

// trailer ends a member. It returns io.EOF if no other member follows.
func (g *gunzip) trailer() error {
	trailer, err := g.in.Peek(8)
	switch {
	case len(trailer) < 8: // err says whether the message is whole
		return err
	case binary.LittleEndian.Uint32(trailer) != g.sum || binary.LittleEndian.Uint32(trailer[4:]) != g.size:
		return gzip.ErrChecksum
	}
	_, _ = g.in.Discard(8) // it is in the buffer
	if startsWith(g.in, "\x1f\x8b") {
		return g.next()
	}
	_, err = g.in.Peek(1)
	if err == nil {
		err = io.EOF // what follows is ignored
	}
	return err
}

// Flags of the header of a member (RFC 1952 section 2.3.1).
const (
	gzipHeaderSum = 1 << 1
	gzipExtra     = 1 << 2
	gzipName      = 1 << 3
	gzipComment   = 1 << 4
)

// skipGzipHeader reads the header of a member.
func skipGzipHeader(in *bufio.Reader) error {
	fixed, err := in.Peek(10)
	if err != nil {
		return unexpected(err)
	}
	method, flags := fixed[2], fixed[3]
	if method != 8 {
		return gzip.ErrHeader
	}
	_, _ = in.Discard(10) // they are in the buffer
	if flags&gzipExtra != 0 {
		length, err := in.Peek(2)
		if err != nil {
			return unexpected(err)
		}
		if _, err := in.Discard(2 + int(binary.LittleEndian.Uint16(length))); err != nil {
			return unexpected(err)
		}
	}
	for _, text := range []byte{gzipName, gzipComment} {
		for flags&text != 0 {
			switch _, err := in.ReadSlice(0); err {
			case nil:
				flags &^= text
			case bufio.ErrBufferFull: // it goes on
			default:
				return unexpected(err)
			}
		}
	}
	if flags&gzipHeaderSum != 0 {
		_, err = in.Discard(2)
	}
	return unexpected(err)
}

// unexpected is err, or io.ErrUnexpectedEOF instead of io.EOF.
func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// inflate reads the zlib format (RFC 1950), which "deflate" means, or the raw format (RFC 1951),
// which some servers send. As with gzip, the checksum of zlib may be missing or cut, because
// browsers do not miss it. A whole one must be right.
type inflate struct {
	in   *bufio.Reader
	body deflated
	zlib bool
	sum  hash.Hash32 // Adler-32
}

func (f *inflate) reset(in *bufio.Reader) (plain bool, err error) {
	f.in = in
	head, _ := in.Peek(2)
	f.zlib = len(head) == 2 && head[0]&0x0f == 8 && head[0]>>4 <= 7 && (int(head[0])<<8+int(head[1]))%31 == 0
	if f.zlib {
		if head[1]&zlibDictionary != 0 {
			return false, zlib.ErrDictionary
		}
		_, _ = in.Discard(2) // they are in the buffer
		f.sum.Reset()
	}
	return false, f.body.reset(in)
}

// zlibDictionary is the flag of a stream that needs a dictionary (RFC 1950 section 2.2).
const zlibDictionary = 1 << 5

func (f *inflate) Read(p []byte) (int, error) {
	n, err := f.body.Read(p)
	if f.zlib {
		_, _ = f.sum.Write(p[:n]) // it cannot fail
		if err == io.EOF {
			err = f.trailer()
		}
	}
	return n, err
}

// trailer ends a stream of zlib. What follows it is ignored.
func (f *inflate) trailer() error {
	trailer, err := f.in.Peek(4)
	switch {
	case len(trailer) < 4: // err says whether the message is whole
		return err
	case binary.BigEndian.Uint32(trailer) != f.sum.Sum32():
		return zlib.ErrChecksum
	}
	return io.EOF
}

// unbrotli reads RFC 7932 and ignores what follows the stream, as browsers do.
type unbrotli struct{ brotli.Reader }

func (b *unbrotli) reset(in *bufio.Reader) (plain bool, err error) {
	return false, b.Reset(in)
}

func (b *unbrotli) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if err != nil && err.Error() == "brotli: excessive input" { // the error is not exported
		err = io.EOF
	}
	return n, err
}

// unzstd reads RFC 8878.
type unzstd struct{ *zstd.Decoder }

func (u *unzstd) reset(in *bufio.Reader) (plain bool, err error) {
	if !startsWith(in, "\x28\xb5\x2f\xfd") && !isSkippable(in) {
		return true, nil
	}
	if u.Decoder != nil {
		return false, u.Reset(in)
	}
	// With a concurrency of one it decodes on the caller's goroutine and starts no other.
	u.Decoder, err = zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(zstdWindow))
	if err != nil {
		return false, fmt.Errorf("open zstd: %w", err)
	}
	return false, nil
}

// isSkippable reports a skippable frame, with which a zstd stream may begin.
func isSkippable(in *bufio.Reader) bool {
	head, _ := in.Peek(4)
	return len(head) == 4 && head[0]&0xf0 == 0x50 && string(head[1:]) == "\x2a\x4d\x18"
}

func startsWith(in *bufio.Reader, magic string) bool {
	head, _ := in.Peek(len(magic))
	return string(head) == magic
}

// classifyDecoding names an error of a decoder whose source was whole. A stream that stops early
// was cut before it was sent, or by a connection whose end looked like the body's end.
func classifyDecoding(err error) Class {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return ClassBodyTruncated
	}
	return ClassBadEncoding
}
