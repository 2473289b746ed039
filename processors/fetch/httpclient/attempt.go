package httpclient

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

var (
	errFirstByteTimeout = failure{ClassFirstByteTimeout, errors.New("no response header in time")}
	errTotalTimeout     = failure{ClassTotalTimeout, errors.New("the exchange took too long")}
)

// attempt watches one exchange from inside the transport: it measures, holds
// the grant, and collects the headers as they were sent and received.
//
// The transport calls getConn and gotConn from RoundTrip. The other hooks, and the dialer,
// run on goroutines that may outlive the exchange. So an attempt is not reused, and mu
// guards the fields that they use.
type attempt struct {
	trace            httptrace.ClientTrace
	grant            grant
	firstByteTimeout time.Duration
	allowance        int64 // bytes that an HTTP/2 peer may send

	// Only the goroutine of Do writes these, and reads them without mu. It writes conn
	// with mu, for abort.
	conn   *conn
	reused bool
	header headerBlock
	timer  *time.Timer // of the response header; nil before the connection

	mu        sync.Mutex
	dns       time.Duration
	dialled   time.Time     // the addresses were known; zero: they are not
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
		allowance: c.options.MaxHeaderBytes + 2*c.options.bodyLimit(r.Kind, "") + idleAllowance,
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

// getConn runs before the transport looks for a connection. A repeat ends here, before it
// opens a connection that would not be used.
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

// abort closes the connection of an exchange whose context has ended. It may be called more
// than once. The transport would keep an HTTP/2 connection, although a peer that is gone
// looks just like a slow one.
//
// The end of the context alone does not wake the reader of a body either. A peer sends a
// header and then PINGs without end, and reads nothing. The transport waits to write the
// acknowledgements, and has its lock on writing. To give the stream up it first writes a
// RST_STREAM, and waits for that lock. Only then would it end the body. HTTP/1.1 above TLS
// waits in the same way when the peer asks for key updates. Closing the socket ends all of
// these waits.
func (a *attempt) abort() {
	a.mu.Lock()
	c := a.conn
	a.mu.Unlock()
	if c != nil {
		c.abort(&a.grant)
	}
}

// failed returns why the exchange failed with err. If its context has ended, the reason is
// the context's cause, and err is only a consequence.
//
// The transport notices within microseconds that the connection was closed. A request to
// the same host that begins before that ends as stale_connection.
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

// cut returns err. If err says that a header is malformed because the connection ended
// within it, cut returns the error of the connection instead.
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

// connecting notes that the addresses are known, and permitted.
func (a *attempt) connecting() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.dialled = time.Now()
}

// connected notes the end of a dial, good or bad.
func (a *attempt) connected() {
	a.mu.Lock()
	defer a.mu.Unlock()
	// Another connection may have been ready before this one.
	if a.gotAt.IsZero() && !a.dialled.IsZero() {
		a.connect = time.Since(a.dialled)
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

// report fills in what was seen up to the response header. resp is nil when there is no
// response. A header with too many fields is not reported, and the error is
// errTooManyFields.
func (a *attempt) report(x *Exchange, resp *http.Response) (err error) {
	a.mu.Lock()
	x.DNS, x.Connect, x.FirstByte = a.dns, a.connect, a.firstByte
	x.RequestHeaders = slices.Clip(a.sent)
	a.sent = nil // a late hook must not change the caller's slice
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
	x.RequestHead, x.ResponseHead, x.Headers, err = a.conn.heads(&a.header)
	if x.Headers == nil && err == nil {
		x.Headers, err = sortedHeaders(resp.Header)
	}
	return err
}

// textOf returns the text of an error for people: without line breaks, bounded, and in
// UTF-8, because servers can influence it.
func textOf(err error) string {
	const most = 500
	text := strings.Join(strings.Fields(toUTF8(err.Error())), " ")
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "")
	}
	return text
}

var errRepeat = failure{ClassNoResponse, errors.New("connection closed before a response; the request is not repeated")}

// grant is the right of one exchange to put its request on the wire, once. Its state goes
// from fresh to sent, and from either to revoked; never back.
type grant struct {
	permit func() bool // nil: always
	cancel context.CancelCauseFunc
	// The kernel took bytes of the request, or is being given them (HTTP/1.1),
	// or the transport wrote its header frames (HTTP/2).
	sent    atomic.Bool
	revoked atomic.Pointer[failure]
}

// admit is called before each write.
func (g *grant) admit() error {
	if why := g.revoked.Load(); why != nil {
		return *why
	}
	if g.permit != nil && !g.permit() {
		return g.revoke(errLeaseLost)
	}
	return nil
}

// begin is called before each attempt to send the request: the transport tries again when a
// kept connection was dead.
func (g *grant) begin() error {
	if g.sent.Load() {
		return g.revoke(errRepeat)
	}
	return g.admit()
}

// revoke also cancels the exchange. Otherwise the transport would try every idle connection
// and then a new one.
func (g *grant) revoke(why failure) error {
	g.revoked.CompareAndSwap(nil, &why)
	first := *g.revoked.Load()
	g.cancel(first)
	return first
}
