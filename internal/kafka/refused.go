package kafka

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// ErrRefused means that a server at the brokers' addresses refuses this client because of TLS, its
// certificate, user or password. Trying again is not likely to help.
var ErrRefused = errors.New("refused")

// refusal is an ErrRefused that says what may be wrong.
type refusal struct {
	why string
	err error
}

func (r *refusal) Error() string   { return r.why }
func (r *refusal) Unwrap() []error { return []error{ErrRefused, r.err} }

// why says what the user can fix if a listener speaks another protocol than expected, or refuses
// this client. It is empty for errors that need no explanation: an address without a listener, a
// network that is down.
func (a Access) why(err error) string {
	var (
		verification *tls.CertificateVerificationError
		alert        *net.OpError
		notTLS       tls.RecordHeaderError
		firstRead    *kgo.ErrFirstReadEOF
		kafka        *kerr.Error
	)
	switch {
	case errors.As(err, &verification):
		return fmt.Sprintf("the broker's certificate is not to be trusted: %v", verification.Err)
	case errors.As(err, &alert) && alert.Op == "remote error" && a.TLS.CertFile == "":
		return fmt.Sprintf("the broker ends the TLS connection (%v): it may want a client certificate", alert.Err)
	case errors.As(err, &alert) && alert.Op == "remote error":
		return fmt.Sprintf("the broker ends the TLS connection (%v): it may not accept the certificate in %s", alert.Err, a.TLS.CertFile)
	case errors.As(err, &notTLS), a.TLS.On && a.handshakeFailed(err):
		return "no TLS is spoken there: it may be a plaintext listener"
	case errors.As(err, &kafka) && kafka.Code == kerr.SaslAuthenticationFailed.Code:
		return fmt.Sprintf("the cluster does not accept the password of user %s, or knows no such user by %s", a.SASL.User, a.SASL.Mechanism)
	case errors.As(err, &kafka) && kafka.Code == kerr.UnsupportedSaslMechanism.Code:
		return fmt.Sprintf("the listener does not offer %s", a.SASL.Mechanism)
	case errors.As(err, &kafka) && kafka.Code == kerr.IllegalSaslState.Code:
		return "the listener wants no SASL"
	case !a.TLS.On && strings.Contains(err.Error(), "tls alert"):
		return "TLS is spoken there, and plaintext here: it is a TLS listener"
	case errors.As(err, &firstRead) && a.SASL.Mechanism == "":
		return "the broker closes the connection at once: it may want SASL" + a.orTLS()
	case errors.As(err, &firstRead):
		return "the broker closes the connection at once: it may not want SASL" + a.orTLS()
	}
	return ""
}

func (a Access) orTLS() string {
	if a.TLS.On {
		return ", or another client certificate"
	}
	return ", or TLS"
}

// handshakeFailed reports whether a connection was made and its handshake failed. A plaintext broker
// reads the TLS greeting as a request that is too large and closes the connection, or as the
// beginning of a request and waits.
func (a Access) handshakeFailed(err error) bool {
	var (
		dialled *dialError
		dialing *net.OpError
	)
	if !errors.As(err, &dialled) || errors.As(err, &dialing) && dialing.Op == "dial" {
		return false // there is no listener
	}
	return errors.Is(err, io.EOF) || errors.Is(err, context.DeadlineExceeded)
}
