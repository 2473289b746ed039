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
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// A member is a process that may read DIR/broker/secret: the process that runs the broker, and
// commands with its data directory. Only members reach the broker's own port, on loopback:
// before the first byte of Kafka's protocol both ends prove that they know the secret.
//
//	broker → member  nonce B
//	member → broker  nonce M, HMAC-SHA256(secret, "member", B, M)
//	broker → member  HMAC-SHA256(secret, "broker", B, M)
//
// The last line protects a member if the broker has ended and another program listens at its
// port. Each start makes a new secret.

// Member says how a member reaches the broker of a directory.
type Member struct {
	// Addr is the address of members, host:port on loopback.
	Addr string
	dir  string
}

// Dial connects to the broker and ignores the address: Kafka's protocol tells clients the
// address of the listener.
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
	return []kgo.Opt{kgo.SeedBrokers(m.Addr), kgo.Dialer(m.Dial), kgo.DisableClientMetrics()}
}

const (
	nonceBytes = 32
	// proofTimeout is long: a busy machine may take seconds for three packets.
	proofTimeout = 15 * time.Second
	// maxProving bounds the connections without a proof.
	maxProving = 1024
)

// proof is the proof of one end that it knows the secret.
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
		return errors.New("the program that listens there does not know the secret")
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
		return errors.New("the secret is wrong")
	}
	if _, err := conn.Write(proof(secret, "broker", ours, theirs)); err != nil {
		return err
	}
	return conn.SetDeadline(time.Time{})
}

// members is the listener of the broker's own port. It accepts connections that
// have proved membership.
type members struct {
	acceptor
	secret     []byte
	advertised net.Addr // what the broker tells clients
	admitted   chan net.Conn
}

func listenForMembers(secret []byte) (*members, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	m := &members{acceptor: newAcceptor(l), secret: secret, advertised: l.Addr(), admitted: make(chan net.Conn)}
	m.accept(maxProving, m.admit)
	return m, nil
}

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

// acceptor serves the connections of a listener, until it is closed.
type acceptor struct {
	net.Listener
	ctx  context.Context // of the listener
	end  context.CancelFunc
	work *sync.WaitGroup
}

func newAcceptor(l net.Listener) acceptor {
	ctx, end := context.WithCancel(context.Background())
	return acceptor{l, ctx, end, new(sync.WaitGroup)}
}

// Close ends the listener, and waits for the end of what it serves.
func (a acceptor) Close() error {
	a.end()
	err := a.Listener.Close()
	a.work.Wait()
	return err
}

// accept begins to serve connections, at most most at a time. It closes further connections.
func (a acceptor) accept(most int, serve func(net.Conn)) {
	served := make(chan struct{}, most)
	a.work.Go(func() {
		for {
			conn, err := a.Accept()
			if a.ctx.Err() != nil {
				if err == nil {
					conn.Close()
				}
				return
			}
			if err != nil { // too many open files
				select {
				case <-a.ctx.Done():
					return
				case <-time.After(acceptPause):
				}
				continue
			}
			select {
			case served <- struct{}{}:
				a.work.Go(func() {
					defer func() { <-served }()
					serve(conn)
				})
			default:
				conn.Close()
			}
		}
	})
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

// Addr is the address that the broker tells its clients.
func (m *members) Addr() net.Addr { return m.advertised }

func secretFile(dir string) string { return filepath.Join(dir, "secret") }

// makeSecret writes a new secret that only the owner of the directory can read.
func makeSecret(dir string) ([]byte, error) {
	var random [32]byte
	_, _ = rand.Read(random[:]) // never fails
	secret := []byte(hex.EncodeToString(random[:]))
	return secret, replace(secretFile(dir), secret, 0o600)
}

// member reads how to reach the broker of another process. The error is fs.ErrNotExist until
// it can be reached.
func member(dir string) (Member, error) {
	addr, err := os.ReadFile(addressFile(dir))
	if err != nil {
		return Member{}, err
	}
	return Member{Addr: strings.TrimSpace(string(addr)), dir: dir}, nil
}
