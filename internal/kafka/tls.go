package kafka

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"time"
)

// TLS says how connections are encrypted and authenticated. The zero value is plaintext.
type TLS struct {
	On bool
	// CAFile has the authorities, in PEM, for the brokers' certificates; empty: the system's.
	CAFile string
	// CertFile and KeyFile have the client certificate with its chain, and its key, in PEM;
	// both or neither.
	CertFile, KeyFile string
	// ServerName is the name in the brokers' certificates; empty: the name in the address.
	ServerName string
}

// Validate reports options that cannot work. It reads the files.
func (t TLS) Validate() error {
	switch {
	case !t.On && t != TLS{}:
		return errors.New("there are certificates, or a server name, but TLS is off")
	case t.CertFile != "" && t.KeyFile == "":
		return errors.New("there is a client certificate, but no key")
	case t.KeyFile != "" && t.CertFile == "":
		return errors.New("there is a key, but no client certificate")
	}
	_, err := t.config()
	return err
}

func (t TLS) config() (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: t.ServerName}
	if t.CAFile != "" {
		pem, err := os.ReadFile(t.CAFile)
		if err != nil {
			return nil, fmt.Errorf("read certificate authorities: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("read certificate authorities: %s holds no certificate in PEM", t.CAFile)
		}
	}
	if t.CertFile != "" {
		pair, err := tls.LoadX509KeyPair(t.CertFile, t.KeyFile)
		if err != nil {
			return nil, fmt.Errorf("read client certificate %s: %w", t.CertFile, err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}

// dialTimeout bounds a connection and its TLS handshake: a plaintext listener may wait for ever for
// the rest of a request.
const dialTimeout = 10 * time.Second

// dial connects to a broker with the files as they are now.
func (t TLS) dial(ctx context.Context, network, address string) (net.Conn, error) {
	config, err := t.config()
	if err != nil {
		return nil, err
	}
	dialer := tls.Dialer{NetDialer: &net.Dialer{Timeout: dialTimeout}, Config: config}
	conn, err := dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, &dialError{address, err}
	}
	return conn, nil
}

// dialError is a connection, or a TLS handshake, that did not come about.
type dialError struct {
	address string
	err     error
}

func (e *dialError) Error() string { return fmt.Sprintf("TLS with %s: %v", e.address, e.err) }
func (e *dialError) Unwrap() error { return e.err }
