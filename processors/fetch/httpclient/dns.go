package httpclient

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

// unknownTTL is the TTL of an answer whose records were not seen.
const unknownTTL time.Duration = -1

// observed is Go's own resolver, with everything that it does: resolv.conf, search lists,
// the hosts file, time-outs, and TCP after an answer that is cut. It does not tell how
// long records hold. So observed reads the messages that pass on its connections.
type observed struct {
	resolver Resolver // observe makes its connections
}

// dialDNS connects to a server of names, as net.Resolver.Dial does.
type dialDNS func(ctx context.Context, network, address string) (net.Conn, error)

func newObserved(dial dialDNS) observed {
	return observed{families{&net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return observe(ctx, c)
	}}}}
}

func (o observed) LookupNetIP(ctx context.Context, network, name string) ([]netip.Addr, error) {
	return o.resolver.LookupNetIP(ctx, network, name)
}

// familyPatience is how long the IPv4 addresses of a name wait for its IPv6 addresses (RFC 8305
// section 3, Resolution Delay). It is shorter than answerPatience. It is longer than the 50 ms of the
// RFC: the answer is kept, so a page that waits costs less than a family that is missing.
const familyPatience = time.Second

// errFamilyPatience ends a question about IPv6.
var errFamilyPatience = errors.New("there are IPv4 addresses, and no answer about IPv6")

// LookupTTL implements TTLResolver. Some servers know the IPv4 addresses of a name, and do not
// answer the question about its IPv6 addresses (RFC 4074 section 4.1). Go's resolver waits for that
// answer for longer than a look-up may take. So familyPatience after the IPv4 addresses came, the
// connections for the other question are closed. Then the resolver returns what it has. IPv6
// addresses do not end the question about IPv4: without its answer, most hosts could not be reached.
func (o observed) LookupTTL(ctx context.Context, network, name string) ([]netip.Addr, time.Duration, error) {
	seen := &ttls{positive: unknownTTL, negative: unknownTTL}
	defer seen.end()
	addrs, err := o.resolver.LookupNetIP(context.WithValue(ctx, ttlsKey{}, seen), network, name)
	seen.mu.Lock() // a question may still be open
	defer seen.mu.Unlock()
	if len(addrs) == 0 {
		return addrs, seen.negative, err
	}
	return addrs, seen.positive, err
}

// ttls is how long the answers hold that a look-up got: the least of those with addresses,
// and of those without. A name that has IPv4 addresses only has an answer of each kind.
type ttls struct {
	mu                 sync.Mutex
	positive, negative time.Duration
	// none has the questions to which a server answered that there is no address.
	none []dnsmessage.Question

	conns []net.Conn  // all that were opened
	late  *time.Timer // calls closeConns, since the answer with IPv4 addresses
	ended bool        // no connection may be opened any more
}

// saidNone tells whether servers answered both questions about a name, and neither answer has an
// address. So no server failed.
func saidNone(ctx context.Context, name string) bool {
	seen, _ := ctx.Value(ttlsKey{}).(*ttls)
	if seen == nil {
		return false
	}
	seen.mu.Lock()
	defer seen.mu.Unlock()
	said := func(family dnsmessage.Type) bool {
		return slices.ContainsFunc(seen.none, func(q dnsmessage.Question) bool {
			return q.Type == family && strings.EqualFold(strings.TrimSuffix(q.Name.String(), "."), strings.TrimSuffix(name, "."))
		})
	}
	return said(dnsmessage.TypeA) && said(dnsmessage.TypeAAAA)
}

type ttlsKey struct{}

// opened notes a connection. It closes the connection if there may be no more.
func (t *ttls) opened(c net.Conn) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		_ = c.Close()
		return errFamilyPatience
	}
	t.conns = append(t.conns, c)
	return nil
}

// closeConns ends all questions that are still open.
func (t *ttls) closeConns() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended = true
	for _, c := range t.conns {
		_ = c.Close()
	}
}

// end stops the timer: the look-up is over.
func (t *ttls) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.late != nil {
		t.late.Stop()
	}
}

func (t *ttls) see(positive bool, ttl time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	least := &t.negative
	if positive {
		least = &t.positive
	}
	if *least == unknownTTL || ttl < *least {
		*least = ttl
	}
}

// seeIPv4 begins the wait for the answer about IPv6.
func (t *ttls) seeIPv4() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.late == nil {
		t.late = time.AfterFunc(familyPatience, t.closeConns)
	}
}

// observe returns a connection to a server of names that notes the TTLs of answers. Go's
// resolver tells from the type what is a connection of datagrams.
func observe(ctx context.Context, c net.Conn) (net.Conn, error) {
	seen, _ := ctx.Value(ttlsKey{}).(*ttls)
	if seen == nil {
		return c, nil
	}
	if err := seen.opened(c); err != nil {
		return nil, err
	}
	if udp, ok := c.(*net.UDPConn); ok {
		return &datagrams{UDPConn: udp, seen: seen}, nil
	}
	return &stream{Conn: c, seen: seen}, nil
}

// datagrams is a connection with a message in each datagram.
type datagrams struct {
	*net.UDPConn
	seen  *ttls
	asked []byte
}

func (d *datagrams) Write(b []byte) (int, error) {
	d.asked = append(d.asked[:0], b...)
	return d.UDPConn.Write(b)
}

func (d *datagrams) Read(b []byte) (int, error) {
	n, err := d.UDPConn.Read(b)
	if err == nil {
		d.seen.read(d.asked, b[:n], false)
	}
	return n, err
}

// stream is a connection with messages after one another, each after two bytes with its
// length (RFC 1035 section 4.2.2).
type stream struct {
	net.Conn
	seen     *ttls
	asked    []byte
	unparsed []byte
}

func (s *stream) Write(b []byte) (int, error) {
	if len(b) > 2 { // the resolver writes a message at once
		s.asked = append(s.asked[:0], b[2:]...)
	}
	return s.Conn.Write(b)
}

func (s *stream) Read(b []byte) (int, error) {
	n, err := s.Conn.Read(b)
	s.unparsed = append(s.unparsed, b[:n]...)
	for len(s.unparsed) >= 2 {
		end := 2 + int(binary.BigEndian.Uint16(s.unparsed))
		if len(s.unparsed) < end {
			break
		}
		s.seen.read(s.asked, s.unparsed[2:end], true)
		s.unparsed = s.unparsed[end:]
	}
	return n, err
}

// read notes how long an answer holds. Messages that the resolver ignores are ignored: those
// that do not answer what was asked, and a datagram that is cut. It also ignores a message that
// cannot be read, or that says that the server has failed. whole: the message came over a
// stream.
func (t *ttls) read(asked, message []byte, whole bool) {
	question, id, ok := questionOf(asked)
	if !ok {
		return
	}
	var p dnsmessage.Parser
	h, err := p.Start(message)
	if err != nil || !h.Response || h.ID != id || h.Truncated && !whole ||
		h.RCode != dnsmessage.RCodeSuccess && h.RCode != dnsmessage.RCodeNameError {
		return
	}
	if q, err := p.Question(); err != nil || q.Type != question.Type || q.Class != question.Class ||
		!strings.EqualFold(q.Name.String(), question.Name.String()) || p.SkipAllQuestions() != nil {
		return
	}
	chain, found, err := readAnswers(&p, question.Type)
	switch {
	case err != nil:
	case found && h.RCode == dnsmessage.RCodeSuccess:
		t.see(true, chain)
		if question.Type == dnsmessage.TypeA {
			t.seeIPv4()
		}
	default:
		ttl := readNegative(&p)
		if chain != unknownTTL {
			ttl = min(ttl, chain)
		}
		t.see(false, ttl)
		if h.Authoritative || h.RecursionAvailable { // others know nothing of the name
			t.mu.Lock()
			t.none = append(t.none, question)
			t.mu.Unlock()
		}
	}
}

func questionOf(asked []byte) (q dnsmessage.Question, id uint16, ok bool) {
	var p dnsmessage.Parser
	h, err := p.Start(asked)
	if err != nil {
		return q, 0, false
	}
	q, err = p.Question()
	return q, h.ID, err == nil
}

// readAnswers reads the answers of a message. least is the smallest TTL of the addresses and
// of the aliases that lead to them; found tells that there are addresses of that type.
func readAnswers(p *dnsmessage.Parser, asked dnsmessage.Type) (least time.Duration, found bool, err error) {
	least = unknownTTL
	for {
		h, err := p.AnswerHeader()
		if err == dnsmessage.ErrSectionDone {
			return least, found, nil
		}
		if err == nil {
			err = p.SkipAnswer()
		}
		if err != nil {
			return 0, false, err
		}
		const dname dnsmessage.Type = 39 // RFC 6672
		switch h.Type {
		case asked:
			found = true
		case dnsmessage.TypeCNAME, dname:
		default:
			continue // signatures, for instance
		}
		if ttl := secondsOf(h.TTL); least == unknownTTL || ttl < least {
			least = ttl
		}
	}
}

// readNegative is how long an answer without addresses holds, by the SOA record of its
// authority (RFC 2308 section 5). Without that it does not hold.
func readNegative(p *dnsmessage.Parser) time.Duration {
	for {
		h, err := p.AuthorityHeader()
		if err != nil {
			return 0
		}
		if h.Type != dnsmessage.TypeSOA {
			if p.SkipAuthority() != nil {
				return 0
			}
			continue
		}
		soa, err := p.SOAResource()
		if err != nil {
			return 0
		}
		return min(secondsOf(h.TTL), secondsOf(soa.MinTTL))
	}
}

// secondsOf is a TTL. One with the highest bit is 0 (RFC 2181 section 8).
func secondsOf(ttl uint32) time.Duration {
	if ttl > 1<<31-1 {
		return 0
	}
	return time.Duration(ttl) * time.Second
}
