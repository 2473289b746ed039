package kafkatest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
)

// Ports of brokers lie below those that Linux gives to outgoing connections
// (32768 on): one that is started again must find its own free.
const (
	firstPort = 20000
	lastPort  = 32000
)

// freePorts returns n loopback addresses that nobody listens at.
func freePorts(n int) (addrs []string, err error) {
	for range 100 * n {
		if len(addrs) == n {
			return addrs, nil
		}
		addr := fmt.Sprintf("127.0.0.1:%d", firstPort+rand.IntN(lastPort-firstPort))
		l, err := net.Listen("tcp4", addr)
		if err != nil {
			continue
		}
		defer l.Close() // together, so that none comes twice
		addrs = append(addrs, addr)
	}
	return nil, errors.New("there are no free ports")
}
