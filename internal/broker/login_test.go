package broker

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"github.com/weftcrawl/weft/test/securedkafka"
)

// comes tells whether the listener lets a client in.
func comes(t *testing.T, b *Broker, opts ...kgo.Opt) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	_, err := kadm.NewClient(outsideClient(t, b, append(opts, kgo.RequestRetries(1))...)).ListTopics(ctx)
	return err
}

func TestUsersOfTheDoor(t *testing.T) {
	users := filepath.Join(t.TempDir(), "users")
	if err := os.WriteFile(users, []byte("# readers\nann:se:cret\n\nbob,=:x\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	mechanisms := map[string]func(user, password string) sasl.Mechanism{
		"PLAIN": func(u, p string) sasl.Mechanism { return plain.Auth{User: u, Pass: p}.AsMechanism() },
		"256":   func(u, p string) sasl.Mechanism { return scram.Auth{User: u, Pass: p}.AsSha256Mechanism() },
		"512":   func(u, p string) sasl.Mechanism { return scram.Auth{User: u, Pass: p}.AsSha512Mechanism() },
	}
	for _, trusted := range []bool{false, true} {
		o := guarded()
		o.Listener.UsersFile, o.Listener.Trusted = users, trusted
		b, _ := openGuarded(t, o)
		for name, as := range mechanisms {
			for _, good := range [][2]string{{"ann", "se:cret"}, {"bob,=", "x"}} {
				if err := comes(t, b, kgo.SASL(as(good[0], good[1]))); err != nil {
					t.Errorf("trusted %v, %s: %s: %v", trusted, name, good[0], err)
				}
			}
			for _, bad := range [][2]string{{"ann", "secret"}, {"eve", "x"}, {"eve", "eve"}} {
				if err := comes(t, b, kgo.SASL(as(bad[0], bad[1]))); err == nil || !strings.Contains(err.Error(), "SASL_AUTHENTICATION_FAILED") || !strings.Contains(err.Error(), errPassword.Error()) {
					t.Errorf("trusted %v, %s: %v: %v", trusted, name, bad, err)
				}
			}
		}
		if err := comes(t, b); err == nil {
			t.Errorf("trusted %v: let in without a login", trusted)
		}
	}
}

// librdkafka logs in only where versions 0 and 1 of the handshake are offered, and uses 1.
func TestHandshakesOfTheDoor(t *testing.T) {
	users := filepath.Join(t.TempDir(), "users")
	if err := os.WriteFile(users, []byte("ann:secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o := guarded()
	o.Listener.UsersFile = users
	b, _ := openGuarded(t, o)
	conn, err := net.Dial("tcp", b.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	ask := func(req kmsg.Request) kmsg.Response {
		t.Helper()
		if _, err := conn.Write(kmsg.NewRequestFormatter().AppendRequest(nil, req, 1)); err != nil {
			t.Fatal(err)
		}
		size := make([]byte, 4)
		if _, err := io.ReadFull(conn, size); err != nil {
			t.Fatal(err)
		}
		answer := make([]byte, binary.BigEndian.Uint32(size))
		if _, err := io.ReadFull(conn, answer); err != nil {
			t.Fatal(err)
		}
		resp := req.ResponseKind()
		if err := resp.ReadFrom(answer[4:]); err != nil {
			t.Fatal(err)
		}
		return resp
	}
	offered := map[int16]kmsg.ApiVersionsResponseApiKey{}
	for _, k := range ask(kmsg.NewPtrApiVersionsRequest()).(*kmsg.ApiVersionsResponse).ApiKeys {
		offered[k.ApiKey] = k
	}
	if k := offered[int16(kmsg.SASLHandshake)]; k.MinVersion != 0 || k.MaxVersion != 1 {
		t.Errorf("versions %d to %d of the handshake are offered", k.MinVersion, k.MaxVersion)
	}
	if k := offered[int16(kmsg.SASLAuthenticate)]; k.MinVersion != 0 {
		t.Errorf("version %d of SASLAuthenticate is the first", k.MinVersion)
	}
	for version, want := range []error{kerr.UnsupportedVersion, nil} {
		req := kmsg.NewPtrSASLHandshakeRequest()
		req.Version, req.Mechanism = int16(version), "PLAIN"
		if err := kerr.ErrorForCode(ask(req).(*kmsg.SASLHandshakeResponse).ErrorCode); !errors.Is(err, want) {
			t.Errorf("version %d: %v", version, err)
		}
	}
	req := kmsg.NewPtrSASLAuthenticateRequest()
	req.SASLAuthBytes = []byte("\x00ann\x00secret")
	if err := kerr.ErrorForCode(ask(req).(*kmsg.SASLAuthenticateResponse).ErrorCode); err != nil {
		t.Error(err)
	}
}

func TestTLSOfTheDoor(t *testing.T) {
	authority := securedkafka.NewAuthority(t)
	server, client := authority.Sign(t, "server", securedkafka.Options{}), authority.Sign(t, "client", securedkafka.Options{})
	text, err := os.ReadFile(authority.File)
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.LoadX509KeyPair(client.CertFile, client.KeyFile)
	if err != nil {
		t.Fatal(err)
	}
	known := &tls.Config{RootCAs: x509.NewCertPool(), MinVersion: tls.VersionTLS12}
	known.RootCAs.AppendCertsFromPEM(text)
	mutual := known.Clone()
	mutual.Certificates = []tls.Certificate{pair}

	o := guarded()
	o.Listener.CertFile, o.Listener.KeyFile = server.CertFile, server.KeyFile
	b, _ := openGuarded(t, o)
	if err := comes(t, b, kgo.DialTLSConfig(known)); err != nil {
		t.Error(err)
	}
	if err := comes(t, b); err == nil {
		t.Error("let in without TLS")
	}
	o.Listener.ClientCAFile = authority.File
	b, _ = openGuarded(t, o)
	if err := comes(t, b, kgo.DialTLSConfig(mutual)); err != nil {
		t.Error(err)
	}
	if err := comes(t, b, kgo.DialTLSConfig(known)); err == nil {
		t.Error("let in without a certificate")
	}
}

// Editors of Windows write a byte order mark in front of a text.
func TestUsersBehindAByteOrderMark(t *testing.T) {
	file := filepath.Join(t.TempDir(), "users")
	if err := os.WriteFile(file, []byte("\ufeffann:secret\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	users, err := Listener{UsersFile: file}.users()
	if err != nil || len(users) != 1 || users["ann"] != "secret" {
		t.Errorf("users are %q, %v", users, err)
	}
}

func TestDoorOptions(t *testing.T) {
	pair := securedkafka.NewAuthority(t).Sign(t, "server", securedkafka.Options{})
	certFile, keyFile := pair.CertFile, pair.KeyFile
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, []byte("# nobody\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, o := range map[string]Options{
		"no address":           {Listener: Listener{Trusted: true}},
		"come together":        {Listen: "127.0.0.1:0", Listener: Listener{CertFile: certFile}},
		"has no certificate":   {Listen: "127.0.0.1:0", Listener: Listener{ClientCAFile: certFile}},
		"read the certificate": {Listen: "127.0.0.1:0", Listener: Listener{CertFile: keyFile, KeyFile: certFile}},
		"no certificate in":    {Listen: "127.0.0.1:0", Listener: Listener{CertFile: certFile, KeyFile: keyFile, ClientCAFile: keyFile}},
		"names no user":        {Listen: "127.0.0.1:0", Listener: Listener{UsersFile: empty}},
		"is not name:password": {Listen: "127.0.0.1:0", Listener: Listener{UsersFile: certFile}},
		"no such file":         {Listen: "127.0.0.1:0", Listener: Listener{UsersFile: empty + "x"}},
	} {
		o.Dir = t.TempDir()
		b, err := Open(o)
		if err == nil {
			b.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
