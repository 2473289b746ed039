package warc

import (
	"bufio"
	"bytes"
	"crypto/sha1"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
)

// Scratch is a temporary file.
type Scratch interface {
	io.ReaderAt
	io.WriterAt
}

// spool keeps the index of a file that is not complete on the disk: 1 GB of redirects has over a million
// responses. An entry is a line: the id of its record, its date, and the line of the index without the name of
// the file, whose offset counts from the end of the head.
type spool struct {
	file    Scratch
	entries int
	size    int64  // of what is in file
	tail    []byte // the lines behind it
}

// spooled is an entry with what revisit records need to know.
type spooled struct {
	Entry
	id       string // of the record
	sum      [sha1.Size]byte
	original bool // later records may refer to this one
}

// spoolBuffer is the size of the tail at which it is written to file.
const spoolBuffer = 64 << 10

// add returns the place of the entry.
func (s *spool) add(e *spooled) (place int64, err error) {
	place = s.size + int64(len(s.tail))
	s.tail = append(append(s.tail, e.id...), ' ')
	s.tail = append(e.Date.UTC().AppendFormat(s.tail, dateFormat), ' ')
	s.tail = appendLine(s.tail, &e.Entry, "")
	s.entries++
	if len(s.tail) >= spoolBuffer {
		err = s.flush()
	}
	return place, err
}

func (s *spool) flush() error {
	n, err := s.file.WriteAt(s.tail, s.size)
	if err != nil {
		return fmt.Errorf("write the index of a WARC file: %w", err)
	}
	s.size += int64(n)
	s.tail = s.tail[:0]
	return nil
}

// reference is what a revisit record says of the record with the same payload.
type reference struct{ id, url, date string }

// read returns the entry at a place.
func (s *spool) read(place int64) (reference, error) {
	var from io.Reader = bytes.NewReader(s.tail[max(0, place-s.size):])
	if place < s.size {
		from = io.NewSectionReader(s.file, place, s.size-place)
	}
	line, err := bufio.NewReaderSize(from, 1<<10).ReadBytes('\n')
	var c cdxj
	fields := bytes.SplitN(line, []byte{' '}, 5)
	if err == nil && len(fields) == 5 {
		err = json.Unmarshal(fields[4], &c)
	}
	if err != nil || c.URL == "" {
		return reference{}, fmt.Errorf("read the index of a WARC file: %w", errors.Join(err, ErrRecord))
	}
	return reference{string(fields[0]), c.URL, string(fields[1])}, nil
}

// sorted writes the index of a file behind the entries, and returns it.
func (s *spool) sorted(name string, headBytes int64) (*io.SectionReader, error) {
	if err := s.flush(); err != nil {
		return nil, err
	}
	file, err := json.Marshal(name)
	if err != nil {
		return nil, fmt.Errorf("write the index of %s: %w", name, err)
	}
	lines := make([]string, 0, s.entries)
	entries := bufio.NewReaderSize(io.NewSectionReader(s.file, 0, s.size), spoolBuffer)
	for range s.entries {
		line, err := entries.ReadBytes('\n')
		if err != nil {
			return nil, fmt.Errorf("read the index of a WARC file: %w", err)
		}
		line = bytes.SplitN(line, []byte{' '}, 3)[2]
		line = bytes.TrimSuffix(line, []byte("\"}\n")) // {..., "offset":"123"}
		digits := bytes.LastIndexByte(line, '"') + 1
		offset, err := strconv.ParseInt(string(line[digits:]), 10, 64)
		if err != nil {
			return nil, fmt.Errorf("read the index of a WARC file: %w", err)
		}
		lines = append(lines, fmt.Sprintf("%s%d\",\"filename\":%s}\n", line[:digits], offset+headBytes, file))
	}
	slices.Sort(lines)
	to := io.NewOffsetWriter(s.file, s.size)
	out := bufio.NewWriterSize(to, spoolBuffer)
	for _, line := range lines {
		if _, err := out.WriteString(line); err != nil {
			return nil, fmt.Errorf("write the index of %s: %w", name, err)
		}
	}
	if err := out.Flush(); err != nil {
		return nil, fmt.Errorf("write the index of %s: %w", name, err)
	}
	end, err := to.Seek(0, io.SeekCurrent)
	return io.NewSectionReader(s.file, s.size, end), err
}
