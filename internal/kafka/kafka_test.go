package kafka_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/internal/kafka"
	"github.com/weftcrawl/weft/test/securedkafka"
)

// A client is let in by each way, and what keeps it out is said in one sentence.
func TestKafka(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a broker for itself")
	}
	server := securedkafka.Start(t)
	stranger := securedkafka.NewAuthority(t)
	client := server.Authority.Sign(t, "client", securedkafka.Options{})

	t.Run("renewed", func(t *testing.T) { renewed(t, server) })
	with := func(a kafka.Access, change func(*kafka.Access)) kafka.Access {
		change(&a)
		return a
	}
	for _, tc := range []struct {
		name string
		kafka.Access
		refused string // empty: let in
	}{
		{name: "TLS", Access: server.Over(securedkafka.TLS)},
		{name: "a certificate", Access: server.With(client)},
		{name: "plain", Access: server.As(kafka.Plain, securedkafka.Password)},
		{name: "SCRAM-SHA-256", Access: server.As(kafka.ScramSHA256, securedkafka.Password)},
		{name: "SCRAM-SHA-512", Access: server.As(kafka.ScramSHA512, securedkafka.Password)},
		{name: "another name", Access: with(server.Over(securedkafka.Elsehost), func(a *kafka.Access) { a.TLS.ServerName = "kafka.example" })},

		{"wrong password by plain", server.As(kafka.Plain, "guessed"), "does not accept the password of user weft, or knows no such user by plain"},
		{"wrong password by SCRAM-SHA-256", server.As(kafka.ScramSHA256, "guessed"), "by scram-sha-256"},
		{"wrong password by SCRAM-SHA-512", server.As(kafka.ScramSHA512, "guessed"), "by scram-sha-512"},
		{"unknown user", with(server.As(kafka.ScramSHA512, "guessed"), func(a *kafka.Access) { a.SASL.User = "warp" }), "of user warp"},
		{"nobody's password", server.Over(securedkafka.Login), "may want SASL"},
		{"a password that nobody wants", with(server.Over(securedkafka.TLS), func(a *kafka.Access) { a.SASL = server.As(kafka.Plain, "x").SASL }), "wants no SASL"},
		{"unknown authority", with(server.Over(securedkafka.TLS), func(a *kafka.Access) { a.TLS.CAFile = stranger.File }), "signed by unknown authority"},
		{"system's authorities", with(server.Over(securedkafka.TLS), func(a *kafka.Access) { a.TLS.CAFile = "" }), "signed by unknown authority"},
		{"wrong name", server.Over(securedkafka.Elsehost), "127.0.0.1"},
		{"expired", server.Over(securedkafka.Expired), "certificate has expired"},
		{"no client certificate", server.Over(securedkafka.Mutual), "may want a client certificate"},
		{"a stranger's certificate", server.With(stranger.Sign(t, "client", securedkafka.Options{})), "may not accept the certificate in"},
		{"an expired client certificate", server.With(server.Authority.Sign(t, "old", securedkafka.Options{Expired: true})), "may not accept the certificate in"},
		{"TLS with a plaintext listener", with(server.Over(securedkafka.TLS), func(a *kafka.Access) { a.Brokers = server.Inside() }), "it may be a plaintext listener"},
		{"plaintext with a TLS listener", kafka.At(server.AddrsOf(securedkafka.TLS)...), "it is a TLS listener"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if err := tc.Validate(); err != nil {
				t.Fatal(err)
			}
			err := tc.Ping(t.Context())
			if tc.refused == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			t.Log(err)
			if !errors.Is(err, kafka.ErrRefused) || !strings.Contains(err.Error(), tc.refused) {
				t.Errorf("%v, want %q", err, tc.refused)
			}
			if strings.Contains(err.Error(), securedkafka.Password) || strings.Contains(err.Error(), "guessed") {
				t.Errorf("an error tells the password: %v", err)
			}
		})
	}
}

// renewed replaces a client certificate, and the password's file, under clients
// that exist already.
func renewed(t *testing.T, server securedkafka.Kafka) {
	stranger := securedkafka.NewAuthority(t)
	files := stranger.Sign(t, "client", securedkafka.Options{})
	byCertificate := server.With(files)
	byPassword := server.As(kafka.ScramSHA256, "")
	byPassword.SASL.PasswordFile = t.TempDir() + "/password"
	for _, a := range []kafka.Access{byCertificate, byPassword} {
		write(t, byPassword.SASL.PasswordFile, "old\n")
		client, err := kgo.NewClient(a.Options()...)
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		if err := client.Ping(t.Context()); err == nil {
			t.Fatal("let in too early")
		}
		good := server.Authority.Sign(t, "good", securedkafka.Options{})
		copyFile(t, good.CertFile, files.CertFile)
		copyFile(t, good.KeyFile, files.KeyFile)
		write(t, byPassword.SASL.PasswordFile, securedkafka.Password+"\n")
		if err := client.Ping(t.Context()); err != nil {
			t.Errorf("with what was renewed: %v", err)
		}
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	write(t, to, string(text))
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
