package fetch

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"

	"golang.org/x/net/http2"
)

// Class names why an exchange has no usable response. It is empty when the
// response was read. The names are records' contents: they do not change.
//
//	class               what happened                                 status?
//	invalid_url         not an http or https URL, or not canonical    no
//	lease_lost          Permit said no, or the context says so        maybe
//	canceled            the caller's context ended                    maybe
//	dns_not_found       the name does not exist, or has no address    no
//	dns_error           resolvers failed or were silent               no
//	address_refused     only addresses that are not public            no
//	port_refused        a port of another protocol (Fetch standard)   no
//	connect_refused     nobody listens                                no
//	connect_timeout     no connection (TCP and TLS) in time           no
//	connect_error       unreachable, and other failures to connect    no
//	local_error         this machine lacks descriptors, ports, memory,
//	                    or an address of the family                   no
//	tls_certificate     the certificate does not hold                 no
//	tls_error           the TLS handshake failed otherwise            no
//	first_byte_timeout  connected, but no header in time              no
//	total_timeout       the exchange took too long                    maybe
//	slow_body           the body came below Options.MinBodyRate, or   yes
//	                    too slowly for memory that others waited for
//	reset               connection or stream reset before the header  no
//	no_response         connection closed before the header's end     no
//	stale_connection    a kept connection was closed, or refused the  no
//	                    request, before any byte of an answer
//	header_too_large    the response header exceeds its limit         no
//	bad_response        not HTTP, or HTTP that contradicts itself     maybe
//	body_truncated      the body ended before its announced end       yes
//	bad_encoding        Content-Encoding unknown to us or not true    yes
//	unwanted_type       Options.WantBody said no; no body was read    yes
//	panic               our code panicked; a caller says so, not Do   no
type Class string

// The classes; what they mean is said at Class.
const (
	ClassNone             Class = ""
	ClassInvalidURL       Class = "invalid_url"
	ClassLeaseLost        Class = "lease_lost"
	ClassCanceled         Class = "canceled"
	ClassDNSNotFound      Class = "dns_not_found"
	ClassDNSError         Class = "dns_error"
	ClassAddressRefused   Class = "address_refused"
	ClassPortRefused      Class = "port_refused"
	ClassConnectRefused   Class = "connect_refused"
	ClassConnectTimeout   Class = "connect_timeout"
	ClassConnectError     Class = "connect_error"
	ClassLocalError       Class = "local_error"
	ClassTLSCertificate   Class = "tls_certificate"
	ClassTLSError         Class = "tls_error"
	ClassFirstByteTimeout Class = "first_byte_timeout"
	ClassTotalTimeout     Class = "total_timeout"
	ClassSlowBody         Class = "slow_body"
	ClassReset            Class = "reset"
	ClassNoResponse       Class = "no_response"
	ClassStaleConnection  Class = "stale_connection"
	ClassHeaderTooLarge   Class = "header_too_large"
	ClassBadResponse      Class = "bad_response"
	ClassBodyTruncated    Class = "body_truncated"
	ClassBadEncoding      Class = "bad_encoding"
	ClassUnwantedType     Class = "unwanted_type"
	ClassPanic            Class = "panic"
)

// Classes returns every class but ClassNone, for tables of policies and
// metrics that must know them all.
func Classes() []Class {
	return []Class{
		ClassInvalidURL, ClassLeaseLost, ClassCanceled, ClassDNSNotFound, ClassDNSError,
		ClassAddressRefused, ClassPortRefused, ClassConnectRefused, ClassConnectTimeout, ClassConnectError,
		ClassLocalError, ClassTLSCertificate, ClassTLSError, ClassFirstByteTimeout,
		ClassTotalTimeout, ClassSlowBody, ClassReset, ClassNoResponse, ClassStaleConnection, ClassHeaderTooLarge,
		ClassBadResponse, ClassBodyTruncated, ClassBadEncoding, ClassUnwantedType, ClassPanic,
	}
}

// ErrLeaseLost is the cause with which a caller cancels the context of
// exchanges in flight when the right to make them has ended.
var ErrLeaseLost error = errLeaseLost

var errLeaseLost = failure{ClassLeaseLost, errors.New("the lease to make requests has ended")}

// failure is an error whose class is known where it arises.
type failure struct {
	class Class
	err   error
}

func (f failure) Error() string { return f.err.Error() }
func (f failure) Unwrap() error { return f.err }

func failf(class Class, format string, args ...any) error {
	return failure{class, fmt.Errorf(format, args...)}
}

// Classify names an error of a dial, of net/http's transport before the
// response header, or of this package. Errors that are nothing else are
// bad_response: at that point a server had been reached. Nil is ClassNone.
func Classify(err error) Class {
	if err == nil {
		return ClassNone
	}
	var known failure
	if errors.As(err, &known) {
		return known.class
	}
	if class := classifyDial(err); class != ClassNone {
		return class
	}
	var stream http2.StreamError
	text := err.Error()
	switch {
	case hasAny(text, "server response headers exceeded", "response header list larger", "header list too large"):
		// net/http has no types for these; the tests of failures hold the texts.
		return ClassHeaderTooLarge
	case errors.Is(err, context.Canceled):
		return ClassCanceled
	case errors.Is(err, context.DeadlineExceeded), isTimeout(err):
		return ClassTotalTimeout
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, syscall.ECONNABORTED):
		return ClassReset
	case errors.As(err, &stream) && stream.Cause != nil && stream.Cause.Error() == "received from peer":
		return ClassReset // the others are ours, about what the peer sent
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed):
		return ClassNoResponse
	case hasAny(text, "server closed idle connection", "server sent GOAWAY", "received GOAWAY", "shutdown GOAWAY",
		"unexpected EOF reading trailer", "client connection lost", "client connection force closed", "client conn not usable", "client conn could not be established"):
		return ClassNoResponse
	}
	return ClassBadResponse
}

// isStale tells whether err, before the response header, is that of a kept
// connection: nothing came back, as from one that the server had closed. A
// stream that was reset is not, for its connection lives; one that was refused
// is, since the transport would repeat the request (RFC 9113 section 8.7).
func isStale(x *Exchange, err error) bool {
	var stream http2.StreamError
	class := Classify(err)
	return x.Reused && x.FirstByte == 0 && (class == ClassNoResponse || class == ClassReset) && !errors.As(err, &stream)
}

// classifyDial names errors of resolving, connecting and TLS.
func classifyDial(err error) Class {
	var (
		dns       *net.DNSError
		op        *net.OpError
		verify    *tls.CertificateVerificationError
		authority x509.UnknownAuthorityError
		host      x509.HostnameError
		invalid   x509.CertificateInvalidError
		record    tls.RecordHeaderError
		alert     tls.AlertError
	)
	switch {
	case errors.As(err, &dns) && dns.IsNotFound:
		return ClassDNSNotFound
	case errors.As(err, &dns):
		return ClassDNSError
	case errors.As(err, &verify), errors.As(err, &authority), errors.As(err, &host), errors.As(err, &invalid):
		return ClassTLSCertificate
	case errors.As(err, &record), errors.As(err, &alert):
		return ClassTLSError
	case errors.Is(err, syscall.ECONNREFUSED):
		return ClassConnectRefused
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE), errors.Is(err, syscall.ENOBUFS),
		errors.Is(err, syscall.ENOMEM), errors.Is(err, syscall.EADDRNOTAVAIL):
		return ClassLocalError
	case !errors.As(err, &op) || op.Op != "dial":
		return ClassNone
	case isTimeout(err), errors.Is(err, syscall.ETIMEDOUT):
		return ClassConnectTimeout
	case errors.Is(err, context.Canceled):
		return ClassCanceled
	}
	return ClassConnectError
}

// classifyBody names an error met while the body was read from the wire: a
// connection that died is body_truncated whichever way it died.
func classifyBody(err error) Class {
	switch class := Classify(err); class {
	case ClassReset, ClassNoResponse:
		return ClassBodyTruncated
	default:
		return class
	}
}

func isTimeout(err error) bool {
	var timeout interface{ Timeout() bool }
	return errors.As(err, &timeout) && timeout.Timeout()
}

func hasAny(s string, parts ...string) bool {
	for _, part := range parts {
		if strings.Contains(s, part) {
			return true
		}
	}
	return false
}
