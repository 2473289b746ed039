package ledger

import (
	"errors"
	"net"
	"testing"

	"github.com/lovoo/goka"
)

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
