package verify

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// mention is a URL that a record names.
type mention struct {
	print     fingerprint
	topic     uint8 // index in topics of upstream
	partition int32
	offset    int64
}

// mentionBytes is how long an encoded mention is.
const mentionBytes = 16 + 1 + 4 + 8

// spool is a list of mentions in a file, which may be longer than memory. It is
// written first, and then read as often as is wanted.
type spool struct {
	file *os.File
	out  *bufio.Writer
}

// openSpool makes an empty list in a directory. Close it.
func openSpool(dir string) (*spool, error) {
	file, err := os.Create(filepath.Join(dir, "mentions"))
	if err != nil {
		return nil, fmt.Errorf("make a scratch file: %w", err)
	}
	return &spool{file: file, out: bufio.NewWriterSize(file, 1<<16)}, nil
}

func (s *spool) close() error { return s.file.Close() }

func (s *spool) add(m mention) error {
	var b [mentionBytes]byte
	copy(b[:], m.print[:])
	b[16] = m.topic
	binary.BigEndian.PutUint32(b[17:], uint32(m.partition))
	binary.BigEndian.PutUint64(b[21:], uint64(m.offset))
	_, err := s.out.Write(b[:])
	return err
}

// each calls visit with all mentions, in the order in which they were added.
func (s *spool) each(visit func(mention)) error {
	if err := s.out.Flush(); err != nil {
		return err
	}
	in := bufio.NewReaderSize(io.NewSectionReader(s.file, 0, 1<<62), 1<<16)
	for {
		var b [mentionBytes]byte
		if _, err := io.ReadFull(in, b[:]); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("read a scratch file: %w", err)
		}
		visit(mention{
			fingerprint(b[:16]), b[16], int32(binary.BigEndian.Uint32(b[17:])), int64(binary.BigEndian.Uint64(b[21:])),
		})
	}
}
