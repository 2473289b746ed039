package httpclient

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

// zone is what a server of names answers to a question.
type zone func(q dnsmessage.Question, tcp bool) reply

// reply is a message without its question.
type reply struct {
	code      dnsmessage.RCode
	truncated bool
	silent    bool // no message
	answers   []record
	authority []record
	forged    *reply // comes first, with another id
}

// record is a resource record; it has the name of the question.
type record struct {
	ttl  uint32
	body dnsmessage.ResourceBody
}

// newNameServer starts a server on loopback, for UDP and TCP, and returns what connects
// to it.
func newNameServer(t *testing.T, answer zone) dialDNS {
	t.Helper()
	udp, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	all.Go(func() {
		b := make([]byte, 1<<16)
		for {
			n, from, err := udp.ReadFrom(b)
			if err != nil {
				return
			}
			for _, message := range messages(b[:n], false, answer) {
				_, _ = udp.WriteTo(message, from)
			}
		}
	})
	all.Go(func() {
		for {
			c, err := tcp.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				defer c.Close()
				b := make([]byte, 1<<16)
				if _, err := io.ReadFull(c, b[:2]); err != nil {
					return
				}
				n := binary.BigEndian.Uint16(b)
				if _, err := io.ReadFull(c, b[:n]); err != nil {
					return
				}
				for _, message := range messages(b[:n], true, answer) {
					message = append(binary.BigEndian.AppendUint16(nil, uint16(len(message))), message...)
					_, _ = c.Write(message[:1]) // in pieces
					_, _ = c.Write(message[1:5])
					_, _ = c.Write(message[5:])
				}
				_, _ = c.Read(b)
			})
		}
	})
	t.Cleanup(func() {
		udp.Close()
		tcp.Close()
		all.Wait()
	})
	return func(ctx context.Context, network, _ string) (net.Conn, error) {
		address := udp.LocalAddr().String()
		if network == "tcp" {
			address = tcp.Addr().String()
		}
		return new(net.Dialer).DialContext(ctx, network, address)
	}
}

// messages are the answers to a message.
func messages(asked []byte, tcp bool, answer zone) (all [][]byte) {
	q, id, ok := questionOf(asked)
	if !ok {
		return nil
	}
	r := answer(q, tcp)
	if r.silent {
		return nil
	}
	if r.forged != nil {
		all = append(all, r.forged.message(q, id+1))
	}
	return append(all, r.message(q, id))
}

func (r reply) message(q dnsmessage.Question, id uint16) []byte {
	resources := func(records []record) (all []dnsmessage.Resource) {
		for _, r := range records {
			all = append(all, dnsmessage.Resource{Header: dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, TTL: r.ttl}, Body: r.body})
		}
		return all
	}
	m := dnsmessage.Message{
		Header:    dnsmessage.Header{ID: id, Response: true, RecursionAvailable: true, RCode: r.code, Truncated: r.truncated},
		Questions: []dnsmessage.Question{q}, Answers: resources(r.answers), Authorities: resources(r.authority),
	}
	b, err := m.Pack()
	if err != nil {
		panic(err)
	}
	return b
}

func ipv4(ttl uint32) record { return record{ttl, &dnsmessage.AResource{A: [4]byte{192, 0, 2, 1}}} }
func ipv6(ttl uint32) record {
	return record{ttl, &dnsmessage.AAAAResource{AAAA: [16]byte{32, 1, 13, 184, 15: 1}}}
}

func alias(ttl uint32) record {
	return record{ttl, &dnsmessage.CNAMEResource{CNAME: dnsmessage.MustNewName("b.test.")}}
}

func soa(ttl, minimum uint32) record {
	name := dnsmessage.MustNewName("test.")
	return record{ttl, &dnsmessage.SOAResource{NS: name, MBox: name, MinTTL: minimum}}
}

// families is a zone that answers questions for both families.
func both(v4, v6 reply) zone {
	return func(q dnsmessage.Question, _ bool) reply {
		if q.Type == dnsmessage.TypeAAAA {
			return v6
		}
		return v4
	}
}

// The TTL of an answer is read from what Go's resolver is sent, over UDP and TCP.
func TestTTLsAreRead(t *testing.T) {
	const week = 7 * 24 * 3600
	none := reply{authority: []record{soa(700, 60)}}
	missing := func(authority ...record) reply {
		return reply{code: dnsmessage.RCodeNameError, authority: authority}
	}
	for name, c := range map[string]struct {
		zone  zone
		addrs int
		ttl   time.Duration
		class Class
	}{
		"an address":         {both(reply{answers: []record{ipv4(300)}}, none), 1, 300 * time.Second, ClassNone},
		"of both families":   {both(reply{answers: []record{ipv4(300), ipv4(200)}}, reply{answers: []record{ipv6(40)}}), 3, 40 * time.Second, ClassNone},
		"an alias":           {both(reply{answers: []record{alias(50), ipv4(3000)}}, none), 1, 50 * time.Second, ClassNone},
		"a lasting alias":    {both(reply{answers: []record{alias(3000), ipv4(70)}}, none), 1, 70 * time.Second, ClassNone},
		"other records":      {both(reply{answers: []record{ipv4(300), {7, &dnsmessage.TXTResource{TXT: []string{"x"}}}}}, none), 1, 300 * time.Second, ClassNone},
		"a week":             {both(reply{answers: []record{ipv4(week)}}, none), 1, week * time.Second, ClassNone},
		"none at all":        {both(reply{answers: []record{ipv4(0)}}, none), 1, 0, ClassNone},
		"the highest bit":    {both(reply{answers: []record{ipv4(1 << 31)}}, none), 1, 0, ClassNone},
		"no name, a minimum": {both(missing(soa(900, 120)), missing(soa(900, 120))), 0, 120 * time.Second, ClassDNSNotFound},
		"no name, a TTL":     {both(missing(soa(90, 120)), missing(soa(80, 120))), 0, 80 * time.Second, ClassDNSNotFound},
		"no name, no SOA":    {both(missing(), missing(soa(90, 120))), 0, 0, ClassDNSNotFound},
		"no addresses":       {both(none, none), 0, 60 * time.Second, ClassDNSNotFound},
		"an alias to nothing": {both(reply{answers: []record{alias(20)}, authority: []record{soa(700, 60)}}, none), 0, 20 * time.Second,
			ClassDNSNotFound},
		"a server that fails": {both(reply{code: dnsmessage.RCodeServerFailure, answers: []record{ipv4(300)}}, reply{code: dnsmessage.RCodeServerFailure}),
			0, unknownTTL, ClassDNSError},
		"too much for a datagram": {func(_ dnsmessage.Question, tcp bool) reply {
			if !tcp {
				return reply{truncated: true, answers: []record{ipv4(10)}}
			}
			return reply{answers: slices.Repeat([]record{ipv4(300)}, 100)}
		}, 100, 300 * time.Second, ClassNone},
		"a forged answer": {both(reply{answers: []record{ipv4(300)}, forged: &reply{answers: []record{ipv4(1)}}}, none), 1, 300 * time.Second, ClassNone},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, ttl, err := newObserved(newNameServer(t, c.zone)).LookupTTL(t.Context(), "ip", "a.test.")
			if len(got) != c.addrs || ttl != c.ttl || Classify(err) != c.class {
				t.Errorf("%d addresses for %v, %v; want %d for %v", len(got), ttl, err, c.addrs, c.ttl)
			}
		})
	}
}

// Two questions tell that a name does not exist. More are asked only if a server failed, or if
// it knows nothing of the name.
func TestQuestionsForAMissingName(t *testing.T) {
	none, missing := reply{authority: []record{soa(700, 60)}}, reply{code: dnsmessage.RCodeNameError, authority: []record{soa(700, 60)}}
	failed := reply{code: dnsmessage.RCodeServerFailure}
	for name, c := range map[string]struct {
		zone  zone
		class Class
		more  bool
	}{
		"no name":            {both(missing, missing), ClassDNSNotFound, false},
		"no addresses":       {both(none, none), ClassDNSNotFound, false},
		"no answer for IPv6": {both(missing, failed), ClassDNSError, true},
		"no answer for IPv4": {both(failed, none), ClassDNSError, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var asked atomic.Int32
			dial := newNameServer(t, func(q dnsmessage.Question, tcp bool) reply {
				asked.Add(1)
				return c.zone(q, tcp)
			})
			_, _, err := newObserved(dial).LookupTTL(t.Context(), "ip", "a.test.")
			if Classify(err) != c.class || (asked.Load() > 2) != c.more {
				t.Errorf("%v after %d questions", err, asked.Load())
			}
		})
	}
}

// A server that does not answer about IPv6 does not hide IPv4 addresses. IPv6 addresses do not hide IPv4 addresses that
// come late.
func TestSilenceAboutOneFamily(t *testing.T) {
	for name, c := range map[string]struct {
		zone zone
		want string
	}{
		"about IPv6": {both(reply{answers: []record{ipv4(300)}}, reply{silent: true}), "[192.0.2.1]"},
		"IPv4 is late": {func(q dnsmessage.Question, tcp bool) reply {
			switch {
			case q.Type == dnsmessage.TypeAAAA:
				return reply{answers: []record{ipv6(300)}}
			case !tcp:
				return reply{truncated: true}
			}
			time.Sleep(familyPatience * 5 / 4)
			return reply{answers: []record{ipv4(300)}}
		}, "[192.0.2.1 2001:db8::1]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), 4*familyPatience)
			defer cancel()
			got, ttl, err := newObserved(newNameServer(t, c.zone)).LookupTTL(ctx, "ip", "a.test.")
			for i := range got {
				got[i] = got[i].Unmap()
			}
			if err != nil || fmt.Sprint(got) != c.want || ttl != 300*time.Second {
				t.Errorf("%v for %v, %v", got, ttl, err)
			}
		})
	}
}

// A client keeps what its server of names says for as long as it says.
func TestClientKeepsTheTTL(t *testing.T) {
	var mu sync.Mutex
	asked := 0
	r := newTestResolver(t, newObserved(newNameServer(t, func(q dnsmessage.Question, _ bool) reply {
		mu.Lock()
		defer mu.Unlock()
		asked++
		return reply{answers: []record{{30, &dnsmessage.AResource{A: [4]byte{127, 0, 0, 1}}}}}
	})), nil)
	now := time.Unix(0, 0)
	r.now = func() time.Time { return now }
	for _, c := range []struct {
		after time.Duration
		asked int
	}{{0, 2}, {30*time.Second - 1, 2}, {1, 4}} {
		now = now.Add(c.after)
		_, err := r.lookup(t.Context(), "a.test.")
		mu.Lock()
		if err != nil || asked != c.asked {
			t.Errorf("%v: asked %d questions, want %d; %v", now.Unix(), asked, c.asked, err)
		}
		mu.Unlock()
	}
}

// ttlResolver answers with a TTL. No address is "does not exist".
type ttlResolver struct {
	Resolver
	addrs []netip.Addr
	ttl   time.Duration
	asked int
}

func (f *ttlResolver) LookupTTL(_ context.Context, _, name string) ([]netip.Addr, time.Duration, error) {
	f.asked++
	if len(f.addrs) == 0 {
		return nil, f.ttl, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
	}
	return f.addrs, f.ttl, nil
}

// The TTL of records has bounds. One that is not known is an option.
func TestLifetimesOfAddresses(t *testing.T) {
	for ttl, want := range map[time.Duration]time.Duration{
		0: 5 * time.Second, 7 * time.Second: 7 * time.Second, 7 * 24 * time.Hour: 24 * time.Hour, unknownTTL: 5 * time.Minute,
	} {
		ask := &ttlResolver{addrs: addrs("1.1.1.1"), ttl: ttl}
		r := newTestResolver(t, ask, nil)
		now := time.Unix(0, 0)
		r.now = func() time.Time { return now }
		for _, c := range []struct {
			after time.Duration
			asked int
		}{{0, 1}, {want - 1, 1}, {1, 2}} {
			now = now.Add(c.after)
			if _, err := r.lookup(t.Context(), "a.test"); err != nil || ask.asked != c.asked {
				t.Errorf("TTL %v after %v: asked %d times, want %d; %v", ttl, now.Unix(), ask.asked, c.asked, err)
			}
		}
	}
}

// The first "does not exist" is over before the scheduler has it confirmed, which must ask.
// What is confirmed is kept as long as the zone says. Only an answer that was told counts
// as the first one.
func TestLifetimesOfMissingNames(t *testing.T) {
	ask := &ttlResolver{}
	r := newTestResolver(t, ask, nil)
	now := time.Unix(0, 0)
	r.now = func() time.Time { return now }
	for n, c := range []struct {
		after time.Duration
		ttl   time.Duration // of the answer, if there is one
		ahead bool
		asks  bool
	}{
		{after: 0, ttl: 30 * time.Minute, asks: true},
		{after: 9*time.Second - 1},
		{after: time.Second + 1, ttl: 30 * time.Minute, asks: true}, // the confirmation
		{after: 30*time.Minute - 1},
		{after: 1, ttl: time.Hour, asks: true}, // a new first one
		{after: 10 * time.Second, ttl: 24 * time.Hour, asks: true},
		{after: time.Hour - 1},
		{after: 1, ttl: 0, asks: true},
		{after: 5*time.Second - 1},
		{after: 1, ttl: 0, asks: true}, // confirmed, and not kept
		{after: 5 * time.Second, ttl: time.Hour, asks: true},
		{after: time.Hour, ttl: time.Hour, ahead: true, asks: true}, // a first one that no caller gets
		{after: 20 * time.Second, ttl: time.Hour, asks: true},
		{after: 10 * time.Second, ttl: time.Hour, asks: true},
		{after: time.Minute},
	} {
		now = now.Add(c.after)
		before := ask.asked
		ask.ttl = c.ttl
		if c.ahead {
			_, _ = r.answer(t.Context(), "a.test")
		} else if _, err := r.lookup(t.Context(), "a.test"); Classify(err) != ClassDNSNotFound {
			t.Fatal(err)
		}
		if asked := ask.asked > before; asked != c.asks {
			t.Errorf("step %d, at %v: asked %v", n, now.Sub(time.Unix(0, 0)), asked)
		}
	}
}

// Whatever a name server sends, the TTL is possible for a record.
func FuzzDNSMessage(f *testing.F) {
	name := dnsmessage.MustNewName("a.test.")
	q := dnsmessage.Question{Name: name, Type: dnsmessage.TypeA, Class: dnsmessage.ClassINET}
	asked, err := (&dnsmessage.Message{Header: dnsmessage.Header{ID: 7}, Questions: []dnsmessage.Question{q}}).Pack()
	if err != nil {
		f.Fatal(err)
	}
	for _, r := range []reply{
		{answers: []record{alias(50), ipv4(3000)}},
		{code: dnsmessage.RCodeNameError, authority: []record{soa(900, 120)}},
		{truncated: true},
	} {
		f.Add(r.message(q, 7), true)
	}
	f.Fuzz(func(t *testing.T, message []byte, whole bool) {
		seen := &ttls{positive: unknownTTL, negative: unknownTTL}
		seen.read(asked, message, whole)
		for _, ttl := range []time.Duration{seen.positive, seen.negative} {
			if ttl < unknownTTL || ttl > (1<<31-1)*time.Second || seen.positive >= 0 && seen.negative >= 0 {
				t.Errorf("TTLs %v and %v", seen.positive, seen.negative)
			}
		}
		seen.read(message, asked, whole)
	})
}
