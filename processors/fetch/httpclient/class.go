package httpclient

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
	"syscall"

	"golang.org/x/net/http2"
)

// Class names why an exchange has no usable response. It is empty when the
// response was read. The names are records' contents: they do not change.
type Class string

// The classes, by what their exchanges have.
const (
	ClassNone Class = "" // the response was read

	// The exchange has no status:

	ClassInvalidURL       Class = "invalid_url"        // not an http or https URL, or not canonical
	ClassDNSNotFound      Class = "dns_not_found"      // the name does not exist, or has no address
	ClassDNSError         Class = "dns_error"          // resolvers failed or were silent
	ClassAddressRefused   Class = "address_refused"    // only addresses that are not public
	ClassPortRefused      Class = "port_refused"       // a port of another protocol (Fetch standard)
	ClassConnectRefused   Class = "connect_refused"    // no process listens
	ClassConnectTimeout   Class = "connect_timeout"    // no connection (TCP and TLS) in time
	ClassConnectError     Class = "connect_error"      // unreachable, and other failures to connect
	ClassLocalError       Class = "local_error"        // no descriptors, ports, memory or address family here
	ClassTLSCertificate   Class = "tls_certificate"    // the certificate is not valid
	ClassTLSError         Class = "tls_error"          // the TLS handshake failed otherwise
	ClassFirstByteTimeout Class = "first_byte_timeout" // connected, but no header in time
	ClassReset            Class = "reset"              // connection or stream reset before the header
	ClassNoResponse       Class = "no_response"        // connection closed before the header's end
	// A kept connection was closed, or refused the request, before any byte of an answer.
	ClassStaleConnection Class = "stale_connection"
	ClassHeaderTooLarge  Class = "header_too_large" // the response header exceeds its limit
	ClassPanic           Class = "panic"            // our code panicked; the caller sets it, not Do
	// The crawl replays an archive, which has no response of the URL. No request was made.
	ClassNotArchived Class = "not_archived"

	// The exchange may have a status:

	ClassLeaseLost    Class = "lease_lost"    // Permit said no, or the context says so
	ClassCanceled     Class = "canceled"      // the caller's context ended
	ClassTotalTimeout Class = "total_timeout" // the exchange took too long
	ClassBadResponse  Class = "bad_response"  // not HTTP, or HTTP that contradicts itself

	// The exchange has a status:

	// The body came below Options.MinBodyRate, or too slowly for memory that others waited for.
	ClassSlowBody      Class = "slow_body"
	ClassBodyTruncated Class = "body_truncated" // the body ended before its announced end
	ClassBadEncoding   Class = "bad_encoding"   // Content-Encoding unknown to us or not true
	ClassUnwantedType  Class = "unwanted_type"  // Options.WantBody said no; no body was read
	// The crawl replays an archive, whose responses of the URL all say that the crawl is to try
	// again. That would bring the same responses.
	ClassArchivedFailure Class = "archived_failure"
)

// Classes returns every class except ClassNone, for tables of policies and metrics that must
// know them all.
func Classes() []Class {
	return []Class{
		ClassInvalidURL, ClassLeaseLost, ClassCanceled, ClassDNSNotFound, ClassDNSError,
		ClassAddressRefused, ClassPortRefused, ClassConnectRefused, ClassConnectTimeout, ClassConnectError,
		ClassLocalError, ClassTLSCertificate, ClassTLSError, ClassFirstByteTimeout,
		ClassTotalTimeout, ClassSlowBody, ClassReset, ClassNoResponse, ClassStaleConnection, ClassHeaderTooLarge,
		ClassBadResponse, ClassBodyTruncated, ClassBadEncoding, ClassUnwantedType, ClassPanic,
		ClassNotArchived, ClassArchivedFailure,
	}
}

// ErrLeaseLost is the cause with which a caller cancels the context of
// exchanges in flight when the right to make them has ended.
var ErrLeaseLost error = errLeaseLost

var errLeaseLost = failure{ClassLeaseLost, errors.New("the lease to make requests has ended")}

// failure is an error whose class is known where it occurs.
type failure struct {
	class Class
	err   error
}

func (f failure) Error() string { return f.err.Error() }
func (f failure) Unwrap() error { return f.err }

func failf(class Class, format string, args ...any) error {
	return failure{class, fmt.Errorf(format, args...)}
}

// Classify names an error of a dial, of net/http's transport before the response header, or of
// this package. All other errors are bad_response: at that point a server had been reached.
// Nil is ClassNone.
func Classify(err error) Class {
	if err == nil {
		return ClassNone
	}
	if known, ok := errors.AsType[failure](err); ok {
		return known.class
	}
	op, dialled := errors.AsType[*net.OpError](err)
	dialled = dialled && op.Op == "dial"
	stream, isStream := errors.AsType[http2.StreamError](err)
	switch {
	case isNotFound(err):
		return ClassDNSNotFound
	case is[*net.DNSError](err):
		return ClassDNSError
	case is[*tls.CertificateVerificationError](err), is[x509.UnknownAuthorityError](err),
		is[x509.HostnameError](err), is[x509.CertificateInvalidError](err):
		return ClassTLSCertificate
	case is[tls.RecordHeaderError](err), is[tls.AlertError](err), isAlert(err):
		return ClassTLSError
	case errors.Is(err, syscall.ECONNREFUSED):
		return ClassConnectRefused
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE), errors.Is(err, syscall.ENOBUFS),
		errors.Is(err, syscall.ENOMEM), errors.Is(err, syscall.EADDRNOTAVAIL):
		return ClassLocalError
	case dialled && (isTimeout(err) || errors.Is(err, syscall.ETIMEDOUT)):
		return ClassConnectTimeout
	case dialled && !errors.Is(err, context.Canceled):
		return ClassConnectError
	case headerTooLarge.MatchString(err.Error()):
		return ClassHeaderTooLarge
	case errors.Is(err, context.Canceled):
		return ClassCanceled
	case errors.Is(err, context.DeadlineExceeded), isTimeout(err):
		return ClassTotalTimeout
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, syscall.ECONNABORTED):
		return ClassReset
	case isStream && stream.Cause != nil && stream.Cause.Error() == "received from peer":
		return ClassReset // other stream errors are our judgement of what the peer sent
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed),
		connectionEnded.MatchString(err.Error()):
		return ClassNoResponse
	}
	return ClassBadResponse
}

// net/http has no types for these errors; the tests of failures check the texts.
var (
	headerTooLarge  = regexp.MustCompile(`server response headers exceeded|response header list larger|header list too large`)
	connectionEnded = regexp.MustCompile(`server closed idle connection|(server sent|received|shutdown) GOAWAY|` +
		`unexpected EOF reading trailer|client connection (lost|force closed)|client conn (not usable|could not be established)`)
)

// isStale tells whether err, before the response header, means that the server had closed a
// kept connection: no byte came back. A stream that was reset is not, because its connection
// lives. A refused stream counts as such, because the transport would repeat the request (RFC
// 9113 section 8.7).
func isStale(x *Exchange, err error) bool {
	class := Classify(err)
	return x.Reused && x.FirstByte == 0 && (class == ClassNoResponse || class == ClassReset) && !is[http2.StreamError](err)
}

// classifyBody names an error that occurred while the body was read from the wire. The end of
// the connection is body_truncated, however it ended. An alert of TLS is bad_response: the
// handshake was done.
func classifyBody(err error) Class {
	switch class := Classify(err); {
	case class == ClassReset, class == ClassNoResponse:
		return ClassBodyTruncated
	case isAlert(err):
		return ClassBadResponse
	default:
		return class
	}
}

// isAlert tells whether err is an alert of TLS that the peer sent. With TLS 1.3 a client has done
// its handshake before the server refuses it, for example because it has no certificate (RFC 8446
// section 4.4.2.4). Then the alert is the answer to the request.
func isAlert(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "remote error"
}

func isTimeout(err error) bool {
	var timeout interface{ Timeout() bool }
	return errors.As(err, &timeout) && timeout.Timeout()
}

// is reports whether err has an error of type E in its tree.
func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}
