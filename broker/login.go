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

// login is how clients of a door prove who they are. Its files are read again
// for each client, so that what is renewed on disk is taken up.
type login struct {
	certFile, keyFile, clientCAFile string
	usersFile                       string
}

var errLogin = errors.New("login failed")

// newLogin reads the files once, to say at the start what is wrong with them.
func newLogin(o Door) (*login, error) {
	l := &login{o.CertFile, o.KeyFile, o.ClientCAFile, o.UsersFile}
	if l.certFile != "" {
		if _, err := l.config(); err != nil {
			return nil, err
		}
	}
	if l.usersFile != "" {
		if _, err := l.users(); err != nil {
			return nil, err
		}
	}
	return l, nil
}

func (l *login) config() (*tls.Config, error) {
	pair, err := tls.LoadX509KeyPair(l.certFile, l.keyFile)
	if err != nil {
		return nil, fmt.Errorf("read the certificate %s of the listener: %w", l.certFile, err)
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}}
	if l.clientCAFile == "" {
		return config, nil
	}
	pem, err := os.ReadFile(l.clientCAFile)
	if err != nil {
		return nil, fmt.Errorf("read the authorities of clients: %w", err)
	}
	config.ClientAuth, config.ClientCAs = tls.RequireAndVerifyClientCert, x509.NewCertPool()
	if !config.ClientCAs.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("read the authorities of clients: %s holds no certificate in PEM", l.clientCAFile)
	}
	return config, nil
}

// encrypt does the TLS handshake, if there is TLS.
func (l *login) encrypt(ctx context.Context, conn net.Conn) (net.Conn, error) {
	if l.certFile == "" {
		return conn, nil
	}
	config, err := l.config()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errLogin, err)
	}
	ctx, cancel := context.WithTimeout(ctx, frameTimeout)
	defer cancel()
	encrypted := tls.Server(conn, config)
	if err := encrypted.HandshakeContext(ctx); err != nil {
		return nil, fmt.Errorf("%w: TLS: %w", errLogin, err)
	}
	return encrypted, nil
}

// users reads the file of users: a line for each, of a name, a colon and a
// password.
func (l *login) users() (map[string]string, error) {
	text, err := os.ReadFile(l.usersFile)
	if err != nil {
		return nil, fmt.Errorf("read the users of the listener: %w", err)
	}
	users := map[string]string{}
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		line = strings.TrimRight(line, "\r\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, password, ok := strings.Cut(line, ":")
		if !ok || name == "" || password == "" {
			return nil, fmt.Errorf("read the users of the listener: line %d of %s is not name:password", n, l.usersFile)
		}
		users[name] = password
	}
	if len(users) == 0 {
		return nil, fmt.Errorf("read the users of the listener: %s has none", l.usersFile)
	}
	return users, nil
}

// authenticate has the client log in by SASL, if the door has users.
func (v *visit) authenticate() error {
	if v.door.login.usersFile == "" {
		return nil
	}
	users, err := v.door.login.users()
	if err != nil {
		return fmt.Errorf("%w: %w", errLogin, err)
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
			if size > strangerFrame {
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
			if _, err := (patient{v.client}).Write(v.door.offered.answer(f)); err != nil {
				return err
			}
			continue
		}
		if has, ok := v.door.offered[f.key()]; !ok || f.version() < has.least || f.version() > has.most {
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
			r.SupportedMechanisms = []string{"PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"}
			resp = r
		case *kmsg.SASLAuthenticateRequest:
			r := req.ResponseKind().(*kmsg.SASLAuthenticateResponse)
			if step == nil {
				r.ErrorCode = kerr.IllegalSaslState.Code
				failed = errLogin
			} else if r.SASLAuthBytes, step, failed = step(users, req.SASLAuthBytes); failed != nil {
				r.ErrorCode = kerr.SaslAuthenticationFailed.Code
				failed = fmt.Errorf("%w: %w", errLogin, failed)
			}
			done = failed == nil && step == nil
			resp = r
		}
		if _, err := (patient{v.client}).Write(f.answer(resp)); err != nil || failed != nil {
			return errors.Join(failed, err)
		}
		if done {
			return nil
		}
	}
	return fmt.Errorf("%w: it takes too long", errLogin)
}

// exchange answers one message of a client. The next one is for what it
// returns; nil: the client has proved who it is.
type exchange func(users map[string]string, said []byte) (answer []byte, next exchange, err error)

var exchanges = map[string]exchange{
	"PLAIN":         byPlain,
	"SCRAM-SHA-256": byScram(sha256.New),
	"SCRAM-SHA-512": byScram(sha512.New),
}

var errPassword = errors.New("no such user, or another password")

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

// scramIterations are those of Kafka.
const scramIterations = 4096

// byScram is SCRAM (RFC 5802, RFC 7677) without channel binding. An unknown user
// fails as a wrong password does.
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
