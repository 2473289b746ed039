package warc

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// largestText bounds a record that is read, in bytes: a record of parsed, or an exchange with a body of 256 MiB.
const largestText = 512 << 20

// Member is a member of a file, and its record.
type Member struct {
	Offset, Length int64
	Record
}

// Members yields the members of a whole file, from its beginning to its end. It stops after an error.
func Members(file io.Reader) iter.Seq2[Member, error] {
	return func(yield func(Member, error) bool) {
		source := &counted{r: file}
		in := bufio.NewReaderSize(source, 64<<10)
		u := unpacker{limit: largestText}
		defer u.close()
		for {
			m := Member{Offset: source.n - int64(in.Buffered())}
			begin, err := in.Peek(4)
			if len(begin) == 0 && errors.Is(err, io.EOF) {
				return
			}
			var text []byte
			if text, err = u.unpack(in, begin); err == nil {
				m.Record, err = recordIn(text)
			} else {
				err = fmt.Errorf("%w: at %d: %w", ErrRecord, m.Offset, err)
			}
			m.Length = source.n - int64(in.Buffered()) - m.Offset
			if !yield(m, err) || err != nil {
				return
			}
		}
	}
}

// Records yields the records of a whole file, from its beginning to its end. It stops after an error.
func Records(file io.Reader) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		for m, err := range Members(file) {
			if !yield(m.Record, err) {
				return
			}
		}
	}
}

// counted counts what was read.
type counted struct {
	r io.Reader
	n int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// unpacker reads one member after another.
type unpacker struct {
	limit int // of a member without its compression, in bytes
	gzip  gzip.Reader
	zstd  *zstd.Decoder // nil: it was not needed yet
}

func (u *unpacker) close() {
	if u.zstd != nil {
		u.zstd.Close()
	}
}

// unpack reads the next member, which begins so, and nothing behind it.
func (u *unpacker) unpack(in *bufio.Reader, begin []byte) ([]byte, error) {
	if !bytes.HasPrefix(begin, []byte{0x1f, 0x8b}) {
		return u.unpackZstd(in)
	}
	if err := u.gzip.Reset(in); err != nil {
		return nil, err
	}
	u.gzip.Multistream(false)
	text, err := io.ReadAll(io.LimitReader(&u.gzip, int64(u.limit)+1))
	if err == nil && len(text) > u.limit {
		err = u.tooLarge()
	}
	return text, err
}

func (u *unpacker) tooLarge() error { return fmt.Errorf("the record has more than %d bytes", u.limit) }

func (u *unpacker) unpackZstd(in *bufio.Reader) (text []byte, err error) {
	frame, err := u.zstdFrame(in)
	if err != nil {
		return nil, err
	}
	if u.zstd == nil {
		if u.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(uint64(u.limit))); err != nil {
			return nil, err
		}
	}
	return u.zstd.DecodeAll(frame, nil)
}

// zstdFrame reads a frame up to its end, which only the headers of its blocks tell (RFC 8878 section
// 3.1.1).
func (u *unpacker) zstdFrame(in *bufio.Reader) ([]byte, error) {
	begin, err := in.Peek(zstd.HeaderMaxSize)
	if len(begin) == 0 {
		return nil, err
	}
	var header zstd.Header
	if err := header.Decode(begin); err != nil {
		return nil, err
	}
	if header.Skippable {
		return nil, errors.New("a frame without a record")
	}
	var frame bytes.Buffer
	next := func(bytes int64) error {
		if int64(frame.Len())+bytes > int64(u.limit) {
			return u.tooLarge()
		}
		_, err := io.CopyN(&frame, in, bytes)
		return err
	}
	if err := next(int64(header.HeaderSize)); err != nil {
		return nil, err
	}
	for last := false; !last; {
		if err := next(3); err != nil {
			return nil, err
		}
		block := binary.LittleEndian.Uint32(append([]byte{0}, frame.Bytes()[frame.Len()-3:]...)) >> 8
		size := int64(block >> 3)
		if block>>1&3 == 1 { // one byte, repeated
			size = 1
		}
		if err := next(size); err != nil {
			return nil, err
		}
		last = block&1 == 1
	}
	if header.HasCheckSum {
		if err := next(4); err != nil {
			return nil, err
		}
	}
	return frame.Bytes(), nil
}
