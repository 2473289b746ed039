package webserver

import (
	"net"
	"net/http"
	"time"
)

// listenWithOutage serves the pages of the host, except during the outage. It has a server of its
// own, so that its connections end with its port.
func listenWithOutage(s *SickServer, _ *Host, address string) error {
	before, after := s.server.httpServer(), s.server.httpServer()
	listen := func(server *http.Server) error {
		l, err := net.Listen("tcp4", address)
		if err == nil {
			s.server.serveBy(server, l)
		}
		return err
	}
	if s.options.OutageFrom > 0 {
		if err := listen(before); err != nil {
			return err
		}
	}
	s.work.Go(func() {
		up := s.wait(time.Until(s.started.Add(s.options.OutageFrom)))
		_ = before.Close() // an error is of a connection, and all are broken
		if !up || !s.wait(time.Until(s.started.Add(s.options.OutageUntil))) {
			return
		}
		defer func() { _ = after.Close() }() // as before
		for listen(after) != nil {           // the port is in use
			if !s.wait(10 * time.Millisecond) {
				return
			}
		}
		<-s.open.Done()
	})
	return nil
}

// wait returns false if the web was closed meanwhile.
func (s *SickServer) wait(d time.Duration) bool {
	select {
	case <-s.open.Done():
		return false
	case <-time.After(d):
		return true
	}
}
