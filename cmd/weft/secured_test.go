package main

import (
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/test/freeport"
	"github.com/weftcrawl/weft/test/securedkafka"
	"github.com/weftcrawl/weft/test/webserver"
)

// Whole crawls on an Apache Kafka that wants client certificates, or a password: both Kafka
// clients of every stage are let in, and no output has the password.
func TestSecured(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a broker for itself")
	}
	kafka := securedkafka.Start(t)
	web, err := webserver.NewGenerated(webserver.Options{Pages: 30, Domains: 2, MedianBytes: 2000, MeanBytes: 3000})
	if err != nil {
		t.Fatal(err)
	}
	server, err := webserver.Serve(web, webserver.ServerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	client := kafka.Authority.Sign(t, "client", securedkafka.Options{})
	file := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(file, []byte(securedkafka.Password+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	over := func(listener string, more ...string) []string {
		return append([]string{"--brokers", strings.Join(kafka.AddrsOf(listener), ","), "--tls", "--tls-ca", kafka.Authority.File}, more...)
	}
	for name, way := range map[string][]string{
		"certificate": over(securedkafka.Mutual, "--tls-cert", client.CertFile, "--tls-key", client.KeyFile),
		"scram":       over(securedkafka.Login, "--sasl", "scram-sha-512", "--sasl-user", securedkafka.User, "--sasl-password-file", file),
		"plain":       over(securedkafka.Login, "--sasl", "plain", "--sasl-user", securedkafka.User, "--sasl-password-file", file),
	} {
		t.Run(name, func(t *testing.T) {
			var out said
			weft := func(args ...string) int {
				args = append(append(args, way...), "--crawl", name, "--log-level", "debug")
				return command(t.Context(), args, streams{strings.NewReader(""), &out, &out}, realEngine())
			}
			args := append([]string{"crawl", "--delay", "0s", "--allow-private", "--scope", "any", "--data", t.TempDir()}, server.Seeds()...)
			if code := weft(args...); code != exitDone {
				t.Fatalf("exit code %d:\n%s", code, &out)
			}
			for _, args := range [][]string{{"status", "--interval", "0s"}, {"topics"}, {"verify"}, {"why"}, {"consume", "config"}} {
				if code := weft(args...); code != exitDone {
					t.Errorf("%v: exit code %d", args, code)
				}
			}
			if pages := strings.Count(parsedOf(t, way, name), "\n"); pages != 30 {
				t.Errorf("%d pages, want 30", pages)
			}
			tellsNo(t, out.String())
		})
	}
	t.Run("environment", func(t *testing.T) { environment(t, over(securedkafka.Login)) })
}

func parsedOf(t *testing.T, way []string, crawl string) string {
	t.Helper()
	var out said
	args := append([]string{"consume", "parsed", "--crawl", crawl}, way...)
	if code := command(t.Context(), args, streams{strings.NewReader(""), &out, &out}, realEngine()); code != exitDone {
		t.Errorf("exit code %d: %s", code, &out)
	}
	return out.String()
}

// tellsNo fails if the password stands in a text.
func tellsNo(t *testing.T, text string) {
	t.Helper()
	if i := strings.Index(text, securedkafka.Password); i >= 0 {
		t.Errorf("the password stands in …%s…", text[max(i-200, 0):i+len(securedkafka.Password)])
	}
}

// environment has the password in the environment, and in the file of --config,
// and looks for it in everything that processes say and serve.
func environment(t *testing.T, way []string) {
	t.Setenv("WEFT_SASL", "scram-sha-256")
	t.Setenv("WEFT_SASL_USER", securedkafka.User)
	var out said
	weft := func(ctx context.Context, args ...string) int {
		args = append(append(args, way...), "--crawl", "environment", "--log-level", "debug")
		return command(ctx, args, streams{strings.NewReader(""), &out, &out}, realEngine())
	}
	config := filepath.Join(t.TempDir(), "weft.yaml")
	if err := os.WriteFile(config, []byte("sasl-password: '"+strings.ReplaceAll(securedkafka.Password, "'", "''")+"'\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code := weft(t.Context(), "topics", "create", "--config", config); code != exitDone {
		t.Fatalf("with a password in a file: exit code %d: %s", code, &out)
	}
	t.Setenv("WEFT_SASL_PASSWORD", securedkafka.Password)

	addresses, err := freeport.Loopback(1)
	if err != nil {
		t.Fatal(err)
	}
	address := addresses[0]
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan int, 1)
	go func() { ended <- weft(ctx, "run", "all", "--metrics", address, "--data", t.TempDir()) }()
	served := ""
	for _, path := range []string{"/metrics", "/healthz", "/debug/pprof/cmdline", "/debug/pprof/goroutine?debug=2"} {
		eventually(ctx, timeoutOfServing, func() bool {
			response, err := http.Get("http://" + address + path) //nolint:noctx // a test
			if err != nil {
				return false
			}
			defer response.Body.Close()
			text, err := io.ReadAll(response.Body)
			served += string(text)
			return err == nil && strings.Contains(served, "weft_") // the first answer may come before the stages have metrics
		})
	}
	if !strings.Contains(served, "weft_") {
		t.Errorf("no metrics are served:\n%s", served)
	}
	cancel()
	if code := <-ended; code != exitDone {
		t.Errorf("run: exit code %d", code)
	}
	t.Setenv("WEFT_SASL_PASSWORD", securedkafka.Password+"x")
	for _, args := range [][]string{{"status"}, {"run", "all", "--data", t.TempDir()}, {"crawl", "http://127.0.0.1:1/", "--data", t.TempDir()}, {"seed", "http://127.0.0.1:1/"}} {
		if code := weft(t.Context(), args...); code != exitUsage {
			t.Errorf("%v with a wrong password: exit code %d, want %d", args, code, exitUsage)
		}
	}
	if !strings.Contains(out.String(), "the cluster does not accept the password of user weft") {
		t.Errorf("a wrong password is not told:\n%s", &out)
	}
	tellsNo(t, out.String()+served)
}
