package httpclient

import (
	"net"
	"net/netip"
	"net/url"
	"slices"
	"sync"
)

// keptConns are the open connections, by scheme, host and port. The transport has them, too, and
// does not tell. The addresses of a name need not be known for a request that goes to one:
// records that hold for seconds would be looked up for each request otherwise. If the
// connection is closed before the request, its dial looks the name up and judges the
// addresses, as every dial does.
type keptConns struct {
	mu    sync.Mutex
	conns map[string][]*conn
}

// keptKey is the key of the connections for a URL.
func keptKey(u *url.URL) string {
	port := u.Port()
	switch {
	case port != "":
	case u.Scheme == "https":
		port = "443"
	default:
		port = "80"
	}
	return u.Scheme + "://" + net.JoinHostPort(u.Hostname(), port)
}

// add keeps a connection until it is closed.
func (k *keptConns) add(key string, c *conn) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.conns == nil {
		k.conns = map[string][]*conn{}
	}
	k.conns[key] = append(k.conns[key], c)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forget = func() { k.remove(key, c) }
}

func (k *keptConns) remove(key string, c *conn) {
	k.mu.Lock()
	defer k.mu.Unlock()
	left := slices.DeleteFunc(k.conns[key], func(other *conn) bool { return other == c })
	if len(left) > 0 {
		k.conns[key] = left
	} else {
		delete(k.conns, key)
	}
}

// remote is the address of a connection to which the next request may go, not valid if there
// is none.
func (k *keptConns) remote(key string) netip.Addr {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, c := range k.conns[key] {
		if c.idle() {
			remote, _ := netip.ParseAddrPort(c.remote)
			return remote.Addr()
		}
	}
	return netip.Addr{}
}

// idle tells whether a connection may take one more exchange.
func (c *conn) idle() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.closed && (!c.http1 || len(c.grants) == 0)
}
