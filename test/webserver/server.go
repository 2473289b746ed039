package webserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"github.com/klauspost/compress/gzhttp"
	"github.com/klauspost/compress/gzip"
)

// ServerOptions are how a site is served.
type ServerOptions struct {
	// Port on which every domain is served; 0 picks a free one.
	Port int
	// Log receives the access log, one line a request, buffered until
	// FlushLog or Close; nil keeps it in memory only.
	Log io.Writer
	// Latency added before each response.
	Latency time.Duration
	// Gzip compresses responses for clients that accept gzip, at level 1 as nginx does.
	Gzip bool
}

// Server serves a Site on the loopback interface, and nowhere else, until
// Close. All methods may be called concurrently.
type Server struct {
	site    Site
	options ServerOptions
	port    int
	log     *recorder
	server  *http.Server
	bufs    sync.Pool
	// serving ends when no listener is served any more; failed has what went wrong.
	serving sync.WaitGroup
	failed  chan error
	// ending is held for reading by responses whose end the client may have seen, while the log
	// does not have them yet.
	ending sync.RWMutex
}

// Serve starts to serve site.
func Serve(site Site, options ServerOptions) (*Server, error) {
	l, err := net.Listen("tcp4", ":"+strconv.Itoa(options.Port))
	if err != nil {
		return nil, fmt.Errorf("serve a web: %w", err)
	}
	s := newServer(site, options, l.Addr().(*net.TCPAddr).Port)
	s.serve(loopbackListener{l})
	return s, nil
}

func newServer(site Site, options ServerOptions, port int) *Server {
	s := &Server{
		site:    site,
		options: options,
		port:    port,
		log:     newRecorder(options.Log),
		bufs:    sync.Pool{New: func() any { b := make([]byte, 0, 64<<10); return &b }},
		failed:  make(chan error, 1),
	}
	s.server = s.httpServer()
	return s
}

func (s *Server) httpServer() *http.Server {
	server := &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}
	if s.options.Gzip {
		compress, err := gzhttp.NewWrapper(gzhttp.CompressionLevel(gzip.BestSpeed), gzhttp.EnableZstd(false))
		if err != nil {
			panic("webserver: " + err.Error()) // both options are valid
		}
		server.Handler = compress(s)
	}
	return server
}

// serve answers what comes to a listener until Close.
func (s *Server) serve(l net.Listener) { s.serveBy(s.server, l) }

// serveBy is serve by a server that the caller closes.
func (s *Server) serveBy(server *http.Server, l net.Listener) {
	s.serving.Go(func() {
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			select {
			case s.failed <- err:
			default: // the first failure is enough
			}
		}
	})
}

// loopbackListener drops connections from other machines. It listens on all addresses,
// because there is no other way to listen on all of 127.0.0.0/8.
type loopbackListener struct{ net.Listener }

func (l loopbackListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil || conn.LocalAddr().(*net.TCPAddr).IP.IsLoopback() {
			return conn, err
		}
		conn.Close()
	}
}

// Port of every domain.
func (s *Server) Port() int { return s.port }

// Seeds are the root URLs of all domains.
func (s *Server) Seeds() []string {
	var seeds []string
	for _, d := range s.site.Domains() {
		seeds = append(seeds, Origin(d, s.port)+"/")
	}
	return seeds
}

// Entries is a copy of the access log so far, in the order in which responses ended. It has all
// responses whose end a client has seen.
func (s *Server) Entries() []Entry {
	s.ending.Lock()
	defer s.ending.Unlock()
	return s.log.snapshot()
}

// PagesServed counts responses with status 200, without those to /robots.txt.
func (s *Server) PagesServed() int64 { return s.log.pages.Load() }

// FlushLog writes all entries that are still buffered to ServerOptions.Log.
func (s *Server) FlushLog() error {
	s.ending.Lock()
	defer s.ending.Unlock()
	return s.log.flush()
}

// Close ends all connections and flushes the log.
func (s *Server) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	// Connections that the client keeps alive are idle and end at once.
	err := s.server.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = s.server.Close()
	}
	s.serving.Wait()
	select {
	case failed := <-s.failed:
		err = errors.Join(err, failed)
	default:
	}
	return errors.Join(err, s.log.flush())
}

// tail is how much of a long body is written after the time of the end is noted.
const tail = 64 << 10

// ServeHTTP answers one request and logs it.
//
// The time of the end is noted just before the kernel gets the last bytes. The client
// cannot have seen the end of the response earlier, so that an interval from this time
// on is never shorter than the client's. After the write, the time would depend on when
// this goroutine runs next: on a machine that the crawler shares that may be
// milliseconds later.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e := Entry{Start: s.log.now(), Path: r.URL.RequestURI(), UserAgent: r.UserAgent()}
	domain, _, noPort := net.SplitHostPort(r.Host)
	if noPort != nil {
		domain = r.Host
	}
	e.Domain = domain
	if s.options.Latency > 0 {
		time.Sleep(s.options.Latency)
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		e.Status, e.End = http.StatusMethodNotAllowed, s.log.now()
		w.WriteHeader(e.Status)
		s.log.add(e)
		return
	}
	buf := s.bufs.Get().(*[]byte)
	resp := s.site.Answer(domain, s.port, e.Path, (*buf)[:0])
	e.Status = resp.Status
	h := w.Header()
	if resp.Type != "" {
		h.Set("Content-Type", resp.Type)
	}
	if resp.Location != "" {
		h.Set("Location", resp.Location)
	}
	if resp.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(int((resp.RetryAfter+time.Second-1)/time.Second)))
	}
	h.Set("Content-Length", strconv.Itoa(len(resp.Body)))
	w.WriteHeader(resp.Status)
	if r.Method == http.MethodGet {
		var err error
		head := max(len(resp.Body)-tail, 0)
		if head > 0 {
			_, err = w.Write(resp.Body[:head])
		}
		s.ending.RLock()
		defer s.ending.RUnlock()
		e.End = s.log.now()
		if err == nil {
			_, err = w.Write(resp.Body[head:])
		}
		if err != nil {
			e.Status = StatusAborted
		}
	} else {
		e.End = s.log.now()
	}
	if cap(resp.Body) > cap(*buf) {
		*buf = resp.Body[:0]
	}
	s.bufs.Put(buf)
	s.log.add(e)
}

// Site answers for every domain of a web. It is called concurrently.
type Site interface {
	// Domains lists the addresses that the site answers for, without a port.
	Domains() []string
	// Answer returns the response to a GET of path (with its query) at
	// domain. The body may be appended to buf, which belongs to the call.
	Answer(domain string, port int, path string, buf []byte) Response
}

// Response is the answer of a Site.
type Response struct {
	Status int
	// Type is the Content-Type.
	Type string
	// Location of a redirect, absolute path or URL.
	Location string
	// RetryAfter is sent in whole seconds, rounded up; 0: it is not sent.
	RetryAfter time.Duration
	Body       []byte
}

// maxDomains is how many addresses DomainAddr has.
const maxDomains = 50_000

// DomainAddr is the address of domain number n: 127.1.0.1, 127.1.0.2, … The
// last byte is 1 to 250, so that no address looks like a network's own.
func DomainAddr(n int) string {
	return netip.AddrFrom4([4]byte{127, 1, byte(n / 250), byte(n%250 + 1)}).String()
}

func addresses(n int) []string {
	all := make([]string, n)
	for d := range all {
		all[d] = DomainAddr(d)
	}
	return all
}

// domainNumber is the inverse of DomainAddr.
func domainNumber(addr string) (int, bool) {
	ip, err := netip.ParseAddr(addr)
	if err != nil || !ip.Is4() {
		return 0, false
	}
	b := ip.As4()
	if b[0] != 127 || b[1] != 1 || b[3] == 0 || b[3] > 250 {
		return 0, false
	}
	return int(b[2])*250 + int(b[3]) - 1, true
}

// Origin is the root URL of a domain, without a trailing slash.
func Origin(domain string, port int) string {
	return fmt.Sprintf("http://%s:%d", domain, port)
}
