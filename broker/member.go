package broker

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// A member is a process that may read DIR/broker/secret: the one that runs the
// broker, and the commands that are given its data directory. Members reach the
// broker at a port of its own on loopback, and nobody else does: before the
// first byte of Kafka's protocol both ends prove that they know the secret.
//
//	broker → member  nonce B
//	member → broker  nonce M, HMAC-SHA256(secret, "member", B, M)
//	broker → member  HMAC-SHA256(secret, "broker", B, M)
//
// The last line is for a member that comes to the port of a broker that is gone
// and at which somebody else listens. The secret is made anew at each start.

// Member says how a member reaches the broker of a directory.
type Member struct {
	// Addr is the address of members, host:port on loopback.
	Addr string
	dir  string
}

// Dial connects to the broker, whatever address is asked for: Kafka's protocol
// tells clients the address of the door.
func (m Member) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	secret, err := os.ReadFile(secretFile(m.dir))
	if err != nil {
		return nil, fmt.Errorf("read the broker's secret: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, proofTimeout)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", m.Addr)
	if err != nil {
		return nil, err
	}
	if err := prove(conn, secret); err != nil {
		return nil, errors.Join(fmt.Errorf("prove membership to the broker at %s: %w", m.Addr, err), conn.Close())
	}
	return conn, nil
}

// Client returns the options of a franz-go client that is a member.
func (m Member) Client() []kgo.Opt {
	return []kgo.Opt{kgo.SeedBrokers(m.Addr), kgo.Dialer(m.Dial)}
}

const (
	nonceBytes = 32
	// proofTimeout is long: a busy machine may take seconds for three packets.
	proofTimeout = 15 * time.Second
	// maxProving bounds the connections that have not proved anything yet.
	maxProving = 1024
)

// proof is what an end says that knows the secret.
func proof(secret []byte, end string, broker, member []byte) []byte {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(end))
	mac.Write(broker)
	mac.Write(member)
	return mac.Sum(nil)
}

// prove is the member's part.
func prove(conn net.Conn, secret []byte) error {
	if err := conn.SetDeadline(time.Now().Add(proofTimeout)); err != nil {
		return err
	}
	theirs, ours := make([]byte, nonceBytes), make([]byte, nonceBytes)
	if _, err := io.ReadFull(conn, theirs); err != nil {
		return err
	}
	_, _ = rand.Read(ours) // never fails
	if _, err := conn.Write(append(ours[:nonceBytes:nonceBytes], proof(secret, "member", theirs, ours)...)); err != nil {
		return err
	}
	said := make([]byte, sha256.Size)
	if _, err := io.ReadFull(conn, said); err != nil {
		return err
	}
	if !hmac.Equal(said, proof(secret, "broker", theirs, ours)) {
		return errors.New("what listens there does not know the secret")
	}
	return conn.SetDeadline(time.Time{})
}

// admit is the broker's part.
func admit(conn net.Conn, secret []byte) error {
	if err := conn.SetDeadline(time.Now().Add(proofTimeout)); err != nil {
		return err
	}
	ours := make([]byte, nonceBytes)
	_, _ = rand.Read(ours) // never fails
	if _, err := conn.Write(ours); err != nil {
		return err
	}
	said := make([]byte, nonceBytes+sha256.Size)
	if _, err := io.ReadFull(conn, said); err != nil {
		return err
	}
	theirs := said[:nonceBytes]
	if !hmac.Equal(said[nonceBytes:], proof(secret, "member", ours, theirs)) {
		return errors.New("the secret is another")
	}
	if _, err := conn.Write(proof(secret, "broker", ours, theirs)); err != nil {
		return err
	}
	return conn.SetDeadline(time.Time{})
}

// members is the listener of the broker's own port. It accepts connections that
// have proved membership.
type members struct {
	net.Listener
	secret     []byte
	advertised net.Addr // what the broker tells clients

	admitted chan net.Conn
	ctx      context.Context // of the listener
	end      context.CancelFunc
	work     sync.WaitGroup
}

func listenForMembers(secret []byte) (*members, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	m := &members{Listener: l, secret: secret, advertised: l.Addr(), admitted: make(chan net.Conn)}
	m.ctx, m.end = context.WithCancel(context.Background())
	m.work.Go(func() { accept(m.ctx, l, maxProving, &m.work, m.admit) })
	return m, nil
}

// admit hands a connection on that proves membership.
func (m *members) admit(conn net.Conn) {
	stop := context.AfterFunc(m.ctx, func() { conn.Close() })
	err := admit(conn, m.secret)
	if !stop() || err != nil {
		conn.Close()
		return
	}
	select {
	case m.admitted <- conn:
	case <-m.ctx.Done():
		conn.Close()
	}
}

// accept serves the connections of a listener, at most so many at a time, until
// ctx ends. What comes beyond is closed.
func accept(ctx context.Context, l net.Listener, most int, work *sync.WaitGroup, serve func(net.Conn)) {
	served := make(chan struct{}, most)
	for {
		conn, err := l.Accept()
		if ctx.Err() != nil {
			if err == nil {
				conn.Close()
			}
			return
		}
		if err != nil { // too many open files
			select {
			case <-ctx.Done():
				return
			case <-time.After(acceptPause):
			}
			continue
		}
		select {
		case served <- struct{}{}:
			work.Go(func() {
				defer func() { <-served }()
				serve(conn)
			})
		default:
			conn.Close()
		}
	}
}

// acceptPause is the time until the next try after an accept that failed.
const acceptPause = 50 * time.Millisecond

// Accept returns the next member.
func (m *members) Accept() (net.Conn, error) {
	select {
	case conn := <-m.admitted:
		return conn, nil
	case <-m.ctx.Done():
		return nil, net.ErrClosed
	}
}

// Close ends the listener, and the connections that prove something still.
func (m *members) Close() error {
	m.end()
	err := m.Listener.Close()
	m.work.Wait()
	return err
}

// Addr is the address that the broker tells its clients.
func (m *members) Addr() net.Addr { return m.advertised }

func secretFile(dir string) string { return filepath.Join(dir, "secret") }

// makeSecret writes a new secret, for the owner of the directory alone.
func makeSecret(dir string) ([]byte, error) {
	var random [32]byte
	_, _ = rand.Read(random[:]) // never fails
	secret := []byte(hex.EncodeToString(random[:]))
	fresh := secretFile(dir) + ".new"
	if err := os.Remove(fresh); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err := os.WriteFile(fresh, secret, 0o600); err != nil {
		return nil, err
	}
	return secret, os.Rename(fresh, secretFile(dir))
}

// member reads how to reach the broker that another process runs; the error is
// fs.ErrNotExist until it can be reached.
func member(dir string) (Member, error) {
	addr, err := os.ReadFile(addressFile(dir))
	if err != nil {
		return Member{}, err
	}
	return Member{Addr: strings.TrimSpace(string(addr)), dir: dir}, nil
}
