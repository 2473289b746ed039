package webserver

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"iter"
	"net"
	"strconv"
	"sync"
	"time"
)

// SickServer serves a web of SickOptions, and its names. All methods may be called
// concurrently.
type SickServer struct {
	options     SickOptions
	web         *sickWeb
	server      *Server
	names       *nameServer
	started     time.Time
	certificate tls.Certificate

	open    context.Context // until Close
	cancel  context.CancelFunc
	closers []io.Closer // listeners, and connections that fill their queues
	work    sync.WaitGroup
}

// ServeSick starts to serve a web. Each host has an address of its own in 127.0.0.0/8, all of
// which Linux has on the loopback interface.
func ServeSick(options SickOptions) (*SickServer, error) {
	o := options.WithDefaults()
	if err := o.Validate(); err != nil {
		return nil, err
	}
	web, err := newSickWeb(o)
	if err != nil {
		return nil, err
	}
	certificate, err := NewCertificate("other.test")
	if err != nil {
		return nil, err
	}
	// The port that is free at one address may be in use at another.
	for attempt := 1; ; attempt++ {
		s := &SickServer{options: o, web: web, started: time.Now(), certificate: certificate}
		s.open, s.cancel = context.WithCancel(context.Background())
		err := s.listen()
		if err == nil {
			return s, nil
		}
		if err = errors.Join(err, s.Close()); o.Port != 0 || attempt == 10 {
			return nil, err
		}
	}
}

// listen opens all ports.
func (s *SickServer) listen() (err error) {
	port := s.options.Port
	if port == 0 {
		l, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			return err
		}
		port = l.Addr().(*net.TCPAddr).Port
		if err := l.Close(); err != nil {
			return err
		}
	}
	s.server = newServer(sickSite{s}, ServerOptions{}, port)
	if s.names, err = serveNames(s.options.NameServer, s.web.records()); err != nil {
		return err
	}
	for _, h := range s.web.hosts {
		listen := listenHealthy
		if h.listen != nil {
			listen = h.listen
		}
		if err := listen(s, h, net.JoinHostPort(h.address, strconv.Itoa(h.port(port)))); err != nil {
			return err
		}
	}
	return nil
}

// sickSite is the Site of a SickServer.
type sickSite struct{ *SickServer }

// Domains implements Site.
func (s sickSite) Domains() []string { return s.web.Domains() }

// Answer implements Site.
func (s sickSite) Answer(domain string, port int, path string, buf []byte) Response {
	return s.answer(domain, port, path, buf)
}

// Hosts are all names of the web: healthy hosts, sick hosts and dead names.
func (s *SickServer) Hosts() []*Host { return s.web.hosts }

// Host returns the host of a name; nil: there is none.
func (s *SickServer) Host(name string) *Host { return s.web.byName[name] }

// URL of a path of a host.
func (s *SickServer) URL(h *Host, path string) string { return h.url(s.server.port, path) }

// Seeds are the root URLs of the healthy hosts.
func (s *SickServer) Seeds() (seeds []string) {
	for _, h := range s.web.hosts {
		if h.Healthy() {
			seeds = append(seeds, s.URL(h, "/"))
		}
	}
	return seeds
}

// Pages yields host and path of all pages of healthy hosts that links reach. They are the
// same with and without Unlinked.
func (s *SickServer) Pages() iter.Seq2[string, string] { return s.web.pages() }

// Document names what a path of a healthy host shows. Paths of a host that show the same
// document have the same name: of a directory and its index file, for example.
func (s *SickServer) Document(h *Host, path string) string {
	if tree, ok := h.site.(*Tree); ok {
		return tree.document(path)
	}
	return path
}

// GoodPages are the paths of a sick host that a crawler should have fetched in the end.
func (s *SickServer) GoodPages(h *Host) (paths []string) {
	for n := range s.options.SickPages {
		if h.good(n) {
			paths = append(paths, s.web.sickPath(h, n))
		}
	}
	return paths
}

// Entries is a copy of the access log so far. A connection on which no request was read has
// the path NoRequest. What was not answered in full has the status StatusAborted.
func (s *SickServer) Entries() []Entry { return s.server.Entries() }

// LookUps counts the questions to the name server for the name of a host.
func (s *SickServer) LookUps(h *Host) int { return s.names.lookUps(h.Name) }

// Resolver asks the name server of the web. A look-up that is given up ends at once.
func (s *SickServer) Resolver() *net.Resolver {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, "udp4", s.names.conn.LocalAddr().String())
		if err == nil {
			context.AfterFunc(ctx, func() { conn.Close() })
		}
		return conn, err
	}
	return &net.Resolver{PreferGo: true, Dial: dial}
}

// Close ends all connections. The log stays readable.
func (s *SickServer) Close() (err error) {
	s.cancel()
	for _, c := range s.closers {
		err = errors.Join(err, c.Close())
	}
	if s.server != nil {
		err = errors.Join(err, s.server.Close())
	}
	if s.names != nil {
		err = errors.Join(err, s.names.close())
	}
	s.work.Wait()
	return err
}
