package cluster_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/IBM/sarama"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/cluster"
	"github.com/weftcrawl/weft/cluster/clustertest"
)

// Both clients are let in by each way, and what keeps them out is said in one
// sentence.
func TestKafka(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a broker for itself")
	}
	kafka := clustertest.Start(t)
	stranger := clustertest.NewAuthority(t)
	client := kafka.Authority.Sign(t, "client", clustertest.Options{})

	t.Run("renewed", func(t *testing.T) { renewed(t, kafka) })
	with := func(a cluster.Access, change func(*cluster.Access)) cluster.Access {
		change(&a)
		return a
	}
	for _, tc := range []struct {
		name string
		cluster.Access
		refused string // empty: let in
	}{
		{name: "TLS", Access: kafka.Over(clustertest.TLS)},
		{name: "a certificate", Access: kafka.With(client)},
		{name: "plain", Access: kafka.As(cluster.Plain, clustertest.Password)},
		{name: "SCRAM-SHA-256", Access: kafka.As(cluster.ScramSHA256, clustertest.Password)},
		{name: "SCRAM-SHA-512", Access: kafka.As(cluster.ScramSHA512, clustertest.Password)},
		{name: "another name", Access: with(kafka.Over(clustertest.Elsehost), func(a *cluster.Access) { a.TLS.ServerName = "kafka.example" })},

		{"wrong password by plain", kafka.As(cluster.Plain, "guessed"), "does not accept the password of user weft, or knows no such user by plain"},
		{"wrong password by SCRAM-SHA-256", kafka.As(cluster.ScramSHA256, "guessed"), "by scram-sha-256"},
		{"wrong password by SCRAM-SHA-512", kafka.As(cluster.ScramSHA512, "guessed"), "by scram-sha-512"},
		{"unknown user", with(kafka.As(cluster.ScramSHA512, "guessed"), func(a *cluster.Access) { a.SASL.User = "warp" }), "of user warp"},
		{"nobody's password", kafka.Over(clustertest.Login), "may want SASL"},
		{"a password that nobody wants", with(kafka.Over(clustertest.TLS), func(a *cluster.Access) { a.SASL = kafka.As(cluster.Plain, "x").SASL }), "wants no SASL"},
		{"unknown authority", with(kafka.Over(clustertest.TLS), func(a *cluster.Access) { a.TLS.CAFile = stranger.File }), "signed by unknown authority"},
		{"system's authorities", with(kafka.Over(clustertest.TLS), func(a *cluster.Access) { a.TLS.CAFile = "" }), "signed by unknown authority"},
		{"wrong name", kafka.Over(clustertest.Elsehost), "127.0.0.1"},
		{"expired", kafka.Over(clustertest.Expired), "certificate has expired"},
		{"no client certificate", kafka.Over(clustertest.Mutual), "may want a client certificate"},
		{"a stranger's certificate", kafka.With(stranger.Sign(t, "client", clustertest.Options{})), "may not accept the certificate in"},
		{"an expired client certificate", kafka.With(kafka.Authority.Sign(t, "old", clustertest.Options{Expired: true})), "may not accept the certificate in"},
		{"TLS with a plaintext listener", with(kafka.Over(clustertest.TLS), func(a *cluster.Access) { a.Brokers = kafka.Inside() }), "it may be a plaintext listener"},
		{"plaintext with a TLS listener", cluster.At(kafka.AddrsOf(clustertest.TLS)...), "it is a TLS listener"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if err := tc.Validate(); err != nil {
				t.Fatal(err)
			}
			err := tc.Ping(t.Context())
			bySarama := pingBySarama(t, tc.Access)
			if tc.refused == "" {
				if err != nil || bySarama != nil {
					t.Errorf("franz-go: %v; sarama: %v", err, bySarama)
				}
				return
			}
			t.Log(err)
			if !errors.Is(err, cluster.ErrRefused) || !strings.Contains(err.Error(), tc.refused) {
				t.Errorf("franz-go: %v, want %q", err, tc.refused)
			}
			if bySarama == nil {
				t.Error("sarama is let in")
			}
			for _, err := range []error{err, bySarama} {
				if strings.Contains(err.Error(), clustertest.Password) || strings.Contains(err.Error(), "guessed") {
					t.Errorf("an error tells the password: %v", err)
				}
			}
		})
	}
}

func pingBySarama(t *testing.T, a cluster.Access) error {
	t.Helper()
	config := sarama.NewConfig()
	config.Version, config.Metadata.Retry.Max = sarama.V2_8_0_0, 0
	if err := a.Configure(config); err != nil {
		t.Fatal(err)
	}
	client, err := sarama.NewClient(a.Brokers, config)
	if err != nil {
		return err
	}
	return client.Close()
}

// renewed replaces a client certificate, and the password's file, under clients
// that exist already.
func renewed(t *testing.T, kafka clustertest.Kafka) {
	stranger := clustertest.NewAuthority(t)
	files := stranger.Sign(t, "client", clustertest.Options{})
	byCertificate := kafka.With(files)
	byPassword := kafka.As(cluster.ScramSHA256, "")
	byPassword.SASL.PasswordFile = t.TempDir() + "/password"
	for _, a := range []cluster.Access{byCertificate, byPassword} {
		write(t, byPassword.SASL.PasswordFile, "old\n")
		client, err := kgo.NewClient(a.Client()...)
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		if err := client.Ping(t.Context()); err == nil {
			t.Fatal("let in too early")
		}
		good := kafka.Authority.Sign(t, "good", clustertest.Options{})
		copyFile(t, good.CertFile, files.CertFile)
		copyFile(t, good.KeyFile, files.KeyFile)
		write(t, byPassword.SASL.PasswordFile, clustertest.Password+"\n")
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
