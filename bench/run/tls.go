package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"runtime"
	"syscall"
	"time"

	"github.com/weftcrawl/weft/inspect/plan"
	"github.com/weftcrawl/weft/test/webserver"
)

// The amounts that measureTLS measures with.
const (
	handshakes    = 200
	encryptedKiB  = 64 << 10
	rusageThread  = 1 // RUSAGE_THREAD of getrusage(2)
	certificateIn = "weft.test"
)

// measureTLS measures what TLS costs a client: handshakes of TLS 1.3 as Go makes
// them by default, with a chain of one P-256 certificate to verify, and reading.
// The client has a thread of its own, whose processor time is what counts.
func measureTLS() (plan.TLS, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	certificate, err := webserver.NewCertificate(certificateIn)
	if err != nil {
		return plan.TLS{}, err
	}
	client := &tls.Config{RootCAs: x509.NewCertPool(), ServerName: certificateIn}
	client.RootCAs.AddCert(certificate.Leaf)
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{certificate}})
	if err != nil {
		return plan.TLS{}, err
	}
	defer l.Close()
	go serveTLS(l)
	var took plan.TLS
	before, err := threadCPU()
	if err != nil {
		return took, err
	}
	var conn *tls.Conn
	for range handshakes {
		if conn != nil {
			_ = conn.Close()
		}
		if conn, err = tls.Dial("tcp", l.Addr().String(), client); err != nil {
			return took, err
		}
	}
	after, err := threadCPU()
	if err != nil {
		return took, err
	}
	took.Handshake = float64((after - before).Microseconds()) / handshakes
	_, err = io.CopyN(io.Discard, conn, encryptedKiB<<10)
	end, errCPU := threadCPU()
	took.KiB = float64((end - after).Microseconds()) / encryptedKiB
	return took, errors.Join(err, errCPU, conn.Close())
}

// serveTLS sends zeros to each client, as long as the client reads.
func serveTLS(l net.Listener) {
	zeros := make([]byte, 1<<16)
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer conn.Close()
			for {
				if _, err := conn.Write(zeros); err != nil {
					return
				}
			}
		}()
	}
}

func threadCPU() (time.Duration, error) {
	var u syscall.Rusage
	if err := syscall.Getrusage(rusageThread, &u); err != nil {
		return 0, err
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), nil
}
