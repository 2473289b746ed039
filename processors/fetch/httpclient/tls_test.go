package httpclient

import (
	"bufio"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"io"
	"testing"
	"time"
)

// Old servers know only the key exchange by RSA.
func TestKeyExchangeByRSA(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	cert, pool := certificateOf(t, key, time.Now().Add(time.Hour))
	for _, suite := range []uint16{
		tls.TLS_RSA_WITH_AES_128_CBC_SHA, tls.TLS_RSA_WITH_AES_256_CBC_SHA, tls.TLS_RSA_WITH_AES_128_GCM_SHA256, tls.TLS_RSA_WITH_AES_256_GCM_SHA384,
	} {
		config := &tls.Config{
			Certificates: []tls.Certificate{cert}, MaxVersion: tls.VersionTLS12, CipherSuites: []uint16{suite},
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
