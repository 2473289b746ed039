package broker

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// clientListener is the listener for clients that are not members. It judges each request
// (requests.go) and forwards it to the broker, over a connection of its own for each
// client.
type clientListener struct {
	acceptor
	advertised address
	options    Listener
	broker     Member
	offered    offer
	log        *slog.Logger
	told       recentMessages
	large      chan struct{} // large frames in memory
}

const (
	// maxClients bounds the connections of a listener.
	maxClients = 200
	// maxFrame is the largest request that Kafka takes (socket.request.max.bytes).
	maxFrame = 100 << 20
	// A client's request has at most maxClientFrame bytes, or maxClientProduce with
	// records. Decoded, it may take thirty times as much for a moment.
	maxClientFrame   = 256 << 10
	maxClientProduce = 32 << 20
	// maxLarge bounds the number of unfinished frames of more than maxClientFrame.
	maxLarge = 4
	// maxPipelined bounds the unanswered requests of a client.
	maxPipelined = 64
)

var (
	errMalformed = errors.New("malformed request")
	errTooLarge  = errors.New("request too large")
	errUnknown   = errors.New("request of a kind or version that is not offered")
)

type address string

func (address) Network() string  { return "tcp" }
func (a address) String() string { return string(a) }

// listen opens a listener at an address as in Options.Listen. It serves no client yet.
func listen(at string, options Listener, log *slog.Logger) (*clientListener, error) {
	if _, err := options.tls(); err != nil {
		return nil, err
	}
	if _, err := options.users(); err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", at)
	if err != nil {
		return nil, err
	}
	host, _, err := net.SplitHostPort(at)
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	if ip := net.ParseIP(host); host == "" || (ip != nil && ip.IsUnspecified()) {
		host = machineName()
	}
	return &clientListener{
		acceptor: newAcceptor(l), advertised: address(net.JoinHostPort(host, port)), options: options,
		log: log, large: make(chan struct{}, maxLarge),
	}, nil
}

// machineName is the name of this machine, if it resolves.
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

// open begins to serve clients with a broker of those API versions.
func (d *clientListener) open(broker Member, versions kmsg.ApiVersionsResponse) {
	d.broker = broker
	d.offered = newOffer(versions, d.options.Trusted)
	d.accept(maxClients, d.serve)
}

// serve serves a client until it, the broker or the listener ends.
func (d *clientListener) serve(client net.Conn) {
	ctx, cancel := context.WithCancel(d.ctx)
	defer cancel()
	from := client.RemoteAddr().String()
	defer context.AfterFunc(ctx, func() { client.Close() })()
	defer client.Close()
	v := &clientSession{listener: d, from: from, answers: make(chan answer, maxPipelined)}
	err := v.enter(ctx, client)
	if err == nil {
		defer v.broker.Close()
		defer context.AfterFunc(ctx, func() { v.broker.Close() })()
		var answering sync.WaitGroup
		answering.Go(func() {
			defer cancel()
			v.answer(ctx)
		})
		err = v.ask(ctx)
		cancel()
		answering.Wait()
	}
	if errors.Is(err, errMalformed) || errors.Is(err, errTooLarge) || errors.Is(err, errUnknown) || errors.Is(err, errLogin) {
		d.tell("a client was disconnected", from, err.Error())
	}
}

// tell logs a message about a client, unless the same message was logged within a minute.
func (d *clientListener) tell(what, from, why string) {
	if d.told.first(what+why, time.Now()) {
		d.log.Warn(what, "client", from, "reason", why)
	}
}

// recentMessages are the times of the last messages.
type recentMessages struct {
	mu   sync.Mutex
	when map[string]time.Time
}

const (
	sayAgain = time.Minute
	maxSaid  = 100
)

func (s *recentMessages) first(what string, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if last, ok := s.when[what]; ok && now.Sub(last) < sayAgain {
		return false
	}
	for known, last := range s.when {
		if now.Sub(last) >= sayAgain {
			delete(s.when, known)
		}
	}
	if len(s.when) >= maxSaid {
		return false
	}
	if s.when == nil {
		s.when = map[string]time.Time{}
	}
	s.when[what] = now
	return true
}

type clientSession struct {
	listener *clientListener
	from     string
	client   net.Conn // with TLS, if the listener has it
	broker   net.Conn
	answers  chan answer // in the order of the requests
}

// answer is the answer to a request: a response of the listener, or the broker's response,
// to which merge may add something.
type answer struct {
	whole []byte
	merge func(body []byte) ([]byte, error)
}

// enter does TLS and SASL, and connects to the broker.
func (v *clientSession) enter(ctx context.Context, client net.Conn) (err error) {
	if v.client, err = v.listener.options.encrypt(ctx, client); err != nil {
		return err
	}
	if v.broker, err = v.listener.broker.Dial(ctx, "", ""); err != nil {
		return err
	}
	if err = v.authenticate(); err != nil {
		v.broker.Close()
	}
	return err
}

// ask forwards the client's requests to the broker, or answers them.
func (v *clientSession) ask(ctx context.Context) error {
	for {
		f, release, err := v.next(ctx)
		if err != nil {
			return err
		}
		err = v.request(ctx, f)
		release()
		if err != nil {
			return err
		}
	}
}

// next reads the next request; release frees its reserved memory.
func (v *clientSession) next(ctx context.Context) (f frame, release func(), err error) {
	release = func() {}
	f, err = readFrame(v.client, func(key int16, size int) error {
		switch {
		case kmsg.RequestForKey(key) == nil:
			return fmt.Errorf("%w: key %d", errUnknown, key)
		case v.listener.options.Trusted || size <= maxClientFrame:
			return nil
		case key != int16(kmsg.Produce) || size > maxClientProduce:
			return fmt.Errorf("%w: %s of %d bytes", errTooLarge, kmsg.NameForKey(key), size)
		}
		select {
		case v.listener.large <- struct{}{}:
			release = func() { <-v.listener.large }
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	if err != nil {
		release()
	}
	return f, release, err
}

func (v *clientSession) request(ctx context.Context, f frame) error {
	if v.listener.options.Trusted {
		return writeFrame(v.broker, f)
	}
	verdict, err := v.listener.judge(f)
	if err != nil {
		return err
	}
	if verdict.refused != "" {
		v.listener.tell("a client was refused", v.from, verdict.refused)
	}
	if verdict.forward != nil {
		if err := writeFrame(v.broker, verdict.forward); err != nil {
			return err
		}
	}
	if verdict.silent {
		return nil
	}
	select {
	case v.answers <- verdict.answer:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// answer writes answers until one of the connections ends.
func (v *clientSession) answer(ctx context.Context) {
	out := timedWriter{v.client}
	if v.listener.options.Trusted {
		_, _ = io.Copy(out, struct{ io.Reader }{v.broker})
		return
	}
	for {
		select {
		case a := <-v.answers:
			if a.whole == nil {
				if err := v.relay(out, a); err != nil {
					return
				}
			} else if _, err := out.Write(a.whole); err != nil {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// relay forwards the broker's next response.
func (v *clientSession) relay(out io.Writer, a answer) error {
	var size [4]byte
	if _, err := io.ReadFull(v.broker, size[:]); err != nil {
		return err
	}
	length := binary.BigEndian.Uint32(size[:])
	if a.merge == nil {
		if _, err := out.Write(size[:]); err != nil {
			return err
		}
		_, err := io.CopyN(out, v.broker, int64(length))
		return err
	}
	body := make([]byte, length)
	if _, err := io.ReadFull(v.broker, body); err != nil {
		return err
	}
	merged, err := a.merge(body)
	if err == nil {
		_, err = out.Write(merged)
	}
	return err
}
