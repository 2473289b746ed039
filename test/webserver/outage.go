package webserver

import (
	"errors"
	"net"
	"sync"
	"time"
)

// outageListener is a port that is closed for a while.
type outageListener struct {
	address string
	closed  chan struct{}
	once    sync.Once

	mu    sync.Mutex
	inner net.Listener  // nil during the outage
	back  chan struct{} // closed at the end of the outage
	conns map[net.Conn]bool
}

// listenWithOutage serves the pages of the host, except during the outage.
func listenWithOutage(s *SickServer, _ *Host, address string) error {
	l := &outageListener{address: address, closed: make(chan struct{}), back: make(chan struct{}), conns: map[net.Conn]bool{}}
	if s.options.OutageFrom > 0 {
		if err := l.open(); err != nil {
			return err
		}
	}
	s.work.Go(func() {
		if !l.wait(time.Until(s.started.Add(s.options.OutageFrom))) {
			return
		}
		l.shut()
		for l.wait(time.Until(s.started.Add(s.options.OutageUntil))) {
			if l.open() == nil {
				close(l.back)
				return
			}
			if !l.wait(10 * time.Millisecond) { // the port is in use
				return
			}
		}
	})
	s.server.serve(l)
	return nil
}

// wait returns false if the listener was closed meanwhile.
func (l *outageListener) wait(d time.Duration) bool {
	select {
	case <-l.closed:
		return false
	case <-time.After(d):
		return true
	}
}

func (l *outageListener) open() error {
	inner, err := net.Listen("tcp4", l.address)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-l.closed:
		return inner.Close()
	default:
	}
	l.inner = inner
	return nil
}

// shut closes the port and its connections.
func (l *outageListener) shut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.inner != nil {
		l.inner.Close()
		l.inner = nil
	}
	for conn := range l.conns {
		conn.Close()
	}
	clear(l.conns)
}

// Accept implements net.Listener. During the outage it waits.
func (l *outageListener) Accept() (net.Conn, error) {
	for {
		l.mu.Lock()
		inner := l.inner
		l.mu.Unlock()
		if inner == nil {
			select {
			case <-l.closed:
				return nil, net.ErrClosed
			case <-l.back:
				continue
			}
		}
		conn, err := inner.Accept()
		if err == nil {
			if l.keep(inner, conn) {
				return outageConn{conn, l}, nil
			}
			conn.Close()
			continue
		}
		if !errors.Is(err, net.ErrClosed) {
			return nil, err
		}
		select {
		case <-l.closed:
			return nil, err
		default: // the outage has begun
		}
	}
}

// keep notes a connection for the outage. It returns false if the outage has begun since
// the connection was accepted.
func (l *outageListener) keep(inner net.Listener, conn net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.inner != inner {
		return false
	}
	l.conns[conn] = true
	return true
}

// Close implements net.Listener.
func (l *outageListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.inner != nil {
		return l.inner.Close()
	}
	return nil
}

// Addr implements net.Listener.
func (l *outageListener) Addr() net.Addr {
	addr, _ := net.ResolveTCPAddr("tcp4", l.address)
	return addr
}

type outageConn struct {
	net.Conn
	of *outageListener
}

// Close implements net.Conn.
func (c outageConn) Close() error {
	c.of.mu.Lock()
	delete(c.of.conns, c.Conn)
	c.of.mu.Unlock()
	return c.Conn.Close()
}
