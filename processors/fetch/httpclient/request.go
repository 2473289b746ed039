package httpclient

import (
	"errors"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Kind says what a request is for.
type Kind uint8

const (
	// KindPage is any URL of the frontier.
	KindPage Kind = iota
	// KindRobots is a robots.txt: cut at RobotsBytes, of any media type.
	KindRobots
	// KindSitemap is a sitemap: cut at Options.SitemapBytes, of any media type.
	KindSitemap
)

// Request is what is asked for.
type Request struct {
	// URL is canonical (WHATWG-serialised, ASCII), http or https. A fragment
	// is not sent; user information is refused.
	URL  string
	Kind Kind
	// ETag and LastModified, if not empty, make the request conditional
	// (If-None-Match, If-Modified-Since); they are sent as they are.
	ETag         string
	LastModified string
	// LookedUp is how long the caller has waited for LookUp. It lies before the exchange,
	// and counts in Exchange.DNS.
	LookedUp time.Duration
	// Permit is the lease: it tells whether a request may still begin. It is called from
	// several goroutines, with locks held, so it must be quick and must not call this
	// package. Nil: always.
	Permit func() bool
}

// target makes the URL of a request. Path and query are the same as in raw, byte for byte:
// net/url would escape characters that WHATWG keeps, such as "|", and refuse a "%" that is not
// followed by two digits.
func target(raw string) (*url.URL, error) {
	scheme, rest, ok := strings.Cut(raw, "://")
	if !ok || scheme != "http" && scheme != "https" {
		return nil, failf(ClassInvalidURL, "URL %q is neither http nor https", raw)
	}
	rest, _, _ = strings.Cut(rest, "#")
	for i := range len(rest) {
		// Other bytes could end the request line early.
		if rest[i] <= ' ' || rest[i] >= 0x7f {
			return nil, failf(ClassInvalidURL, "URL %q is not canonical: byte %#x", raw, rest[i])
		}
	}
	end := strings.IndexAny(rest, "/?")
	if end < 0 {
		end = len(rest)
	}
	host, path := rest[:end], rest[end:]
	if path == "" || path[0] == '?' {
		path = "/" + path
	}
	if err := checkHost(host); err != nil {
		return nil, failf(ClassInvalidURL, "URL %q: %w", raw, err)
	}
	u := &url.URL{Scheme: scheme, Host: host, Opaque: path}
	if strings.HasPrefix(path, "//") {
		// url.URL would take such an opaque part for an authority and a path. With the
		// real authority before it, the target is in absolute form. The transport removes
		// the origin for HTTP/2, and conn removes it for HTTP/1.1.
		u.Opaque = "//" + host + path
	}
	return u, nil
}

// checkHost accepts host or host:port, where host is a name, an IPv4 address,
// or an IPv6 address in brackets.
func checkHost(hostport string) error {
	host := hostport
	if i := strings.LastIndexByte(hostport, ':'); i > strings.LastIndexByte(hostport, ']') {
		host = hostport[:i]
		if n, err := strconv.ParseUint(hostport[i+1:], 10, 16); err != nil || n == 0 {
			return errors.New("no such port")
		}
	}
	if strings.HasPrefix(host, "[") {
		a, err := netip.ParseAddr(strings.Trim(host, "[]"))
		if err != nil || !a.Is6() || a.Zone() != "" || !strings.HasSuffix(host, "]") {
			return errors.New("no such address")
		}
		return nil
	}
	if host == "" || len(host) > 254 || strings.ContainsAny(host, "@:[]\\%<>^|\"`{}") {
		return errors.New("no such host")
	}
	return nil
}

// headers are the fields of every request of one kind. They are shared, and the transport does
// not change them.
func headers(agent, accept string) http.Header {
	return http.Header{
		"User-Agent":      {agent},
		"Accept":          {accept},
		"Accept-Encoding": {acceptEncoding},
	}
}

// build makes the request without its context.
func (c *Client) build(r Request) (*http.Request, error) {
	u, err := target(r.URL)
	if err != nil {
		return nil, err
	}
	header := c.pageHeader
	if r.Kind == KindRobots {
		header = c.robotsHeader
	}
	if r.ETag != "" || r.LastModified != "" {
		header = header.Clone()
		if r.ETag != "" {
			header.Set("If-None-Match", r.ETag)
		}
		if r.LastModified != "" {
			header.Set("If-Modified-Since", r.LastModified)
		}
	}
	return &http.Request{Method: http.MethodGet, URL: u, Host: u.Host, Header: header,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}, nil
}
