package warc

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/cespare/xxhash/v2"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/zstd"
)

// Packer makes members of files. Files that one goroutine writes share it: its tables, up to
// 1.5 MB, are then in the caches of the processor. It is not safe for concurrent use.
type Packer struct {
	format interface {
		// pack appends a member to dst: text compressed, and then what is stored because it
		// is compressed already. To compress it again would take most of the time, and save
		// nothing.
		pack(dst, text []byte, stored ...[]byte) ([]byte, error)
	}
	text   []byte // of a record
	packed []byte // its member
}

// NewPacker returns a Packer for files with these options.
func NewPacker(o Options) (*Packer, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	o = o.withDefaults()
	p := new(Packer)
	var err error
	if o.Compression == Zstd {
		p.format, err = newZstdPacker(o.Level)
	} else {
		p.format, err = newGzipPacker(o.Level)
	}
	if err != nil {
		return nil, fmt.Errorf("warc: %w", err)
	}
	return p, nil
}

// member returns a record as a member, until the next call.
func (p *Packer) member(r *record) ([]byte, error) {
	if cap(p.text) > largeText || cap(p.packed) > largeText {
		p.text, p.packed = nil, nil
	}
	p.text = append(r.appendHeader(p.text[:0]), r.head...)
	rest := [][]byte{r.payload, recordEnd}
	if !r.coded || len(r.payload) == 0 {
		p.text = append(append(p.text, r.payload...), recordEnd...)
		rest = nil
	}
	var err error
	p.packed, err = p.format.pack(p.packed[:0], p.text, rest...)
	return p.packed, err
}

// largeText is the size of a buffer that is not kept.
const largeText = 1 << 20

// gzipPacker makes gzip members (RFC 1952).
type gzipPacker struct {
	deflater *flate.Writer
	out      appender
}

// appender appends what is written to it.
type appender struct{ b []byte }

func (a *appender) Write(p []byte) (int, error) {
	a.b = append(a.b, p...)
	return len(p), nil
}

func newGzipPacker(level int) (*gzipPacker, error) {
	deflater, err := flate.NewWriter(nil, level)
	return &gzipPacker{deflater: deflater}, err
}

// gzipHeader says: deflate, no name, no time, an unknown system.
var gzipHeader = []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255}

func (p *gzipPacker) pack(dst, text []byte, stored ...[]byte) ([]byte, error) {
	p.out.b = append(dst, gzipHeader...)
	p.deflater.Reset(&p.out)
	_, err := p.deflater.Write(text)
	if err == nil && len(stored) > 0 {
		err = p.deflater.Flush() // ends its block, which is not the last one
	} else if err == nil {
		err = p.deflater.Close()
	}
	if err != nil {
		return nil, err
	}
	b := p.out.b
	p.out.b = nil
	if len(stored) > 0 {
		b = appendStoredDeflate(b, stored)
	}
	return appendGzipEnd(b, append([][]byte{text}, stored...)), nil
}

// mostStored is the length of a stored block of both formats.
const mostStored = 1<<16 - 1

// storedBlocks calls block for each stored block of parts; the last block may be empty.
func storedBlocks(parts [][]byte, block func(text []byte, last bool)) {
	for i, part := range parts {
		for end := false; !end; {
			text := part[:min(len(part), mostStored)]
			part = part[len(text):]
			end = len(part) == 0
			block(text, end && i == len(parts)-1)
		}
	}
}

// appendStoredDeflate appends stored blocks (RFC 1951 section 3.2.4), which begin at a byte.
func appendStoredDeflate(b []byte, parts [][]byte) []byte {
	storedBlocks(parts, func(text []byte, last bool) {
		final := byte(0)
		if last {
			final = 1
		}
		b = append(b, final)
		b = binary.LittleEndian.AppendUint16(b, uint16(len(text)))
		b = binary.LittleEndian.AppendUint16(b, ^uint16(len(text)))
		b = append(b, text...)
	})
	return b
}

// appendGzipEnd appends the checksum and the length of a member.
func appendGzipEnd(b []byte, parts [][]byte) []byte {
	sum, length := uint32(0), 0
	for _, part := range parts {
		sum = crc32.Update(sum, crc32.IEEETable, part)
		length += len(part)
	}
	return binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(b, sum), uint32(length))
}

// storedGzip is a gzip member of stored blocks.
func storedGzip(text []byte) []byte {
	parts := [][]byte{text}
	return appendGzipEnd(appendStoredDeflate(bytes.Clone(gzipHeader), parts), parts)
}

// zstdPacker makes zstd frames (RFC 8878 section 3.1.1).
type zstdPacker struct {
	encoder *zstd.Encoder
	// small is for texts up to smallText, of the fastest level: it has smaller tables, and
	// saves as much there.
	small *zstd.Encoder
}

const smallText = 4 << 10

func newZstdPacker(level int) (p *zstdPacker, err error) {
	p = new(zstdPacker)
	for _, one := range []struct {
		encoder **zstd.Encoder
		level   zstd.EncoderLevel
	}{{&p.encoder, zstd.EncoderLevel(level)}, {&p.small, zstd.SpeedFastest}} {
		// A frame is one segment: its length is its window, and no reader needs more memory.
		*one.encoder, err = zstd.NewWriter(nil, zstd.WithEncoderLevel(one.level), zstd.WithEncoderConcurrency(1),
			zstd.WithLowerEncoderMem(true), zstd.WithSingleSegment(true), zstd.WithEncoderCRC(false))
		if err != nil {
			return nil, err
		}
	}
	return p, nil
}

func (p *zstdPacker) pack(dst, text []byte, stored ...[]byte) ([]byte, error) {
	parts := append([][]byte{text}, stored...)
	dst = appendZstdHeader(dst, parts)
	at := len(dst)
	// The frame of the encoder has a header of its own, whose length its second field tells.
	// Its blocks follow.
	encoder := p.encoder
	if len(text) <= smallText {
		encoder = p.small
	}
	frame := encoder.EncodeAll(text, dst)
	header := 5 + []int{1, 2, 4, 8}[frame[at+4]>>6]
	frame = append(frame[:at], frame[at+header:]...)
	if len(stored) > 0 {
		clearLast(frame[at:])
		frame = appendRawZstd(frame, stored)
	}
	return appendZstdSum(frame, parts), nil
}

// appendZstdHeader appends the header of a frame that is one segment, with its size in 4 bytes
// and a checksum.
func appendZstdHeader(b []byte, parts [][]byte) []byte {
	length := 0
	for _, part := range parts {
		length += len(part)
	}
	return binary.LittleEndian.AppendUint32(append(b, 0x28, 0xb5, 0x2f, 0xfd, 0b1010_0100), uint32(length))
}

// clearLast says of the last of some blocks that others follow.
func clearLast(blocks []byte) {
	for {
		header := uint32(blocks[0]) | uint32(blocks[1])<<8 | uint32(blocks[2])<<16
		if header&1 == 1 {
			blocks[0] &^= 1
			return
		}
		size := header >> 3
		if header>>1&3 == 1 { // one byte, repeated
			size = 1
		}
		blocks = blocks[3+size:]
	}
}

func appendRawZstd(b []byte, parts [][]byte) []byte {
	storedBlocks(parts, func(text []byte, last bool) {
		header := uint32(len(text)) << 3
		if last {
			header |= 1
		}
		b = append(append(b, byte(header), byte(header>>8), byte(header>>16)), text...)
	})
	return b
}

func appendZstdSum(b []byte, parts [][]byte) []byte {
	var sum xxhash.Digest
	sum.Reset()
	for _, part := range parts {
		_, _ = sum.Write(part)
	}
	return binary.LittleEndian.AppendUint32(b, uint32(sum.Sum64()))
}

// storedZstd is a frame of raw blocks.
func storedZstd(text []byte) []byte {
	parts := [][]byte{text}
	return appendZstdSum(appendRawZstd(appendZstdHeader(nil, parts), parts), parts)
}
