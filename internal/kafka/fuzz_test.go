package kafka_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/internal/kafka"
	"github.com/weftcrawl/weft/test/securedkafka"
)

// What flags say of a cluster is refused, or is what a client of Kafka takes; and the password
// is not in the refusal and not in the output.
func FuzzAccess(f *testing.F) {
	f.Add("a:9092,[::1]:9092", true, "a", "plain", "user", "hush")
	f.Add("a", false, "", "scram-sha-256", "user", "")
	f.Add("a:1,,b:2", false, "", "", "", "")
	f.Add("[a]:b]:1", false, "", "SCRAM-SHA-512", "", "hush")
	f.Add("fe80::1%eth0:9092", false, "name", "", "", "")
	f.Fuzz(func(t *testing.T, brokers string, encrypted bool, name, mechanism, user, password string) {
		password = "hush" + password // a text that is not in the others by chance
		a := kafka.Access{
			Brokers: strings.Split(brokers, ","),
			TLS:     kafka.TLS{On: encrypted, ServerName: name},
			SASL:    kafka.SASL{Mechanism: kafka.Mechanism(mechanism), User: user, Password: kafka.NewSecret(password)},
		}
		said, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		invalid := a.Validate()
		if !strings.Contains(brokers+name+mechanism+user, "hush") {
			for _, told := range []string{string(said), fmt.Sprintf("%v %+v %#v", a, a, a), fmt.Sprint(invalid)} {
				if strings.Contains(told, "hush") {
					t.Fatalf("the password is told: %s", told)
				}
			}
		}
		if invalid != nil {
			return
		}
		if err := kgo.ValidateOpts(a.Options()...); err != nil {
			t.Fatalf("no client for what is valid: %v", err)
		}
		for _, broker := range a.Brokers {
			if host, port, err := net.SplitHostPort(broker); err != nil || host == "" || port == "" {
				t.Fatalf("broker %q", broker)
			}
		}
	})
}

// Files of certificates and passwords are used or refused, whatever is in them.
func FuzzFiles(f *testing.F) {
	authority := securedkafka.NewAuthority(f)
	good := authority.Sign(f, "client", securedkafka.Options{})
	read := func(name string) []byte {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		return text
	}
	f.Add(read(authority.File), read(good.CertFile), read(good.KeyFile), []byte("hush\r\n"))
	f.Add(read(good.CertFile), read(good.KeyFile), read(good.CertFile), []byte("\n"))
	f.Add([]byte("-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----"), []byte{}, []byte{0}, []byte("a\nb"))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, ca, cert, key, password []byte) {
		write := func(name string, text []byte) string {
			name = filepath.Join(dir, name)
			if err := os.WriteFile(name, text, 0o600); err != nil {
				t.Fatal(err)
			}
			return name
		}
		a := kafka.At("a:1")
		a.TLS = kafka.TLS{On: true, CAFile: write("ca", ca), CertFile: write("cert", cert), KeyFile: write("key", key)}
		encrypted := a.TLS.Validate()
		a.SASL = kafka.SASL{Mechanism: kafka.ScramSHA512, User: "u", PasswordFile: write("password", password)}
		known := a.SASL.Validate()
		if line := bytes.TrimSuffix(bytes.TrimSuffix(password, []byte("\n")), []byte("\r")); (known == nil) != (len(line) > 0) {
			t.Fatalf("a password of %q: %v", password, known)
		}
		if known != nil && len(password) > 8 && strings.Contains(known.Error(), string(password)) {
			t.Fatalf("the password is told: %v", known)
		}
		if valid := a.Validate(); (valid == nil) != (errors.Join(encrypted, known) == nil) {
			t.Fatalf("%v, by its parts %v and %v", valid, encrypted, known)
		}
	})
}
