package webserver

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// StatusAborted is the status in the log if the client closed the connection before the
// whole response was written (499, as in nginx).
const StatusAborted = 499

// Entry is one request as the server saw it.
type Entry struct {
	// Start and End in nanoseconds since 1970, of one monotonic clock: the wall clock when the
	// server started, plus the time since then. Start is when the request was read, End just
	// before the last bytes of the response were written.
	Start, End int64
	// Domain is the Host header without its port.
	Domain string
	Status int
	// Path with the query.
	Path      string
	UserAgent string
}

func (e Entry) append(b []byte) []byte {
	return fmt.Appendf(b, "%d %d %s %d %s %s\n", e.Start, e.End, e.Domain, e.Status, strings.ReplaceAll(e.Path, " ", "%20"), e.UserAgent)
}

// ReadLog reads what a server wrote to ServerOptions.Log. It ignores a last line
// without its end: the server may still be writing it.
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
	start, errStart := strconv.ParseInt(f[0], 10, 64)
	end, errEnd := strconv.ParseInt(f[1], 10, 64)
	status, errStatus := strconv.Atoi(f[3])
	return Entry{Start: start, End: end, Domain: f[2], Status: status, Path: f[4], UserAgent: f[5]}, errors.Join(errStart, errEnd, errStatus)
}

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
