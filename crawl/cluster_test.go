package crawl_test

import (
	"net"
	"sync"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/weftcrawl/weft/test/freeport"
	"github.com/weftcrawl/weft/test/kafkaserver"
)

// withShortSessions starts Apache Kafka whose groups may have sessions of a
// second. Crawlers whose fellow is frozen need it: the broker in the test's process
// forgets who waits for a group's rebalance longer than a session, and lets it wait
// for a minute.
func withShortSessions(t *testing.T) *kafkaserver.Cluster {
	t.Helper()
	return kafkaserver.Start(t, kafkaserver.Options{Properties: map[string]string{"group.min.session.timeout.ms": "1000"}})
}

// cluster is a broker in the test's process that crawlers in processes of their
// own reach over a road, which can be cut.
type cluster struct {
	*road
	cluster *kfake.Cluster
}

// newCluster opens a broker that keeps nothing on disk.
func newCluster(t *testing.T) *cluster {
	t.Helper()
	inner, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &cluster{road: newRoad(t, inner.Addr().String())}
	c.cluster, err = kfake.NewCluster(
		kfake.NumBrokers(1),
		kfake.ListenFn(func(string, string) (net.Listener, error) { return behind{inner, c.addr}, nil }),
		kfake.BrokerConfigs(map[string]string{
			"message.max.bytes":            "16777216",
			"group.min.session.timeout.ms": "1000",
		}),
	)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.close()
		c.cluster.Close()
	})
	return c
}

// behind is a listener that clients are told to reach at another address.
type behind struct {
	net.Listener
	addr net.Addr
}

func (b behind) Addr() net.Addr { return b.addr }

// road forwards TCP connections to an address, unless it is closed or held.
type road struct {
	to   string
	addr net.Addr

	mu       sync.Mutex
	listener net.Listener // nil: closed, connections are refused
	conns    map[net.Conn]bool
	held     chan struct{} // closed: bytes flow
	serving  sync.WaitGroup
}

func newRoad(t *testing.T, to string) *road {
	t.Helper()
	r := &road{to: to, conns: map[net.Conn]bool{}, held: make(chan struct{})}
	close(r.held)
	addrs, err := freeport.Loopback(1) // it is closed and opened again
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp4", addrs[0])
	if err != nil {
		t.Fatal(err)
	}
	r.addr = l.Addr()
	r.serve(l)
	return r
}

func (r *road) serve(l net.Listener) {
	r.mu.Lock()
	r.listener = l
	r.mu.Unlock()
	r.serving.Go(func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp4", r.to)
			if err != nil {
				in.Close()
				continue
			}
			r.mu.Lock()
			r.conns[in], r.conns[out] = true, true
			if r.listener != l { // closed meanwhile, and cut has not seen these
				in.Close()
				out.Close()
			}
			r.mu.Unlock()
			r.serving.Go(func() { r.carry(in, out) })
			r.serving.Go(func() { r.carry(out, in) })
		}
	})
}

// carry copies until either end is closed, and stands still while held.
func (r *road) carry(from, to net.Conn) {
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		r.mu.Lock()
		held := r.held
		r.mu.Unlock()
		<-held
		if n > 0 && err == nil {
			_, err = to.Write(buf[:n])
		}
		if err != nil {
			break
		}
	}
	from.Close()
	to.Close()
	r.mu.Lock()
	delete(r.conns, from)
	delete(r.conns, to)
	r.mu.Unlock()
}

// cut ends all connections; new ones are taken.
func (r *road) cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for c := range r.conns {
		// A reset, as from a machine that was switched off and on.
		if tcp, ok := c.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
		c.Close()
	}
}

// close cuts, and refuses connections until open.
func (r *road) close() {
	r.mu.Lock()
	if r.listener != nil {
		r.listener.Close()
		r.listener = nil
	}
	r.mu.Unlock()
	r.cut()
	r.serving.Wait()
}

// open takes connections again.
func (r *road) open(t *testing.T) {
	t.Helper()
	l, err := net.Listen("tcp4", r.addr.String())
	if err != nil {
		t.Fatal(err)
	}
	r.serve(l)
}

// hold lets no byte pass until release is called; connections stand.
func (r *road) hold() (release func()) {
	held := make(chan struct{})
	r.mu.Lock()
	r.held = held
	r.mu.Unlock()
	return func() { close(held) }
}
