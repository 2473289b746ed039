package httpclient

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"net"
	"strings"
	"testing"
	"time"
)

// keyUpdate returns the record in which a server asks for new keys (RFC 8446
// section 4.6.3), its first under a traffic secret, with AES-128-GCM. crypto/tls
// never asks.
func keyUpdate(t *testing.T, secret []byte) []byte {
	t.Helper()
	expand := func(label string, length int) []byte { // HKDF-Expand-Label, section 7.1
		label = "tls13 " + label
		key, err := hkdf.Expand(sha256.New, secret, string([]byte{0, byte(length), byte(len(label))})+label+"\x00", length)
		if err != nil {
			t.Fatal(err)
		}
		return key
	}
	block, err := aes.NewCipher(expand("key", 16))
	if err != nil {
		t.Fatal(err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		t.Fatal(err)
	}
	const handshake = 22
	content := []byte{24, 0, 0, 1, 1, handshake}
	head := []byte{23, 3, 3, 0, byte(len(content) + aead.Overhead())}
	return append(head, aead.Seal(nil, expand("iv", 12), content, head)...)
}

// A peer that asks for new keys and does not read the answer does not delay the end of an exchange
// or the closing of an idle connection, and so not the transport.
func TestDeafPeerOfTLS(t *testing.T) {
	for name, end := range map[string]func(c *conn, g *grant){
		"abort": func(c *conn, g *grant) { c.abort(g) },
		"close": func(c *conn, _ *grant) { _ = c.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			cert, pool := certificate(t, time.Now().Add(time.Hour))
			var secrets bytes.Buffer
			ours, theirs := net.Pipe()
			peer := tls.Server(theirs, &tls.Config{
				Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS13, SessionTicketsDisabled: true, KeyLogWriter: &secrets,
			})
			shaken := make(chan error, 1)
			go func() { shaken <- peer.Handshake() }()
			secure := tls.Client(newConn(ours, ""), &tls.Config{RootCAs: pool, ServerName: "127.0.0.1"})
			if err := secure.Handshake(); err != nil {
				t.Fatal(err)
			}
			if err := <-shaken; err != nil {
				t.Fatal(err)
			}
			if peer.ConnectionState().CipherSuite != tls.TLS_AES_128_GCM_SHA256 {
				t.Skip("this machine prefers another cipher")
			}
			_, line, _ := strings.Cut(secrets.String(), "SERVER_TRAFFIC_SECRET_0 ")
			secret, err := hex.DecodeString(strings.Fields(line)[1])
			if err != nil {
				t.Fatal(err)
			}

			c := newConn(secure, "")
			c.http1 = true
			read := make(chan struct{})
			go func() {
				defer close(read)
				_, _ = c.Read(make([]byte, 1))
			}()
			var g grant
			c.begin(&g, &headerBlock{}, 0)
			if _, err := theirs.Write(keyUpdate(t, secret)); err != nil {
				t.Fatal(err)
			}
			if _, err := theirs.Read(make([]byte, 1)); err != nil { // the answer has begun
				t.Fatal(err)
			}
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				end(c, &g)
				<-read
			}()
			select {
			case <-ended:
			case <-time.After(time.Minute):
				t.Error("the connection is still open")
				ours.Close()
				<-ended
			}
		})
	}
}
