package httpclient

import (
	"context"
	"crypto/tls"
	"errors"
	"net/http"
	"time"

	"github.com/weftcrawl/weft/internal/urls"
)

// h2Window bounds what an HTTP/2 peer may send ahead of the reader on one
// stream; it is memory that a slow reader holds.
const h2Window = 512 << 10

// Client makes exchanges. It is safe for concurrent use.
type Client struct {
	options      Options
	dialer       *dialer
	ahead        ahead
	transport    *http.Transport
	fresh        *http.Transport // each request on a new connection
	stale        stale           // origins that are asked by fresh
	bodies       *bodies
	pageHeader   http.Header
	robotsHeader http.Header
	end          context.CancelFunc // of look-ups
}

// New returns a client; it returns the error of Options.Validate. Environment variables that
// name proxies are ignored: a proxy would resolve names, and connect to addresses that this
// package refuses.
func New(o Options) (*Client, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	life, end := context.WithCancel(context.Background())
	d := &dialer{
		resolver: newResolver(life, o),
		tls: &tls.Config{
			RootCAs:    o.RootCAs,
			NextProtos: []string{"h2", "http/1.1"},
			// What browsers can do: old servers know no other way.
			CipherSuites:  cipherSuites(),
			Renegotiation: tls.RenegotiateOnceAsClient, // a server that asks for a client certificate later
			// Off by default: see Options.Insecure.
			InsecureSkipVerify: o.Insecure,
		},
		timeout: o.ConnectTimeout,
		reach:   o.reach(),
	}
	transport := &http.Transport{
		DialContext:            d.dial,
		DialTLSContext:         d.dialTLS,
		ForceAttemptHTTP2:      true,
		HTTP2:                  &http.HTTP2Config{MaxReceiveBufferPerStream: h2Window},
		DisableCompression:     true, // done here, with limits
		MaxIdleConns:           o.MaxIdleConns,
		MaxIdleConnsPerHost:    o.MaxIdleConnsPerHost,
		IdleConnTimeout:        o.IdleTimeout,
		MaxResponseHeaderBytes: o.MaxHeaderBytes,
		WriteBufferSize:        1 << 10, // of each connection; a request has some 300 bytes
	}
	fresh := transport.Clone()
	fresh.DisableKeepAlives = true
	return &Client{
		options:      o,
		dialer:       d,
		ahead:        ahead{resolver: d.resolver},
		bodies:       newBodies(o),
		transport:    transport,
		fresh:        fresh,
		stale:        newStale(),
		pageHeader:   headers(o.Agent(), "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"),
		robotsHeader: headers(o.Agent(), "text/plain,*/*;q=0.8"),
		end:          end,
	}, nil
}

// cipherSuites are the suites of Go, and four that browsers have, too, with key exchange by RSA. Go
// prefers the others, whatever their place here.
func cipherSuites() []uint16 {
	ids := []uint16{
		tls.TLS_RSA_WITH_AES_128_GCM_SHA256, tls.TLS_RSA_WITH_AES_256_GCM_SHA384, tls.TLS_RSA_WITH_AES_128_CBC_SHA, tls.TLS_RSA_WITH_AES_256_CBC_SHA,
	}
	for _, suite := range tls.CipherSuites() {
		ids = append(ids, suite.ID)
	}
	return ids
}

// Close closes idle connections and ends look-ups. Exchanges in flight are
// ended by their contexts.
func (c *Client) Close() {
	c.end()
	c.transport.CloseIdleConnections()
	c.fresh.CloseIdleConnections()
}

// Do makes one exchange. It returns when the response is read, cut, or given up; see the
// description of the package. ctx ends it early: as lease_lost if its cause is
// ErrLeaseLost, and otherwise as canceled.
func (c *Client) Do(ctx context.Context, r Request) *Exchange {
	x := &Exchange{URL: r.URL, Started: time.Now()}
	if err := c.exchange(ctx, r, x); err != nil {
		x.fail(err)
	}
	x.Total = time.Since(x.Started)
	x.DNS += r.LookedUp
	return x
}

// exchange fills in x. The error, if there is one, is the reason for its class.
func (c *Client) exchange(ctx context.Context, r Request, x *Exchange) error {
	req, err := c.build(r)
	if err != nil {
		return err
	}
	if r.Permit != nil && !r.Permit() {
		return ErrLeaseLost
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	total := time.AfterFunc(c.options.TotalTimeout, func() { cancel(errTotalTimeout) })
	defer total.Stop()

	a, watched := c.watch(ctx, cancel, r)
	defer a.detach()
	unwatch := context.AfterFunc(ctx, a.abort)
	defer unwatch()
	origin, transport := req.URL.Scheme+"://"+req.URL.Host, c.transport
	if c.stale.has(origin, x.Started) {
		transport = c.fresh
	}
	resp, err := transport.RoundTrip(req.WithContext(watched))
	a.headerRead()
	tooMany := a.report(x, resp)
	if err != nil {
		if err = a.failed(ctx, err); isStale(x, err) {
			c.stale.Add(origin, time.Now())
			err = failure{ClassStaleConnection, err}
		}
		return err
	}
	if resp.StatusCode == http.StatusMisdirectedRequest { // RFC 9110 section 15.5.20: another connection may do
		c.stale.Add(origin, time.Now())
	}
	if tooMany != nil {
		resp.Body.Close()
		return tooMany
	}
	if err := contradiction(resp, a.conn.http1, r.ETag != "" || r.LastModified != ""); err != nil {
		resp.Body.Close()
		return err
	}
	if doubtful(resp, x.Headers) {
		defer func() { _ = a.conn.Close() }()
	}
	if c.options.MinBodyRate > 0 && resp.Body != http.NoBody {
		resp.Body = paced(resp.Body, c.options.MinBodyRate, c.options.BodyRateWindow, cancel)
	}
	x.Location = redirectTarget(resp, r.URL)
	x.RetryAfter = retryAfter(resp.Header.Get("Retry-After"), resp.Header.Get("Date"), time.Now())
	if isEmpty(resp.StatusCode) {
		if err := expectNone(resp); err != nil {
			return a.failed(ctx, err)
		}
		return nil
	}
	media := mediaOf(resp.Header)
	if !c.options.wants(r.Kind, resp.StatusCode, media) {
		skip(resp)
		return unwanted(media)
	}
	limit := c.options.bodyLimit(r.Kind, media)
	a.conn.allow(2 * (limit - c.options.bodyLimit(r.Kind, ""))) // see watch
	got, err := c.bodies.read(ctx, cancel, resp, limit)
	x.Body, x.CodedBody = got.bytes, got.coded
	x.Truncated, x.WireBytes, x.reservation = got.truncated, got.wireBytes, got.reservation
	if errors.Is(err, errNoMemory) && errors.Is(context.Cause(ctx), errTotalTimeout) {
		_ = a.failed(ctx, err) // this is not the server's fault
		return err
	}
	if err != nil {
		err = a.failed(ctx, err)
	}
	if x.Location != "" && !ended(err) {
		return nil // a redirect needs only its header, even if its body hangs
	}
	return err
}

// ended tells whether err says that the caller has ended the exchange.
func ended(err error) bool {
	class := Classify(err)
	return class == ClassCanceled || class == ClassLeaseLost
}

// MaxRobotsRedirects is how many redirects in a row are followed from a
// robots.txt (RFC 9309 section 2.3.1.2).
const MaxRobotsRedirects = 5

// Robots fetches the robots.txt that r asks for, or the target of its redirects. It follows up
// to five redirects, also to other hosts. It returns every exchange in order, at least one. The
// last exchange is the answer. If the answer is still a redirect, there were more than five,
// or its target is not an http URL, or hop did not permit it.
//
// hop is called before each redirect is followed, with its absolute target. The target may
// belong to another domain, which another fetcher may own: hop decides about that, and may
// wait for the domain's delay. It returns how long it has waited for LookUp. Nil: no redirect
// is followed.
func (c *Client) Robots(ctx context.Context, r Request, hop Hop) []*Exchange {
	return FollowRobots(ctx, c.Do, r, hop)
}

// Hop is called before a redirect of a robots.txt is followed; see [Client.Robots].
type Hop func(next string) (lookedUp time.Duration, follow bool)

// FollowRobots is [Client.Robots] with another way to make exchanges.
func FollowRobots(ctx context.Context, do func(context.Context, Request) *Exchange, r Request, hop Hop) []*Exchange {
	r.Kind = KindRobots
	var list []*Exchange
	for {
		x := do(ctx, r)
		list = append(list, x)
		r.URL = x.Location
		if x.Class != ClassNone || !urls.IsAbsolute(r.URL) || len(list) > MaxRobotsRedirects || hop == nil {
			return list
		}
		var follow bool
		if r.LookedUp, follow = hop(r.URL); !follow {
			return list
		}
	}
}
