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

// door is where clients come that are no members: strangers. What they ask for
// is judged request by request (strangers.go) and handed to the broker over a
// connection of the door's own for each client.
type door struct {
	net.Listener
	advertised address
	options    Door
	broker     Member
	offered    offer
	login      *login
	log        *slog.Logger
	told       said

	ctx   context.Context // of the door
	end   context.CancelFunc
	work  sync.WaitGroup
	large chan struct{} // large frames that are held in memory
}

const (
	// maxClients bounds the connections of a door.
	maxClients = 200
	// maxFrame is the largest request that Kafka takes (socket.request.max.bytes).
	maxFrame = 100 << 20
	// A stranger's request is at most strangerFrame, or strangerProduce if it
	// brings records. Decoded, it may take thirty times as much for a moment.
	strangerFrame   = 256 << 10
	strangerProduce = 32 << 20
	// maxLarge bounds how many frames of more than strangerFrame strangers may
	// have sent in part.
	maxLarge = 4
	// maxPipelined bounds the requests of a client that are not answered yet.
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

// listen opens the door at an address as in Options.Listen, and serves nobody
// yet.
func listen(at string, options Door, log *slog.Logger) (*door, error) {
	login, err := newLogin(options)
	if err != nil {
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
	d := &door{
		Listener: l, advertised: address(net.JoinHostPort(host, port)), options: options, login: login,
		log: log, large: make(chan struct{}, maxLarge),
	}
	d.ctx, d.end = context.WithCancel(context.Background())
	return d, nil
}

// machineName is what this machine calls itself, if that leads to it.
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

// open begins to serve clients, by a broker that offers them so much.
func (d *door) open(broker Member, versions kmsg.ApiVersionsResponse) {
	d.broker = broker
	d.offered = newOffer(versions, d.options.Trusted)
	d.work.Go(func() { accept(d.ctx, d.Listener, maxClients, &d.work, d.serve) })
}

// Close ends the door and its connections.
func (d *door) Close() error {
	d.end()
	err := d.Listener.Close()
	d.work.Wait()
	return err
}

// serve serves a client until it, the broker or the door ends.
func (d *door) serve(client net.Conn) {
	ctx, cancel := context.WithCancel(d.ctx)
	defer cancel()
	from := client.RemoteAddr().String()
	defer context.AfterFunc(ctx, func() { client.Close() })()
	defer client.Close()
	v := &visit{door: d, from: from, answers: make(chan answer, maxPipelined)}
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
		d.tell("a client was hung up on", from, err.Error())
	}
}

// tell logs something about a client, but nothing twice within a minute.
func (d *door) tell(what, from, why string) {
	if d.told.first(what+why, time.Now()) {
		d.log.Warn(what, "client", from, "reason", why)
	}
}

// said remembers what was said, and when.
type said struct {
	mu   sync.Mutex
	when map[string]time.Time
}

const (
	sayAgain = time.Minute
	maxSaid  = 100
)

func (s *said) first(what string, now time.Time) bool {
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

// visit is one client at the door.
type visit struct {
	door    *door
	from    string
	client  net.Conn // with TLS, if the door has it
	broker  net.Conn
	answers chan answer // in the order of the requests
}

// answer is what a client gets for a request: a response of the door's, or else
// the broker's, with something added to it.
type answer struct {
	whole []byte
	merge func(body []byte) ([]byte, error)
}

// enter does what comes before the first request: TLS, SASL, and a connection
// to the broker.
func (v *visit) enter(ctx context.Context, client net.Conn) (err error) {
	if v.client, err = v.door.login.encrypt(ctx, client); err != nil {
		return err
	}
	if v.broker, err = v.door.broker.Dial(ctx, "", ""); err != nil {
		return err
	}
	if err = v.authenticate(); err != nil {
		v.broker.Close()
	}
	return err
}

// ask hands the client's requests to the broker, or answers them.
func (v *visit) ask(ctx context.Context) error {
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

// next reads the next request; release frees what was reserved for it.
func (v *visit) next(ctx context.Context) (f frame, release func(), err error) {
	release = func() {}
	f, err = readFrame(v.client, func(key int16, size int) error {
		switch {
		case kmsg.RequestForKey(key) == nil:
			return fmt.Errorf("%w: key %d", errUnknown, key)
		case v.door.options.Trusted || size <= strangerFrame:
			return nil
		case key != int16(kmsg.Produce) || size > strangerProduce:
			return fmt.Errorf("%w: %s of %d bytes", errTooLarge, kmsg.NameForKey(key), size)
		}
		select {
		case v.door.large <- struct{}{}:
			release = func() { <-v.door.large }
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

func (v *visit) request(ctx context.Context, f frame) error {
	if v.door.options.Trusted {
		return writeFrame(v.broker, f)
	}
	verdict, err := v.door.judge(f)
	if err != nil {
		return err
	}
	if verdict.refused != "" {
		v.door.tell("a client was refused", v.from, verdict.refused)
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

// answer writes answers until one of the ends is gone.
func (v *visit) answer(ctx context.Context) {
	out := patient{v.client}
	if v.door.options.Trusted {
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

// relay passes the broker's next response on.
func (v *visit) relay(out io.Writer, a answer) error {
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
