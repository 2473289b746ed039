package ledger

import (
	"errors"
	"net"
	"testing"
	"time"

	"github.com/lovoo/goka"
)

// Of three connections one has answered, one waits for its answer and one is
// idle. The one that waits is closed.
func TestHangUpClosesWhatWaits(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	defer l.Close()
	d := newDialer(goka.DefaultConfig())
	var conns, brokers []net.Conn
	for range 3 {
		conn, err := d.Dial("tcp", l.Addr().String())
		check(t, err)
		defer conn.Close()
		broker, err := l.Accept()
		check(t, err)
		defer broker.Close()
		conns, brokers = append(conns, conn), append(brokers, broker)
	}
	answered, waiting := conns[0], conns[1]
	_, err = brokers[0].Write([]byte("a"))
	check(t, err)
	_, err = answered.Read(make([]byte, 1))
	check(t, err)
	began := time.Now()
	ended := make(chan error, 1)
	go func() {
		_, err := waiting.Read(make([]byte, 1))
		ended <- err
	}()
	if hung := d.hangUp(began); len(hung) > 0 {
		t.Errorf("%v were closed, and answers are waited for no longer than they may be", hung)
	}
	var hung []string
	for len(hung) == 0 { // until the Read has begun
		hung = d.hangUp(time.Now().Add(time.Hour))
	}
	if err := <-ended; len(hung) != 1 || !errors.Is(err, net.ErrClosed) {
		t.Errorf("%v were closed, and the read ended with %v", hung, err)
	}
	for _, i := range []int{0, 2} {
		if _, err := conns[i].Write([]byte("a")); err != nil {
			t.Errorf("connection %d, which waits for nothing: %v", i, err)
		}
	}
}

func TestClosedDialerRefuses(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	config := goka.DefaultConfig()
	d := newDialer(config)
	dial := func() error {
		conn, err := config.Net.Proxy.Dialer.Dial("tcp", l.Addr().String())
		if err == nil {
			conn.Close()
		}
		return err
	}
	if err := dial(); !config.Net.Proxy.Enable || err != nil {
		t.Fatalf("enabled %v, dial: %v", config.Net.Proxy.Enable, err)
	}
	d.close()
	if err := dial(); !errors.Is(err, errDialerClosed) {
		t.Fatalf("dial after close: %v", err)
	}
}
