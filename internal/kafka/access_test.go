package kafka_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/weftcrawl/weft/internal/kafka"
	"github.com/weftcrawl/weft/test/securedkafka"
)

func TestValidate(t *testing.T) {
	good := securedkafka.NewAuthority(t).Sign(t, "client", securedkafka.Options{})
	empty := filepath.Join(t.TempDir(), "empty")
	write(t, empty, "\n")
	tls := func(c kafka.TLS) kafka.Access {
		c.On = true
		return kafka.Access{Brokers: []string{"a:1"}, TLS: c}
	}
	sasl := func(s kafka.SASL) kafka.Access { return kafka.Access{Brokers: []string{"a:1"}, SASL: s} }
	secret := kafka.NewSecret("p")
	for _, tc := range []struct {
		kafka.Access
		want string // "": valid
	}{
		{kafka.At("a:1"), ""},
		{tls(kafka.TLS{CAFile: good.CertFile, CertFile: good.CertFile, KeyFile: good.KeyFile, ServerName: "b"}), ""},
		{sasl(kafka.SASL{Mechanism: kafka.Plain, User: "u", Password: secret}), ""},
		{sasl(kafka.SASL{Mechanism: kafka.ScramSHA512, User: "u", PasswordFile: good.KeyFile}), ""},

		{kafka.At("a:1", "[::1]:9092"), ""},

		{kafka.At(), "no brokers"},
		{kafka.At("a:1", ""), `broker "" is not host:port`},
		{kafka.At("a"), `broker "a" is not host:port`},
		{kafka.At("a:1", " b:1"), `broker " b:1" is not host:port`},
		{kafka.At("http://a:1"), `is not host:port`},
		{kafka.At("a:65536"), `is not host:port`},
		{kafka.At("::1:9092"), `is not host:port`},
		{kafka.Access{Brokers: []string{"a:1"}, TLS: kafka.TLS{CAFile: good.CertFile}}, "but TLS is off"},
		{tls(kafka.TLS{CertFile: good.CertFile}), "a client certificate, but no key"},
		{tls(kafka.TLS{KeyFile: good.KeyFile}), "a key, but no client certificate"},
		{tls(kafka.TLS{CertFile: good.CertFile, KeyFile: empty}), "read client certificate"},
		{tls(kafka.TLS{CAFile: empty}), "holds no certificate in PEM"},
		{tls(kafka.TLS{CAFile: empty + "none"}), "no such file"},
		{sasl(kafka.SASL{User: "u"}), "but no SASL mechanism"},
		{sasl(kafka.SASL{Password: secret}), "but no SASL mechanism"},
		{sasl(kafka.SASL{Mechanism: kafka.Plain, Password: secret}), "but no user"},
		{sasl(kafka.SASL{Mechanism: kafka.Plain, User: "u"}), "no password for the user u"},
		{sasl(kafka.SASL{Mechanism: kafka.Plain, User: "u", Password: secret, PasswordFile: empty}), "a password and a password file"},
		{sasl(kafka.SASL{Mechanism: kafka.Plain, User: "u", PasswordFile: empty}), "is empty"},
		{sasl(kafka.SASL{Mechanism: "gssapi", User: "u", Password: secret}), `"gssapi" is not one of`},
	} {
		err := tc.Validate()
		if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%+v: %v, want %q", tc.Access, err, tc.want)
		}
	}
}

// A secret does not show, however it is printed, and wherever it is a field.
func TestSecretDoesNotShow(t *testing.T) {
	const text = "s3cr3t"
	secret := kafka.NewSecret(text)
	type hidden struct{ deep kafka.SASL }
	access := kafka.Access{SASL: kafka.SASL{User: "u", Password: secret}}
	var out bytes.Buffer
	for _, value := range []any{secret, &secret, access, &access, access.SASL, []any{secret}, map[string]any{"a": secret}, hidden{access.SASL}, &hidden{access.SASL}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%T", "%p", "%t", "%c", "%U", "%e", "%b", "%o", "%w"} {
			fmt.Fprintf(&out, verb+"\n", value)
		}
		for _, logger := range []*slog.Logger{
			slog.New(slog.NewTextHandler(&out, nil)), slog.New(slog.NewJSONHandler(&out, nil)),
		} {
			logger.Info("said", "value", value, "error", fmt.Errorf("with %v", value))
		}
		if raw, err := json.Marshal(value); err == nil {
			out.Write(raw)
		}
		if raw, err := yaml.Marshal(value); err == nil {
			out.Write(raw)
		}
	}
	if said := out.String(); strings.Contains(said, text) || strings.Contains(said, fmt.Sprintf("%x", text)) || strings.Contains(said, fmt.Sprintf("%X", text)) {
		t.Errorf("the secret shows in\n%s", said)
	}
	if !strings.Contains(out.String(), "[secret]") {
		t.Error("nothing says that there is a secret")
	}
	if !kafka.NewSecret("").IsZero() || secret.IsZero() {
		t.Error("an empty text is no secret, and this one is one")
	}
}
