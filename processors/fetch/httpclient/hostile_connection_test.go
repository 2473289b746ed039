package httpclient

import (
	"bufio"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"io"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"
)

func brokenServers() []hostile {
	return []hostile{
		{"refuses connections", func(t *testing.T) string {
			s := newRawServer(t, nil)
			s.close()
			return s.url
		}, nil},
		{"closes at once", says(""), nil},
		{"resets at once", func(t *testing.T) string {
			return newRawServer(t, func(c *net.TCPConn, r *bufio.Reader) {
				readRequest(r)
				_ = c.SetLinger(0)
			}).url
		}, nil},
		{"closes inside the header", says(ok + "X: "), nil},
		{"closes inside the body", says(ok + "Content-Length: 1000\r\n\r\n" + text), nil},
	}
}

// certificate makes one for 127.0.0.1 or names that ends then, and the pool that
// trusts it.
func certificate(t testing.TB, end time.Time, names ...string) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return certificateOf(t, key, end, names...)
}

// certificateOf is certificate with a key.
func certificateOf(t testing.TB, key crypto.Signer, end time.Time, names ...string) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "weft test"}, DNSNames: names,
		NotBefore: time.Now().Add(-48 * time.Hour), NotAfter: end,
		IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	if len(names) == 0 {
		template.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(leaf)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}, pool
}

// newSecureServer runs script on TLS connections.
func newSecureServer(t testing.TB, config *tls.Config, script func(c *tls.Conn)) string {
	s := newRawServer(t, func(c *net.TCPConn, r *bufio.Reader) {
		secure := tls.Server(buffered{c, r}, config)
		if secure.Handshake() == nil {
			script(secure)
		}
		untilClosed(r)
	})
	return "https" + strings.TrimPrefix(s.url, "http")
}

// buffered is a connection that is read through a buffer.
type buffered struct {
	net.Conn
	r *bufio.Reader
}

func (b buffered) Read(p []byte) (int, error) { return b.r.Read(p) }

// tlsServers serve a page to clients that do not check the certificate.
func tlsServers() []hostile {
	var trusted *x509.CertPool
	serve := func(trust bool, end time.Duration, change func(*tls.Config), names ...string) func(t *testing.T) string {
		return func(t *testing.T) string {
			cert, pool := certificate(t, time.Now().Add(end), names...)
			trusted = x509.NewCertPool()
			if trust {
				trusted = pool
			}
			config := &tls.Config{Certificates: []tls.Certificate{cert}}
			if change != nil {
				change(config)
			}
			return newSecureServer(t, config, func(c *tls.Conn) {
				readRequest(bufio.NewReader(c))
				_, _ = io.WriteString(c, ok+"\r\n"+text)
				_ = c.Close()
			})
		}
	}
	// abrupt serves a response and closes without the closure alert.
	abrupt := func(response string) func(t *testing.T) string {
		return func(t *testing.T) string {
			cert, pool := certificate(t, time.Now().Add(time.Hour))
			trusted = pool
			return newSecureServer(t, &tls.Config{Certificates: []tls.Certificate{cert}}, func(c *tls.Conn) {
				readRequest(bufio.NewReader(c))
				_, _ = io.WriteString(c, response)
				_ = c.NetConn().(buffered).Conn.(*net.TCPConn).CloseWrite()
			})
		}
	}
	trust := func(o *Options) { o.RootCAs = trusted }
	insecure := func(o *Options) { o.RootCAs, o.Insecure = trusted, true }
	version := func(v uint16) func(*tls.Config) {
		return func(c *tls.Config) { c.MinVersion, c.MaxVersion = v, v }
	}
	demanding := func(v uint16) func(*tls.Config) {
		return func(c *tls.Config) { c.MinVersion, c.MaxVersion, c.ClientAuth = v, v, tls.RequireAnyClientCert }
	}
	return []hostile{
		{"valid certificate", serve(true, time.Hour, nil), trust},
		{"expired certificate", serve(true, -time.Hour, nil), trust},
		{"certificate for another name", serve(true, time.Hour, nil, "example.com"), trust},
		{"self-signed certificate", serve(false, time.Hour, nil), trust},
		{"expired certificate, `--insecure`", serve(true, -time.Hour, nil), insecure},
		{"certificate for another name, `--insecure`", serve(true, time.Hour, nil, "example.com"), insecure},
		{"self-signed certificate, `--insecure`", serve(false, time.Hour, nil), insecure},
		{"TLS 1.0", serve(true, time.Hour, version(tls.VersionTLS10)), trust},
		{"TLS 1.1, `--insecure`", serve(true, time.Hour, version(tls.VersionTLS11)), insecure},
		{"TLS 1.2, demands a client certificate", serve(true, time.Hour, demanding(tls.VersionTLS12)), trust},
		{"TLS 1.3, demands a client certificate", serve(true, time.Hour, demanding(tls.VersionTLS13)), trust},
		{"no Content-Length and no closure alert", abrupt(ok + "\r\n" + text), trust},
		{"Content-Length above the length of the body, and no closure alert", abrupt(ok + "Content-Length: 1000\r\n\r\n" + text), trust},
		{"no TLS", func(t *testing.T) string { return "https" + strings.TrimPrefix(says(ok)(t), "http") }, nil},
		{"stops inside the TLS handshake", func(t *testing.T) string {
			return "https" + strings.TrimPrefix(newRawServer(t, func(_ *net.TCPConn, r *bufio.Reader) { untilClosed(r) }).url, "http")
		}, func(o *Options) { o.ConnectTimeout = soon }},
		{"endless TLS handshake", func(t *testing.T) string {
			return "https" + strings.TrimPrefix(goesOnAtOnce("\x16\x03\x03\x00\x04\x00\x00\x00\x00")(t), "http")
		}, func(o *Options) { o.ConnectTimeout = 5 * soon }},
	}
}

// goesOnAtOnce writes the same again and again without waiting for a request.
func goesOnAtOnce(again string) func(t *testing.T) string {
	return func(t *testing.T) string {
		return newRawServer(t, func(c *net.TCPConn, r *bufio.Reader) {
			go untilClosed(r)
			for {
				if _, err := io.WriteString(c, again); err != nil {
					return
				}
			}
		}).url
	}
}
