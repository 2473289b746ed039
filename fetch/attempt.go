package fetch

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strings"
	"sync"
	"time"
)

var (
	errFirstByteTimeout = failure{ClassFirstByteTimeout, errors.New("no response header in time")}
	errTotalTimeout     = failure{ClassTotalTimeout, errors.New("the exchange took too long")}
)

// attempt watches one exchange from inside the transport: it measures, holds
// the grant, and collects the headers as they were sent and received.
//
// The transport calls getConn and gotConn from RoundTrip. The other hooks, and
// the dialer, run on goroutines that may outlive the exchange; so an attempt
// is not reused, and mu guards what they touch.
type attempt struct {
	trace            httptrace.ClientTrace
	grant            grant
	firstByteTimeout time.Duration
	allowance        int64 // bytes that an HTTP/2 peer may send

	// Written by the goroutine of Do only; it reads them without mu. conn is
	// written with mu, for abort.
	conn   *conn
	reused bool
	header headerBlock
	timer  *time.Timer // of the response header; nil before the connection

	mu        sync.Mutex
	dns       time.Duration
	connect   time.Duration // TCP and TLS
	gotAt     time.Time     // the connection was there
	firstByte time.Duration // since gotAt
	sent      []Header
}

type attemptKey struct{}

// attemptOf returns the attempt that a context of the transport belongs to.
func attemptOf(ctx context.Context) *attempt {
	return ctx.Value(attemptKey{}).(*attempt)
}

// watch returns an attempt and the context that carries it. cancel ends that
// context.
func (c *Client) watch(ctx context.Context, cancel context.CancelCauseFunc, r Request) (*attempt, context.Context) {
	a := &attempt{
		grant:            grant{permit: r.Permit, cancel: cancel},
		firstByteTimeout: c.options.FirstByteTimeout,
		// Frames of few bytes and their encryption may take as much again.
		allowance: c.options.MaxHeaderBytes + 2*c.bodyLimit(r.Kind) + idleAllowance,
		header:    headerBlock{limit: int(c.options.MaxHeaderBytes)},
	}
	a.trace = httptrace.ClientTrace{
		GetConn:              a.getConn,
		GotConn:              a.gotConn,
		WroteHeaderField:     a.wroteHeaderField,
		WroteHeaders:         a.wroteHeaders,
		GotFirstResponseByte: a.gotFirstByte,
	}
	return a, httptrace.WithClientTrace(context.WithValue(ctx, attemptKey{}, a), &a.trace)
}

// getConn runs before the transport looks for a connection. A repeat ends here
// rather than with a connection that nobody uses.
func (a *attempt) getConn(string) {
	_ = a.grant.begin() // a refusal cancels the context, which ends RoundTrip
}

func (a *attempt) gotConn(info httptrace.GotConnInfo) {
	a.detach()
	a.header = headerBlock{text: a.header.text[:0], limit: a.header.limit}
	a.mu.Lock()
	a.conn = guarded(info.Conn)
	if !a.grant.sent.Load() { // or it is for a repeat, and not used
		a.reused = info.Reused
	}
	a.gotAt = time.Now()
	a.sent = make([]Header, 0, 8)
	if a.reused {
		a.dns, a.connect = 0, 0
	}
	a.mu.Unlock()
	if a.timer == nil {
		a.timer = time.AfterFunc(a.firstByteTimeout, func() { a.grant.cancel(errFirstByteTimeout) })
	} else {
		a.timer.Reset(a.firstByteTimeout)
	}
	a.conn.begin(&a.grant, &a.header, a.allowance)
	_ = a.grant.begin() // a refusal also fails the write
}

// headerRead ends the wait for the response header.
func (a *attempt) headerRead() {
	if a.timer != nil {
		a.timer.Stop()
	}
}

// detach releases the connection; a second call does nothing.
func (a *attempt) detach() {
	if a.conn != nil {
		a.conn.end(&a.grant, &a.header)
	}
}

// abort closes the connection of an exchange whose context has ended, whoever
// calls it first. The transport would keep one of HTTP/2, although a peer that
// is gone looks just like a slow one.
//
// Nor does the context alone wake who reads a body. A peer sends a header and
// then PINGs without end, and reads nothing; the transport waits to write
// their acknowledgements, with its lock on writing; to give the stream up it
// first writes a RST_STREAM, and waits for that lock; only then would it end
// the body. HTTP/1.1 above TLS waits in the same way, where the peer asks for
// key updates. A socket that is closed ends all of them.
func (a *attempt) abort() {
	a.mu.Lock()
	c := a.conn
	a.mu.Unlock()
	if c != nil {
		c.abort(&a.grant)
	}
}

// failed returns why the exchange failed with err: what ended its context, if
// that has ended, for then err is only how the transport took it.
//
// A request to the same host that begins before the transport has noticed that
// the connection was closed, within microseconds, ends as stale_connection.
func (a *attempt) failed(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return a.cut(err)
	}
	a.abort()
	cause := context.Cause(ctx)
	if known := (failure{}); errors.As(cause, &known) {
		return cause
	}
	return failure{ClassCanceled, cause}
}

// cut returns err, unless it only says that a header is malformed of which the
// connection's end cut a part off.
func (a *attempt) cut(err error) error {
	if a.conn == nil || !a.conn.http1 || Classify(err) != ClassBadResponse {
		return err
	}
	if end := a.conn.cut(&a.header); end != nil {
		return failf(Classify(end), "the connection ended within the header: %w", end)
	}
	return err
}

func (a *attempt) resolved(took time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.dns = took
}

// connected notes the end of a dial, good or bad, that began at started.
func (a *attempt) connected(started time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.gotAt.IsZero() { // not a dial that another connection overtook
		a.connect = time.Since(started) - a.dns
	}
}

func (a *attempt) wroteHeaderField(name string, values []string) {
	switch name {
	case ":authority":
		name = "Host"
	case ":method", ":path", ":scheme":
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, value := range values {
		a.sent = append(a.sent, Header{name, value})
	}
}

// wroteHeaders runs for HTTP/2 when the header frames are written, and for
// HTTP/1.1 when they are merely buffered.
func (a *attempt) wroteHeaders() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.conn.http1 {
		a.grant.sent.Store(true)
	}
}

func (a *attempt) gotFirstByte() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.firstByte = time.Since(a.gotAt)
}

// report fills in what was seen up to the response header; resp is nil when
// there is none. Of a header with too many fields none is reported, and the
// error is errTooManyFields.
func (a *attempt) report(x *Exchange, resp *http.Response) (err error) {
	a.mu.Lock()
	x.DNS, x.Connect, x.FirstByte = a.dns, a.connect, a.firstByte
	x.RequestHeaders = slices.Clip(a.sent)
	a.sent = nil // what is appended late is not the caller's
	a.mu.Unlock()
	if a.conn != nil {
		x.Remote, x.Reused = a.conn.remote, a.reused
	}
	if resp == nil {
		return nil
	}
	if x.Proto = resp.Proto; isStatus(resp.StatusCode) {
		x.Status = resp.StatusCode
	}
	x.RequestHead, x.ResponseHead = a.conn.heads(&a.header)
	if x.Headers, err = a.conn.headers(&a.header); x.Headers == nil && err == nil {
		x.Headers, err = sortedHeaders(resp.Header)
	}
	return err
}

// textOf returns the text of an error for people, without line breaks, bounded
// and in UTF-8, for servers have a say in it.
func textOf(err error) string {
	const most = 500
	text := strings.Join(strings.Fields(toUTF8(err.Error())), " ")
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "")
	}
	return text
}
