// Package freeport finds addresses for servers of tests and benchmarks that do not
// find their own, or that have to come back at the same.
package freeport

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
)

// Ports lie below those that Linux gives to outgoing connections and to listeners
// that ask for any (32768 on): a server that is started later, or again, finds its
// own free.
const (
	firstPort = 20000
	lastPort  = 32000
)

// taken are UDP sockets at the same addresses, which are not used. They keep
// other processes that use this package away until this one ends.
var taken struct {
	sync.Mutex
	sockets []net.PacketConn
}

// Loopback returns n addresses of loopback, host:port, that no TCP listens at. They
// are this process's until it ends: no other call returns them.
func Loopback(n int) (addrs []string, err error) {
	taken.Lock()
	defer taken.Unlock()
	for range 100 * n {
		if len(addrs) == n {
			return addrs, nil
		}
		addr := fmt.Sprintf("127.0.0.1:%d", firstPort+rand.IntN(lastPort-firstPort))
		socket, err := net.ListenPacket("udp4", addr)
		if err != nil {
			continue
		}
		listener, err := net.Listen("tcp4", addr)
		if err != nil {
			_ = socket.Close() // nothing is sent
			continue
		}
		listener.Close()
		taken.sockets = append(taken.sockets, socket)
		addrs = append(addrs, addr)
	}
	return nil, errors.New("there are no free ports")
}
