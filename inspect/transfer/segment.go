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
	"google.golang.org/protobuf/encoding/protodelim"
	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
)

// A segment is the file of one partition: weftpb.Archived records in one zstd stream, each
// after its size as a varint.

const (
	// windowBytes bounds the memory of zstd, because an import reads the files of all
	// partitions of a topic at the same time. A file with a larger window is not valid.
	windowBytes = 512 << 10
	// maxArchivedBytes bounds a record: 256 MiB of a body, and headers.
	maxArchivedBytes = 272 << 20
)

type segmentWriter struct {
	file    *os.File
	sum     hash.Hash
	packed  *zstd.Encoder
	records int64
}

func createSegment(name string) (*segmentWriter, error) {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("create file of export: %w", err)
	}
	w := &segmentWriter{file: file, sum: sha256.New()}
	w.packed, err = zstd.NewWriter(io.MultiWriter(file, w.sum), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(windowBytes))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("compress %s: %w", name, err), file.Close())
	}
	return w, nil
}

func (w *segmentWriter) write(r *kgo.Record) error {
	a := &weftpb.Archived{Offset: r.Offset, TimestampMs: r.Timestamp.UnixMilli(), Key: r.Key, Value: r.Value}
	for _, h := range r.Headers {
		a.Headers = append(a.Headers, &weftpb.ArchivedHeader{Name: h.Key, Value: h.Value})
	}
	if _, err := protodelim.MarshalTo(w.packed, a); err != nil {
		return fmt.Errorf("write record %d to %s: %w", r.Offset, w.file.Name(), err)
	}
	w.records++
	return nil
}

// finish completes the file and describes it in l.
func (w *segmentWriter) finish(l *Log) error {
	err := w.packed.Close()
	if err == nil {
		err = w.file.Sync()
	}
	size, err2 := w.file.Seek(0, io.SeekCurrent)
	if err = errors.Join(err, err2, w.file.Close()); err != nil {
		return fmt.Errorf("write %s: %w", w.file.Name(), err)
	}
	l.Records, l.Bytes, l.SHA256 = w.records, size, hex.EncodeToString(w.sum.Sum(nil))
	return nil
}

// abandon closes a file that is not needed any more.
func (w *segmentWriter) abandon() {
	_ = w.packed.Close()
	_ = w.file.Close()
}

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

// next returns the next record, which the caller may keep; io.EOF at the end.
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
		// The size may be wrong: the buffer grows with the data.
		r.buf.Reset()
		_, err = io.CopyN(&r.buf, r.in, int64(size))
		switch {
		case err == nil:
			err = proto.Unmarshal(r.buf.Bytes(), a)
		case errors.Is(err, io.EOF):
			err = io.ErrUnexpectedEOF // the file ends within a record
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

// checkSegment compares a file with its entry in the manifest.
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
		return fmt.Errorf("%w: %s is damaged: its checksum does not match", ErrExport, name)
	}
	return nil
}
