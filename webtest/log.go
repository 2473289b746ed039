package webtest

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// StatusAborted stands in the log when the client went away before the whole
// response was written (499 as nginx logs it).
const StatusAborted = 499

// Entry is one request as the server saw it.
type Entry struct {
	// Start and End in nanoseconds since 1970, of one monotonic clock: the
	// wall clock as it stood when the server started, plus the time since.
	// Start is when the request was read, End just before the last bytes of
	// the response were written.
	Start, End int64
	// Domain is the Host header without its port.
	Domain string
	Status int
	// Path with the query.
	Path      string
	UserAgent string
}

// append writes e as a line of the log.
func (e Entry) append(b []byte) []byte {
	b = strconv.AppendInt(b, e.Start, 10)
	b = append(b, ' ')
	b = strconv.AppendInt(b, e.End, 10)
	b = append(b, ' ')
	b = append(b, e.Domain...)
	b = append(b, ' ')
	b = strconv.AppendInt(b, int64(e.Status), 10)
	b = append(b, ' ')
	b = append(b, strings.ReplaceAll(e.Path, " ", "%20")...)
	b = append(b, ' ')
	b = append(b, e.UserAgent...)
	return append(b, '\n')
}

// ReadLog reads what a server wrote to ServerOptions.Log. A last line without
// its end is left out: the server may still be writing it.
func ReadLog(r io.Reader) ([]Entry, error) {
	var entries []Entry
	br := bufio.NewReaderSize(r, 1<<16)
	for {
		line, err := br.ReadString('\n')
		if err == io.EOF {
			return entries, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read access log: %w", err)
		}
		e, err := parseEntry(strings.TrimSuffix(line, "\n"))
		if err != nil {
			return nil, fmt.Errorf("read access log, line %d: %w", len(entries)+1, err)
		}
		entries = append(entries, e)
	}
}

func parseEntry(line string) (Entry, error) {
	f := strings.SplitN(line, " ", 6)
	if len(f) != 6 {
		return Entry{}, fmt.Errorf("%d fields, want 6", len(f))
	}
	start, err := strconv.ParseInt(f[0], 10, 64)
	if err != nil {
		return Entry{}, err
	}
	end, err := strconv.ParseInt(f[1], 10, 64)
	if err != nil {
		return Entry{}, err
	}
	status, err := strconv.Atoi(f[3])
	if err != nil {
		return Entry{}, err
	}
	return Entry{Start: start, End: end, Domain: f[2], Status: status, Path: f[4], UserAgent: f[5]}, nil
}

// recorder keeps the access log.
type recorder struct {
	base  time.Time
	pages atomic.Int64

	mu      sync.Mutex
	entries []Entry
	line    []byte
	out     *bufio.Writer // nil: in memory only
}

func newRecorder(w io.Writer) *recorder {
	r := &recorder{base: time.Now()}
	if w != nil {
		r.out = bufio.NewWriterSize(w, 1<<18)
	}
	return r
}

func (r *recorder) now() int64 { return r.base.UnixNano() + int64(time.Since(r.base)) }

func (r *recorder) add(e Entry) {
	if e.Status == 200 && e.Path != robotsPath {
		r.pages.Add(1)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.entries = append(r.entries, e)
	if r.out != nil {
		r.line = e.append(r.line[:0])
		_, _ = r.out.Write(r.line) // an error sticks and is returned by flush
	}
}

func (r *recorder) snapshot() []Entry {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]Entry(nil), r.entries...)
}

func (r *recorder) flush() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.out == nil {
		return nil
	}
	return r.out.Flush()
}
