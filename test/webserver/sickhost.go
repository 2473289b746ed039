package webserver

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"syscall"
	"time"
)

// NoRequest is the path in the log of a connection on which no request was read.
const NoRequest = "-"

// listenNowhere leaves the port closed.
func listenNowhere(*SickServer, *Host, string) error { return nil }

// listenHealthy serves the pages of the host.
func listenHealthy(s *SickServer, _ *Host, address string) error {
	l, err := net.Listen("tcp4", address)
	if err != nil {
		return err
	}
	s.server.serve(l)
	return nil
}

// listenFull listens with a full queue of connections, and accepts no connection. Then Linux
// drops the first packet of each further connection.
func listenFull(s *SickServer, _ *Host, address string) error {
	l, err := net.Listen("tcp4", address)
	if err != nil {
		return err
	}
	s.closers = append(s.closers, l)
	raw, err := l.(*net.TCPListener).SyscallConn()
	if err != nil {
		return err
	}
	// A second listen(2) sets the length of the queue anew.
	var failed error
	if err := raw.Control(func(fd uintptr) { failed = syscall.Listen(int(fd), 0) }); err != nil || failed != nil {
		return errors.Join(err, failed)
	}
	for range 8 {
		conn, err := net.DialTimeout("tcp4", address, 200*time.Millisecond)
		if err != nil {
			return nil
		}
		s.closers = append(s.closers, conn)
	}
	return fmt.Errorf("the queue of connections at %s does not fill", address)
}

// raw calls handle for each connection. The connection is closed when handle returns.
func raw(handle func(*SickServer, *Host, net.Conn)) func(*SickServer, *Host, string) error {
	return func(s *SickServer, h *Host, address string) error {
		l, err := net.Listen("tcp4", address)
		if err != nil {
			return err
		}
		s.closers = append(s.closers, l)
		s.work.Go(func() {
			for {
				conn, err := l.Accept()
				if errors.Is(err, net.ErrClosed) {
					return
				}
				if err != nil {
					continue // of a client that is gone
				}
				s.work.Go(func() {
					defer conn.Close()
					defer context.AfterFunc(s.open, func() { conn.Close() })()
					if s.open.Err() == nil {
						handle(s, h, conn)
					}
				})
			}
		})
		return nil
	}
}

// begin is the entry of a connection.
func (s *SickServer) begin(h *Host) Entry {
	return Entry{Start: s.server.log.now(), Domain: h.Name, Path: NoRequest, Status: StatusAborted}
}

func (s *SickServer) end(e Entry) {
	e.End = s.server.log.now()
	s.server.log.add(e)
}

// request reads a request into the entry of its connection.
func (s *SickServer) request(h *Host, conn net.Conn) (Entry, bool) {
	e := s.begin(h)
	r, err := http.ReadRequest(bufio.NewReader(conn))
	if err != nil {
		return e, false
	}
	e.Start, e.Path, e.UserAgent = s.server.log.now(), r.URL.RequestURI(), r.UserAgent()
	return e, true
}

// untilGone waits until the client closes the connection, or the server does.
func untilGone(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) }

func (s *SickServer) reset(h *Host, conn net.Conn) {
	e := s.begin(h)
	_ = conn.(*net.TCPConn).SetLinger(0) // then Close resets
	s.end(e)
}

func (s *SickServer) hold(h *Host, conn net.Conn) {
	e, _ := s.request(h, conn)
	untilGone(conn)
	s.end(e)
}

// slowBytes is the length of a body that is announced and never sent in full.
const slowBytes = 10_000

const slowHeader = "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: 10000\r\n\r\n"

func (s *SickServer) headersOnly(h *Host, conn net.Conn) {
	e, ok := s.request(h, conn)
	if ok {
		_, _ = io.WriteString(conn, slowHeader) // the client may be gone
	}
	untilGone(conn)
	s.end(e)
}

func (s *SickServer) slowBody(h *Host, conn net.Conn) {
	e, ok := s.request(h, conn)
	defer func() { s.end(e) }()
	if !ok {
		return
	}
	gone := make(chan struct{})
	s.work.Go(func() { untilGone(conn); close(gone) })
	_, err := io.WriteString(conn, slowHeader)
	tick := time.NewTicker(s.options.SlowEvery)
	defer tick.Stop()
	for n := 0; n < slowBytes-1 && err == nil; n++ {
		select {
		case <-gone:
			return
		case <-tick.C:
			_, err = io.WriteString(conn, "x")
		}
	}
}

// refuseHandshake sends the alert handshake_failure (RFC 8446 section 6).
func (s *SickServer) refuseHandshake(h *Host, conn net.Conn) {
	e := s.begin(h)
	_, _ = conn.Read(make([]byte, 16<<10))
	_, _ = conn.Write([]byte{21, 3, 1, 0, 2, 2, 40})
	s.end(e)
}

// wrongCertificate answers only clients that accept any certificate.
func (s *SickServer) wrongCertificate(h *Host, conn net.Conn) {
	encrypted := tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{s.certificate}})
	e, ok := s.request(h, encrypted)
	if ok {
		e.Status = http.StatusOK
		_, _ = io.WriteString(encrypted, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
	}
	s.end(e)
}

// NewCertificate makes a certificate of a name, P-256, signed by itself.
func NewCertificate(name string) (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{name}, NotAfter: time.Now().Add(24 * time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("make a certificate: %w", err)
	}
	leaf, err := x509.ParseCertificate(der)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}, err
}
