package broker

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"hash"
	"net"
	"os"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

var errLogin = errors.New("login failed")

// The files of a listener are read again for each client, so that renewed files are used.

// tls is the listener's side of TLS; nil without a certificate.
func (d Listener) tls() (*tls.Config, error) {
	if d.CertFile == "" {
		return nil, nil
	}
	pair, err := tls.LoadX509KeyPair(d.CertFile, d.KeyFile)
	if err != nil {
		return nil, fmt.Errorf("read the certificate %s of the listener: %w", d.CertFile, err)
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}}
	if d.ClientCAFile == "" {
		return config, nil
	}
	pem, err := os.ReadFile(d.ClientCAFile)
	if err != nil {
		return nil, fmt.Errorf("read the authorities of clients: %w", err)
	}
	config.ClientAuth, config.ClientCAs = tls.RequireAndVerifyClientCert, x509.NewCertPool()
	if !config.ClientCAs.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("read the authorities of clients: %s holds no certificate in PEM", d.ClientCAFile)
	}
	return config, nil
}

// users reads the file of users: lines of a name, a colon and a password. It returns nil without
// a file.
func (d Listener) users() (map[string]string, error) {
	if d.UsersFile == "" {
		return nil, nil
	}
	text, err := os.ReadFile(d.UsersFile)
	if err != nil {
		return nil, fmt.Errorf("read the users of the listener: %w", err)
	}
	users := map[string]string{}
	n := 0
	for line := range strings.Lines(strings.TrimPrefix(string(text), "\ufeff")) {
		n++
		line = strings.TrimRight(line, "\r\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, password, ok := strings.Cut(line, ":")
		if !ok || name == "" || password == "" {
			return nil, fmt.Errorf("read the users of the listener: line %d of %s is not name:password", n, d.UsersFile)
		}
		users[name] = password
	}
	if len(users) == 0 {
		return nil, fmt.Errorf("read the users of the listener: %s names no user", d.UsersFile)
	}
	return users, nil
}

// encrypt does the TLS handshake, if there is a certificate.
func (d Listener) encrypt(ctx context.Context, conn net.Conn) (net.Conn, error) {
	config, err := d.tls()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errLogin, err)
	}
	if config == nil {
		return conn, nil
	}
	ctx, cancel := context.WithTimeout(ctx, frameTimeout)
	defer cancel()
	encrypted := tls.Server(conn, config)
	if err := encrypted.HandshakeContext(ctx); err != nil {
		return nil, fmt.Errorf("%w: TLS: %w", errLogin, err)
	}
	return encrypted, nil
}

// authenticate logs the client in by SASL, if the listener has users.
func (v *clientSession) authenticate() error {
	users, err := v.listener.options.users()
	if err != nil {
		return fmt.Errorf("%w: %w", errLogin, err)
	}
	if users == nil {
		return nil
	}
	until := time.Now().Add(frameTimeout)
	var step exchange
	for time.Now().Before(until) {
		f, err := readFrame(v.client, func(key int16, size int) error {
			switch kmsg.Key(key) {
			case kmsg.ApiVersions, kmsg.SASLHandshake, kmsg.SASLAuthenticate:
			default:
				return fmt.Errorf("%w: a request before it", errLogin)
			}
			if size > maxClientFrame {
				return fmt.Errorf("%w: %d bytes before a login", errTooLarge, size)
			}
			return nil
		})
		if err != nil {
			return err
		}
		var resp kmsg.Response
		done := false
		if kmsg.Key(f.key()) == kmsg.ApiVersions {
			if _, err := (timedWriter{v.client}).Write(v.listener.offered.answer(f)); err != nil {
				return err
			}
			continue
		}
		if has, ok := v.listener.offered[f.key()]; !ok || f.version() < has.least || f.version() > has.most {
			return fmt.Errorf("%w: %s version %d", errUnknown, kmsg.NameForKey(f.key()), f.version())
		}
		req, err := f.decode()
		if err != nil {
			return err
		}
		var failed error
		switch req := req.(type) {
		case *kmsg.SASLHandshakeRequest:
			r := req.ResponseKind().(*kmsg.SASLHandshakeResponse)
			if step = exchanges[req.Mechanism]; step == nil {
				r.ErrorCode = kerr.UnsupportedSaslMechanism.Code
			}
			if req.Version == 0 { // the bytes behind it are not a request
				r.ErrorCode, step = kerr.UnsupportedVersion.Code, nil
			}
			r.SupportedMechanisms = []string{"PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"}
			resp = r
		case *kmsg.SASLAuthenticateRequest:
			r := req.ResponseKind().(*kmsg.SASLAuthenticateResponse)
			if step == nil {
				r.ErrorCode = kerr.IllegalSaslState.Code
				failed = errLogin
			} else if r.SASLAuthBytes, step, failed = step(users, req.SASLAuthBytes); failed != nil {
				r.ErrorCode, r.ErrorMessage = kerr.SaslAuthenticationFailed.Code, kmsg.StringPtr(failed.Error())
				failed = fmt.Errorf("%w: %w", errLogin, failed)
			}
			done = failed == nil && step == nil
			resp = r
		}
		if _, err := (timedWriter{v.client}).Write(f.answer(resp)); err != nil || failed != nil {
			return errors.Join(failed, err)
		}
		if done {
			return nil
		}
	}
	return fmt.Errorf("%w: it takes too long", errLogin)
}

// exchange answers one message of a client. next answers the next message; it is nil when the
// client is authenticated.
type exchange func(users map[string]string, said []byte) (answer []byte, next exchange, err error)

var exchanges = map[string]exchange{
	"PLAIN":         byPlain,
	"SCRAM-SHA-256": byScram(sha256.New),
	"SCRAM-SHA-512": byScram(sha512.New),
}

var errPassword = errors.New("unknown user or wrong password")

// byPlain is PLAIN (RFC 4616).
func byPlain(users map[string]string, said []byte) ([]byte, exchange, error) {
	parts := bytes.SplitN(said, []byte{0}, 3)
	if len(parts) != 3 || len(parts[0]) > 0 && !bytes.Equal(parts[0], parts[1]) {
		return nil, nil, errMalformed
	}
	password, ok := users[string(parts[1])]
	if subtle.ConstantTimeCompare([]byte(password), parts[2]) != 1 || !ok {
		return nil, nil, errPassword
	}
	return nil, nil, nil
}

// scramIterations is the number that Kafka uses.
const scramIterations = 4096

// byScram is SCRAM (RFC 5802, RFC 7677) without channel binding. An unknown user fails like a
// wrong password.
func byScram(newHash func() hash.Hash) exchange {
	sign := func(key []byte, text string) []byte {
		mac := hmac.New(newHash, key)
		mac.Write([]byte(text))
		return mac.Sum(nil)
	}
	return func(users map[string]string, said []byte) ([]byte, exchange, error) {
		bare, ok := strings.CutPrefix(string(said), "n,")
		authorize, bare, found := strings.Cut(bare, ",") // a=name, or nothing
		if !ok || !found {
			return nil, nil, errMalformed
		}
		name, nonce, ok := strings.Cut(bare, ",")
		nonce, isNonce := strings.CutPrefix(nonce, "r=")
		nonce, _, _ = strings.Cut(nonce, ",") // extensions
		name, isName := strings.CutPrefix(name, "n=")
		if !ok || !isNonce || !isName || nonce == "" || authorize != "" && authorize != "a="+name {
			return nil, nil, errMalformed
		}
		password, known := users[strings.NewReplacer("=2C", ",", "=3D", "=").Replace(name)]
		salt := make([]byte, 16)
		_, _ = rand.Read(salt) // never fails
		nonce += rand.Text()
		first := fmt.Sprintf("r=%s,s=%s,i=%d", nonce, base64.StdEncoding.EncodeToString(salt), scramIterations)
		return []byte(first), func(_ map[string]string, said []byte) ([]byte, exchange, error) {
			without, proof, ok := strings.Cut(string(said), ",p=")
			binding, theirs, found := strings.Cut(without, ",r=")
			proved, err := base64.StdEncoding.DecodeString(proof)
			if !ok || !found || err != nil || binding != "c="+base64.StdEncoding.EncodeToString([]byte("n,"+authorize+",")) || theirs != nonce {
				return nil, nil, errMalformed
			}
			salted, err := pbkdf2.Key(newHash, password, salt, scramIterations, newHash().Size())
			if err != nil {
				return nil, nil, err
			}
			text := bare + "," + first + "," + without
			client := sign(salted, "Client Key")
			stored := newHash()
			stored.Write(client)
			want := sign(stored.Sum(nil), text)
			subtle.XORBytes(want, want, client)
			if !hmac.Equal(want, proved) || !known {
				return nil, nil, errPassword
			}
			return []byte("v=" + base64.StdEncoding.EncodeToString(sign(sign(salted, "Server Key"), text))), nil, nil
		}, nil
	}
}
