package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"runtime"
	"syscall"
	"time"

	"github.com/weftcrawl/weft/inspect/plan"
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
	server, client, err := tlsConfigs()
	if err != nil {
		return plan.TLS{}, err
	}
	l, err := tls.Listen("tcp", "127.0.0.1:0", server)
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

func tlsConfigs() (server, client *tls.Config, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: certificateIn}, DNSNames: []string{certificateIn},
		NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, nil, fmt.Errorf("make a certificate: %w", err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, nil, err
	}
	roots := x509.NewCertPool()
	roots.AddCert(leaf)
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}},
		&tls.Config{RootCAs: roots, ServerName: certificateIn}, nil
}

func threadCPU() (time.Duration, error) {
	var u syscall.Rusage
	if err := syscall.Getrusage(rusageThread, &u); err != nil {
		return 0, err
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), nil
}
