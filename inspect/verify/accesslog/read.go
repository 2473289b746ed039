package accesslog

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// maxLine bounds a line; URLs of a crawl have at most 2,048 bytes.
const maxLine = 1 << 20

// ReadFile calls visit with the requests of a file, with their lines, which
// count from 1. A file whose name ends with .gz is unpacked. It returns the number of lines that are
// not of the format, and the first of them. A last line without its end is left out: the server may
// still be writing it.
func ReadFile(name string, f Format, visit func(line int, e Entry)) (bad Bad, err error) {
	file, err := os.Open(name)
	if err != nil {
		return Bad{}, fmt.Errorf("open access log: %w", err)
	}
	defer file.Close()
	var in io.Reader = file
	if strings.HasSuffix(name, ".gz") {
		packed, err := gzip.NewReader(file)
		if err != nil {
			return Bad{}, fmt.Errorf("unpack access log %s: %w", name, err)
		}
		in = packed
	}
	bad, err = Read(in, f, visit)
	if err != nil {
		return bad, fmt.Errorf("read access log %s: %w", name, err)
	}
	return bad, nil
}

// Bad counts lines that are not of their format.
type Bad struct {
	Count int
	// Line and Err are of the first one.
	Line int
	Err  error
}

// Read is ReadFile for an open file that is not packed.
func Read(in io.Reader, f Format, visit func(line int, e Entry)) (bad Bad, err error) {
	lines := bufio.NewReaderSize(in, maxLine)
	for n := 1; ; n++ {
		raw, err := lines.ReadSlice('\n')
		switch {
		case errors.Is(err, io.EOF):
			return bad, nil
		case errors.Is(err, bufio.ErrBufferFull):
			return bad, fmt.Errorf("line %d is longer than %d bytes", n, maxLine)
		case err != nil:
			return bad, err
		}
		line := strings.TrimRight(string(raw), "\r\n")
		if line == "" || line[0] == '#' {
			continue
		}
		e, err := f.Parse(line)
		if err == nil {
			visit(n, e)
			continue
		}
		if bad.Count++; bad.Count == 1 {
			bad.Line, bad.Err = n, err
		}
	}
}
