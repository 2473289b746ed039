package webserver

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync"

	"golang.org/x/net/dns/dnsmessage"
)

// How long answers of a nameServer hold, in seconds: addresses, and "there is no such name"
// (the minimum of the SOA record, RFC 2308 section 5).
const (
	ttlSeconds         = 300
	negativeTTLSeconds = 60
)

// Ways in which a nameServer answers for a name.
const (
	answersAddress = iota
	answersServerFailure
	answersNever
	answersNoSuchName
)

// record is what a nameServer knows of a name.
type record struct {
	addr netip.Addr
	way  int
}

// nameServer answers questions over UDP (RFC 1035). A name that it does not know does not
// exist. Names have an IPv4 address and no others.
type nameServer struct {
	conn    net.PacketConn
	records map[string]record // by name in lower case, without the last dot
	serving sync.WaitGroup

	mu    sync.Mutex
	asked map[string]int // questions by name
}

// serveNames answers at a UDP address until close. Port 0 picks a free port.
func serveNames(address string, records map[string]record) (*nameServer, error) {
	conn, err := net.ListenPacket("udp4", address)
	if err != nil {
		return nil, fmt.Errorf("serve names: %w", err)
	}
	s := &nameServer{conn: conn, records: records, asked: map[string]int{}}
	s.serving.Go(s.loop)
	return s, nil
}

func (s *nameServer) loop() {
	packet := make([]byte, 4096)
	for {
		n, from, err := s.conn.ReadFrom(packet)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			continue // of one packet, such as a client that is gone
		}
		if answer := s.answer(packet[:n]); answer != nil {
			_, _ = s.conn.WriteTo(answer, from) // the client asks again
		}
	}
}

// answer returns the answer to a packet; nil: there is none.
func (s *nameServer) answer(packet []byte) []byte {
	var parser dnsmessage.Parser
	header, err := parser.Start(packet)
	if err != nil || header.Response {
		return nil
	}
	question, err := parser.Question()
	if err != nil {
		return nil
	}
	name := strings.ToLower(strings.TrimSuffix(question.Name.String(), "."))
	s.mu.Lock()
	s.asked[name]++
	s.mu.Unlock()
	known, exists := s.records[name]
	answer := dnsmessage.Message{
		Header:    dnsmessage.Header{ID: header.ID, Response: true, RecursionDesired: header.RecursionDesired, RecursionAvailable: true},
		Questions: []dnsmessage.Question{question},
	}
	switch {
	case !exists || known.way == answersNoSuchName:
		answer.RCode = dnsmessage.RCodeNameError
		answer.Authorities = []dnsmessage.Resource{authority(question.Name)}
	case known.way == answersNever:
		return nil
	case known.way == answersServerFailure:
		answer.RCode = dnsmessage.RCodeServerFailure
	case question.Type != dnsmessage.TypeA:
		answer.Authorities = []dnsmessage.Resource{authority(question.Name)}
	default:
		answer.Answers = []dnsmessage.Resource{{
			Header: dnsmessage.ResourceHeader{Name: question.Name, Class: dnsmessage.ClassINET, TTL: ttlSeconds},
			Body:   &dnsmessage.AResource{A: known.addr.As4()},
		}}
	}
	raw, err := answer.Pack()
	if err != nil {
		return nil
	}
	return raw
}

// authority says for how long an answer holds that a name does not exist.
func authority(name dnsmessage.Name) dnsmessage.Resource {
	return dnsmessage.Resource{
		Header: dnsmessage.ResourceHeader{Name: name, Class: dnsmessage.ClassINET, TTL: negativeTTLSeconds},
		Body:   &dnsmessage.SOAResource{NS: name, MBox: name, Serial: 1, Refresh: 3600, Retry: 600, Expire: 86400, MinTTL: negativeTTLSeconds},
	}
}

// lookUps counts the questions for a name.
func (s *nameServer) lookUps(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[name]
}

func (s *nameServer) close() error {
	err := s.conn.Close()
	s.serving.Wait()
	return err
}
