package transfer

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"

	"github.com/klauspost/compress/zstd"
	"github.com/twmb/franz-go/pkg/kgo"
	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
)

// A segment is the file of one partition: weftpb.Archived records, each with its
// size as a varint in front, in one zstd stream.

const (
	// windowBytes bounds what zstd remembers, because an import reads the files
	// of all partitions of a topic at once. A file that asks for more is none of
	// an export.
	windowBytes = 512 << 10
	// maxArchivedBytes bounds a record: 256 MiB of a body, and headers.
	maxArchivedBytes = 272 << 20
)

// segmentWriter writes one segment.
type segmentWriter struct {
	file    *os.File
	sum     hash.Hash
	packed  *zstd.Encoder
	buf     []byte
	records int64
	bytes   int64
}

func createSegment(name string) (*segmentWriter, error) {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("create file of export: %w", err)
	}
	w := &segmentWriter{file: file, sum: sha256.New()}
	w.packed, err = zstd.NewWriter(counted{w}, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(windowBytes))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("compress %s: %w", name, err), file.Close())
	}
	return w, nil
}

// counted is the file behind the compression.
type counted struct{ w *segmentWriter }

func (c counted) Write(b []byte) (int, error) {
	n, err := c.w.file.Write(b)
	c.w.sum.Write(b[:n])
	c.w.bytes += int64(n)
	return n, err
}

func (w *segmentWriter) write(r *kgo.Record) error {
	a := &weftpb.Archived{Offset: r.Offset, TimestampMs: r.Timestamp.UnixMilli(), Key: r.Key, Value: r.Value}
	for _, h := range r.Headers {
		a.Headers = append(a.Headers, &weftpb.ArchivedHeader{Name: h.Key, Value: h.Value})
	}
	w.buf = binary.AppendUvarint(w.buf[:0], uint64(proto.Size(a)))
	var err error
	if w.buf, err = (proto.MarshalOptions{}).MarshalAppend(w.buf, a); err != nil {
		return fmt.Errorf("encode record %d for %s: %w", r.Offset, w.file.Name(), err)
	}
	if _, err := w.packed.Write(w.buf); err != nil {
		return fmt.Errorf("write %s: %w", w.file.Name(), err)
	}
	w.records++
	return nil
}

// finish completes the file and tells l of it.
func (w *segmentWriter) finish(l *Log) error {
	err := w.packed.Close()
	if err == nil {
		err = w.file.Sync()
	}
	if err = errors.Join(err, w.file.Close()); err != nil {
		return fmt.Errorf("write %s: %w", w.file.Name(), err)
	}
	l.Records, l.Bytes, l.SHA256 = w.records, w.bytes, hex.EncodeToString(w.sum.Sum(nil))
	return nil
}

// abandon closes a file that is not needed any more.
func (w *segmentWriter) abandon() {
	_ = w.packed.Close()
	_ = w.file.Close()
}

// segmentReader reads one segment.
type segmentReader struct {
	file   *os.File
	packed *zstd.Decoder
	in     *bufio.Reader
	buf    bytes.Buffer
}

func openSegment(name string) (*segmentReader, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("open file of export: %w", err)
	}
	packed, err := zstd.NewReader(file, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(windowBytes))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("read %s: %w", name, err), file.Close())
	}
	return &segmentReader{file: file, packed: packed, in: bufio.NewReader(packed)}, nil
}

// next returns the next record, which is the caller's; io.EOF at the end.
func (r *segmentReader) next() (*weftpb.Archived, error) {
	size, err := binary.ReadUvarint(r.in)
	if errors.Is(err, io.EOF) {
		return nil, io.EOF
	}
	if err == nil && size > maxArchivedBytes {
		err = fmt.Errorf("a record of %d bytes", size)
	}
	a := new(weftpb.Archived)
	if err == nil {
		// What is stated may not be there: the buffer grows with what is.
		r.buf.Reset()
		_, err = io.CopyN(&r.buf, r.in, int64(size))
		switch {
		case err == nil:
			err = proto.Unmarshal(r.buf.Bytes(), a)
		case errors.Is(err, io.EOF):
			err = io.ErrUnexpectedEOF // the file ends, and not where a record does
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%w: read %s: %w", ErrExport, r.file.Name(), err)
	}
	return a, nil
}

func (r *segmentReader) close() {
	r.packed.Close()
	_ = r.file.Close() // it was only read
}

// checkSegment compares a file with what the manifest says of it.
func checkSegment(name string, l Log) error {
	file, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrExport, err)
	}
	defer file.Close()
	h := sha256.New()
	size, err := io.Copy(h, file)
	switch {
	case err != nil:
		return fmt.Errorf("read %s: %w", name, err)
	case size != l.Bytes:
		return fmt.Errorf("%w: %s has %d bytes instead of %d", ErrExport, name, size, l.Bytes)
	case hex.EncodeToString(h.Sum(nil)) != l.SHA256:
		return fmt.Errorf("%w: %s is damaged: its checksum is another", ErrExport, name)
	}
	return nil
}
