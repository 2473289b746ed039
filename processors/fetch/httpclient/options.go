package httpclient

import (
	"context"
	"crypto/x509"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"github.com/weftcrawl/weft/internal/mediatype"
	"github.com/weftcrawl/weft/internal/politeness"
)

// RobotsBytes is how much of a robots.txt is read: the least that RFC 9309
// section 2.5 demands of a crawler.
const RobotsBytes = 500 << 10

// Options configure a Client. DefaultOptions gives every field a value. The comment of a
// field says what its zero value means.
type Options struct {
	// UserAgent is the whole User-Agent. Empty: built from the three below,
	// "weft/1.2 (+https://example.org/bot)" (RFC 9110 section 10.1.5).
	UserAgent string
	// Product is what robots.txt groups name; a token.
	Product string
	// Version is the product's version; a token, or empty.
	Version string
	// Contact is a URL or mail address for people who run servers; or empty.
	Contact string

	// ConnectTimeout bounds name resolution, TCP and TLS together.
	ConnectTimeout time.Duration
	// FirstByteTimeout bounds the wait from a connection to the end of the
	// response header.
	FirstByteTimeout time.Duration
	// TotalTimeout bounds the exchange with its body.
	TotalTimeout time.Duration
	// MinBodyRate is the least rate, bytes a second, at which a body must come
	// over each BodyRateWindow that is spent waiting for it; 0: none.
	MinBodyRate    int64
	BodyRateWindow time.Duration
	// IdleTimeout is how long an unused connection is kept.
	IdleTimeout time.Duration

	// MaxBodyBytes is where a body is cut, and flagged. It holds for the
	// decoded body, for the bytes on the wire, and between two codings. A
	// robots.txt is cut at RobotsBytes instead.
	MaxBodyBytes int64
	// SitemapBytes is the same for sitemaps, which are larger than pages; it is cut to
	// LargeBodyBytes.
	SitemapBytes int64
	// FileBytes is the same for PDF and files of office programs, which can only be read whole.
	FileBytes int64
	// MaxBodyOf is the same for bodies of pages by their media type, as mediatype.Lookup finds it.
	MaxBodyOf map[string]int64
	// LargeBodyBytes bounds the memory of bodies over 1 MiB, of all exchanges together,
	// from their reading to Exchange.Release. It is at least MaxBodyBytes. The buffer
	// of a body that is being read may for a moment be twice as large. A body that is
	// over 1 MiB in brotli or zstd, or that KeepCoded concerns, reserves memory for its encoded
	// and its decoded bytes, or all memory. While a body waits for memory, the bodies that are being
	// read must come so fast, over BodyRateWindow, that their reservation would be full
	// within TotalTimeout.
	LargeBodyBytes int64
	// KeepCoded keeps bodies also with their content codings.
	KeepCoded bool
	// MaxHeaderBytes is the largest response header accepted.
	MaxHeaderBytes int64
	// MaxIdleConns bounds idle connections over all hosts; 0: no bound. With
	// one request a domain at a time it is about the number of domains that
	// are fetched within IdleTimeout. An idle connection takes some 20 KB.
	MaxIdleConns int
	// MaxIdleConnsPerHost bounds idle connections to one host and port; > 0.
	MaxIdleConnsPerHost int

	// WantBody says whether the body of a response with this Content-Type is
	// read; the argument is the media type without parameters, in lower case,
	// empty when the header is absent. Nil: every body is read. Only 2xx
	// responses to requests of KindPage are asked about.
	WantBody func(mediaType string) bool

	// AllowPrivate permits connections to addresses that are not public, and
	// names that are completed from the resolver's search list.
	AllowPrivate bool
	// AllowNetworks permits connections to the addresses in these networks as well,
	// each as ParseNetwork reads it. It is meant for an intranet, not for the services
	// of the cloud or of this host. So a host that serves the metadata of a cloud is
	// permitted only by its own address, such as fd00:ec2::254/128. An IPv6 address that
	// embeds an IPv4 address is not in the network of that address.
	AllowNetworks []string
	// Insecure accepts any certificate for any name. Then a machine between this
	// process and a server can pretend to be that server.
	Insecure bool
	// RootCAs verify servers' certificates; nil: the system's.
	RootCAs *x509.CertPool

	// Resolver looks names up; it may be a TTLResolver. Nil: Go's own resolver.
	Resolver Resolver
	// DNSTTL is how long addresses are kept whose records' TTL is not known: for example
	// addresses in the hosts file. All others are kept as long as their records say, at least
	// DNSMinTTL and at most DNSMaxTTL.
	DNSTTL, DNSMinTTL, DNSMaxTTL time.Duration
	// DNSNegativeTTL is the least time for which a name that does not exist is remembered.
	// Its zone says for how long (RFC 2308), at most DNSNegativeMaxTTL. The first such
	// answer is forgotten before politeness.ConfirmAfter is over, because the second
	// look-up must ask. So DNSNegativeTTL must be shorter. Failures of resolvers are not
	// remembered.
	DNSNegativeTTL, DNSNegativeMaxTTL time.Duration
	// DNSNames bounds the number of names kept, each with the addresses that are dialled.
	DNSNames int
	// DNSLookups bounds the names that are looked up at once. A look-up that takes longer
	// than a second does not count; there may be 512 of those.
	DNSLookups int
}

// Resolver looks up the addresses of a name; *net.Resolver is one. The network is "ip", or
// one of its families, "ip4" and "ip6". For a name that does not exist the error is a
// *net.DNSError with IsNotFound set.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, name string) ([]netip.Addr, error)
}

// TTLResolver is a Resolver that knows how long its answers hold. A negative ttl is not
// known. With "does not exist" it is how long that holds.
type TTLResolver interface {
	Resolver
	LookupTTL(ctx context.Context, network, name string) (addrs []netip.Addr, ttl time.Duration, err error)
}

// DefaultOptions returns the options of a polite crawler of the public web.
func DefaultOptions() Options {
	return Options{
		Product:             "weft",
		ConnectTimeout:      10 * time.Second,
		FirstByteTimeout:    20 * time.Second,
		TotalTimeout:        60 * time.Second,
		MinBodyRate:         1 << 10,
		BodyRateWindow:      10 * time.Second,
		IdleTimeout:         30 * time.Second,
		MaxBodyBytes:        10 << 20,
		SitemapBytes:        50 << 20, // sitemaps.org, "Sitemap file format"
		FileBytes:           32 << 20,
		LargeBodyBytes:      128 << 20,
		MaxHeaderBytes:      256 << 10,
		MaxIdleConns:        4096,
		MaxIdleConnsPerHost: 2,
		WantBody:            Documents,
		DNSTTL:              5 * time.Minute,
		DNSMinTTL:           5 * time.Second,
		DNSMaxTTL:           24 * time.Hour,
		DNSNegativeTTL:      5 * time.Second,
		DNSNegativeMaxTTL:   time.Hour,
		DNSNames:            100_000,
		DNSLookups:          64,
	}
}

// Validate returns the first error, with the name of the field.
func (o Options) Validate() error {
	for _, d := range []struct {
		name  string
		value time.Duration
	}{
		{"ConnectTimeout", o.ConnectTimeout},
		{"FirstByteTimeout", o.FirstByteTimeout},
		{"TotalTimeout", o.TotalTimeout},
		{"BodyRateWindow", o.BodyRateWindow},
		{"IdleTimeout", o.IdleTimeout},
		{"DNSTTL", o.DNSTTL},
		{"DNSMinTTL", o.DNSMinTTL},
		{"DNSNegativeTTL", o.DNSNegativeTTL},
	} {
		if d.value <= 0 {
			return fmt.Errorf("fetch: %s is %v, must be positive", d.name, d.value)
		}
	}
	for _, n := range []struct {
		name         string
		value, least int64
	}{
		{"MinBodyRate", o.MinBodyRate, 0},
		{"MaxBodyBytes", o.MaxBodyBytes, 1},
		{"SitemapBytes", o.SitemapBytes, 1},
		{"FileBytes", o.FileBytes, 1},
		{"LargeBodyBytes", o.LargeBodyBytes, o.MaxBodyBytes},
		{"MaxHeaderBytes", o.MaxHeaderBytes, 1 << 10},
		{"MaxIdleConns", int64(o.MaxIdleConns), 0},
		{"MaxIdleConnsPerHost", int64(o.MaxIdleConnsPerHost), 1},
		{"DNSNames", int64(o.DNSNames), 2},
		{"DNSLookups", int64(o.DNSLookups), 2},
	} {
		if n.value < n.least {
			return fmt.Errorf("fetch: %s is %d, must be at least %d", n.name, n.value, n.least)
		}
	}
	if o.DNSMaxTTL < o.DNSMinTTL {
		return fmt.Errorf("fetch: DNSMaxTTL is %v, must be at least DNSMinTTL, %v", o.DNSMaxTTL, o.DNSMinTTL)
	}
	if o.DNSNegativeMaxTTL < o.DNSNegativeTTL {
		return fmt.Errorf("fetch: DNSNegativeMaxTTL is %v, must be at least DNSNegativeTTL, %v", o.DNSNegativeMaxTTL, o.DNSNegativeTTL)
	}
	if o.DNSNegativeTTL >= politeness.ConfirmAfter {
		return fmt.Errorf("fetch: DNSNegativeTTL is %v, must be less than %v", o.DNSNegativeTTL, politeness.ConfirmAfter)
	}
	for _, text := range o.AllowNetworks {
		if _, err := ParseNetwork(text); err != nil {
			return fmt.Errorf("fetch: AllowNetworks: %w", err)
		}
	}
	if o.UserAgent == "" && !httpguts.ValidHeaderFieldName(o.Product) {
		return fmt.Errorf("fetch: Product %q is not a token", o.Product)
	}
	if o.Version != "" && !httpguts.ValidHeaderFieldName(o.Version) {
		return fmt.Errorf("fetch: Version %q is not a token", o.Version)
	}
	if !isPrintable(o.UserAgent) {
		return fmt.Errorf("fetch: UserAgent %q has characters other than printable ASCII", o.UserAgent)
	}
	if !isPrintable(o.Contact) || strings.ContainsAny(o.Contact, `()\`) {
		return fmt.Errorf("fetch: Contact %q has characters that a User-Agent comment cannot carry", o.Contact)
	}
	return nil
}

// wants tells whether the body of a response is read.
func (o Options) wants(kind Kind, status int, media string) bool {
	return kind != KindPage || status/100 != 2 || o.WantBody == nil || o.WantBody(media)
}

// bodyLimit is where a body of a media type is cut; "": it is not known yet.
func (o Options) bodyLimit(kind Kind, media string) int64 {
	of, named := mediatype.Lookup(o.MaxBodyOf, media)
	switch {
	case kind == KindRobots:
		return RobotsBytes
	case kind == KindPage && named:
		return min(of, o.LargeBodyBytes)
	case kind == KindPage && mediatype.IsFile(media):
		return min(o.FileBytes, o.LargeBodyBytes)
	case kind == KindSitemap:
		return min(o.SitemapBytes, o.LargeBodyBytes)
	}
	return o.MaxBodyBytes
}

func (o Options) reach() reach {
	r := reach{all: o.AllowPrivate}
	for _, text := range o.AllowNetworks {
		if network, err := ParseNetwork(text); err == nil {
			r.networks = append(r.networks, network)
		}
	}
	return r
}

// Agent returns the User-Agent that is sent.
func (o Options) Agent() string {
	if o.UserAgent != "" {
		return o.UserAgent
	}
	agent := o.Product
	if o.Version != "" {
		agent += "/" + o.Version
	}
	if o.Contact != "" {
		agent += " (+" + o.Contact + ")"
	}
	return agent
}

func isPrintable(s string) bool {
	return !strings.ContainsFunc(s, func(c rune) bool { return c < ' ' || c > '~' })
}

// Documents is the default of Options.WantBody. It refuses media types that carry neither
// text nor links, and accepts all others: also PDF, feeds, gzip (for sitemaps), octet
// streams and a missing type.
func Documents(mediaType string) bool {
	kind, sub, _ := strings.Cut(mediaType, "/")
	switch kind {
	case "audio", "video", "image", "font", "model":
		return false
	case "application":
		return !slices.Contains(refusedApplications, sub)
	}
	return true
}

// refusedApplications are archives, programs, disk images and media under application/. The
// names are those that servers use, not those that IANA lists.
var refusedApplications = strings.Fields(`
	java-archive mp4 ogg vnd.adobe.flash.movie vnd.android.package-archive vnd.debian.binary-package
	vnd.microsoft.portable-executable vnd.ms-cab-compressed vnd.ms-fontobject vnd.rar vnd.rn-realmedia wasm
	x-7z-compressed x-apple-diskimage x-bittorrent x-bzip2 x-compressed-tar x-debian-package x-dosexec x-executable
	x-font-ttf x-font-woff x-iso9660-image x-java-archive x-mpegurl x-msdownload x-msi x-rar x-rar-compressed
	x-redhat-package-manager x-rpm x-shockwave-flash x-tar x-xz x-zip-compressed zip zstd`)
