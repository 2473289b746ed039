package broker

import (
	"net"
	"os"
)

// door is the broker's listener. Its address is the one that clients are told
// in the answer to a metadata request, and come back to.
type door struct {
	net.Listener
	advertised address
}

type address string

func (address) Network() string  { return "tcp" }
func (a address) String() string { return string(a) }

// listen opens the door at an address as in Options.Listen.
func listen(at string) (*door, error) {
	if at == "" {
		at = "127.0.0.1:0"
	}
	l, err := net.Listen("tcp", at)
	if err != nil {
		return nil, err
	}
	host, _, err := net.SplitHostPort(at)
	if err != nil {
		return nil, err
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		return nil, err
	}
	if ip := net.ParseIP(host); host == "" || (ip != nil && ip.IsUnspecified()) {
		host = machineName()
	}
	return &door{l, address(net.JoinHostPort(host, port))}, nil
}

// machineName is what this machine calls itself, if that leads to it: the
// broker's own process comes back to the advertised address as well.
func machineName() string {
	name, err := os.Hostname()
	if err == nil {
		_, err = net.LookupHost(name)
	}
	if err != nil {
		return "127.0.0.1"
	}
	return name
}

// Addr is the advertised address.
func (d *door) Addr() net.Addr { return d.advertised }
