package securedkafka

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Authority signs certificates. Its files are in a directory of the test.
type Authority struct {
	// File holds the authority's own certificate, in PEM.
	File string

	dir         string
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// NewAuthority makes an authority that clients do not trust yet.
func NewAuthority(t testing.TB) *Authority {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: serial(t), Subject: pkix.Name{CommonName: "authority of " + t.Name()},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	a := &Authority{dir: t.TempDir(), key: newKey(t)}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, a.key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	if a.certificate, err = x509.ParseCertificate(raw); err != nil {
		t.Fatal(err)
	}
	a.File = filepath.Join(a.dir, "ca.pem")
	write(t, a.File, block("CERTIFICATE", raw))
	return a
}

// Certificate is a certificate that an authority has signed.
type Certificate struct {
	// CertFile and KeyFile hold it and its key, in PEM; BothFile holds both, as
	// Kafka wants them.
	CertFile, KeyFile, BothFile string
}

// Options of a certificate. The zero value is good for 127.0.0.1, for a day.
type Options struct {
	// Host is the DNS name it is for, instead of 127.0.0.1.
	Host string
	// Expired is over since an hour.
	Expired bool
}

// Sign makes a certificate with this common name, which is also the name of its files. Signing
// the same name again replaces its files.
func (a *Authority) Sign(t testing.TB, name string, o Options) Certificate {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: serial(t), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-3 * time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	if o.Host != "" {
		template.IPAddresses, template.DNSNames = nil, []string{o.Host}
	}
	if o.Expired {
		template.NotAfter = time.Now().Add(-time.Hour)
	}
	key := newKey(t)
	raw, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	path := func(suffix string) string { return filepath.Join(a.dir, name+suffix) }
	c := Certificate{CertFile: path(".pem"), KeyFile: path("-key.pem"), BothFile: path("-both.pem")}
	certificate, secret := block("CERTIFICATE", raw), block("PRIVATE KEY", private)
	write(t, c.CertFile, certificate)
	write(t, c.KeyFile, secret)
	write(t, c.BothFile, append(secret, certificate...))
	return c
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func serial(t testing.TB) *big.Int {
	t.Helper()
	n, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func block(kind string, raw []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: raw})
}

func write(t testing.TB, path string, text []byte) {
	t.Helper()
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}
