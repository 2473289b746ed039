package httpclient

import (
	"bufio"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"io"
	"math/big"
	"net"
	"testing"
	"time"
)

// Old servers know only the key exchange by RSA.
func TestKeyExchangeByRSA(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(leaf)
	for _, suite := range []uint16{
		tls.TLS_RSA_WITH_AES_128_CBC_SHA, tls.TLS_RSA_WITH_AES_256_CBC_SHA, tls.TLS_RSA_WITH_AES_128_GCM_SHA256, tls.TLS_RSA_WITH_AES_256_GCM_SHA384,
	} {
		config := &tls.Config{
			Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}, MaxVersion: tls.VersionTLS12, CipherSuites: []uint16{suite},
		}
		url := newSecureServer(t, config, func(c *tls.Conn) {
			readRequest(bufio.NewReader(c))
			_, _ = io.WriteString(c, ok+"\r\n"+text)
			_ = c.Close()
		})
		x := get(t, newClient(t, func(o *Options) { o.RootCAs = pool }), url)
		if want(t, x, ClassNone); string(x.Body) != text {
			t.Errorf("%s: %q", tls.CipherSuiteName(suite), x.Body)
		}
	}
}
