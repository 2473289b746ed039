package blob_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/blob"
	"github.com/weftcrawl/weft/test/s3server"
)

func TestOpenRefuses(t *testing.T) {
	for location, want := range map[string]string{
		"":                                       "empty",
		"ftp://host/path":                        `scheme "ftp" is neither s3 nor file`,
		"s3:///prefix":                           "names no bucket",
		"s3://b/../c":                            "is not a valid key",
		"s3://b?zone=1":                          `no parameter "zone"`,
		"s3://b?path-style=perhaps":              "neither true nor false",
		"s3://b?endpoint=127.0.0.1:9000":         "endpoint is not http://host:port",
		"s3://b?endpoint=http://u:hush@h:1":      "endpoint is not http://host:port",
		"s3://key:hush@bucket/prefix":            "credentials belong in the environment",
		"s3://key:hush@bucket\x7f":               "not a URL",
		"file://host/path":                       "a file URL is file:///path",
		"file://":                                "a file URL is file:///path",
		"s3://b?endpoint=%zz":                    "name=value",
		"s3://b?region=a;path-style=true":        "name=value",
		"s3://b?region=a&region=b":               "says region more than once",
		"s3://b/prefix#?region=a":                "# is %23",
		"file:///path#1":                         "# is %23",
		"file:///path?endpoint=http://127.0.0.1": "a file URL is file:///path",
	} {
		_, err := blob.Open(t.Context(), location)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hush") {
			t.Errorf("%q: %v, want %q", location, err, want)
		}
	}
}

// What cannot be used is said in a sentence without the SDK's layers.
func TestProbeRefuses(t *testing.T) {
	t.Setenv("AWS_MAX_ATTEMPTS", "1")
	there := s3server.Fake(t, "crawls")
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	answering := func(status int, code string) (location string) {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			fmt.Fprintf(w, "<Error><Code>%s</Code><Message>sorry</Message></Error>", code)
		}))
		t.Cleanup(s.Close)
		return "s3://crawls?path-style=true&endpoint=" + s.URL
	}
	silent := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	t.Cleanup(silent.Close)
	for location, test := range map[string]struct {
		says      string
		temporary bool
	}{
		strings.Replace(there, "crawls", "missing", 1):            {": NoSuchBucket: The specified bucket does not exist", false},
		"s3://crawls?path-style=true&endpoint=http://127.0.0.1:1": {": dial tcp 127.0.0.1:1: connect: connection refused", true},
		answering(http.StatusInsufficientStorage, "Full"):         {": Full: sorry", true},
		"s3://crawls?path-style=true&endpoint=" + silent.URL:      {": EOF", true},
		answering(http.StatusForbidden, "AccessDenied"):           {": AccessDenied: sorry", false},
		file:            {"not a directory", false},
		file + "/below": {"not a directory", false},
	} {
		want := test.says
		b, err := blob.Open(t.Context(), location)
		if err != nil {
			t.Fatal(err)
		}
		err = blob.Probe(t.Context(), b)
		if err == nil || !strings.HasSuffix(err.Error(), want) || strings.Contains(err.Error(), s3server.Secret) {
			t.Errorf("%s: %v, want %q", location, err, want)
		}
		if blob.Temporary(err) != test.temporary {
			t.Errorf("%s: temporary %v: %v", location, !test.temporary, err)
		}
	}
}

// A process that was killed leaves temporary files, and no objects.
func TestFolderHidesTemporaryFiles(t *testing.T) {
	dir := t.TempDir()
	b, err := blob.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	put(t, b, "a/b", "x")
	if err := os.WriteFile(filepath.Join(dir, "a", ".put-123"), []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := list(t, b, ""); len(got) != 1 || got[0] != "a/b=1" {
		t.Errorf("listed %q", got)
	}
}

// Credentials are in no error, whatever is wrong with them.
func TestCredentialsStaySecret(t *testing.T) {
	there := s3server.Gateway(t, "crawls")
	for name, env := range map[string][2]string{
		"wrong secret": {"AWS_SECRET_ACCESS_KEY", "hush-" + s3server.Secret},
		"unknown key":  {"AWS_ACCESS_KEY_ID", "hush-" + s3server.Key},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(env[0], env[1])
			b, err := blob.Open(t.Context(), there)
			if err != nil {
				t.Fatal(err)
			}
			for what, err := range map[string]error{
				"probe": blob.Probe(t.Context(), b),
				"get":   b.Get(t.Context(), "k", io.Discard),
				"sweep": b.Sweep(t.Context(), "", time.Now()),
			} {
				if err == nil || strings.Contains(err.Error(), s3server.Secret) || strings.Contains(err.Error(), "hush") ||
					strings.Count(err.Error(), "\n") > 0 {
					t.Errorf("%s: %v", what, err)
				}
			}
			if said := b.String(); strings.Contains(said, "hush") || strings.Contains(said, s3server.Secret) {
				t.Errorf("the place is called %s", said)
			}
		})
	}
}

// Credentials that expire are asked for again, by the providers of the SDK: an open bucket works on.
func TestCredentialsAreRenewed(t *testing.T) {
	t.Setenv("AWS_MAX_ATTEMPTS", "1")
	there, endpoint, _ := strings.Cut(s3server.Fake(t, "crawls"), "endpoint=")
	behind, err := url.Parse(endpoint)
	if err != nil {
		t.Fatal(err)
	}
	var valid atomic.Value // the token that the server accepts
	proxy := httputil.NewSingleHostReverseProxy(behind)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Amz-Security-Token") != valid.Load() {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, "<Error><Code>ExpiredToken</Code><Message>it is old</Message></Error>")
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	dir := t.TempDir()
	issued, config := filepath.Join(dir, "issued"), filepath.Join(dir, "config")
	issue := func(token string, expires time.Time) {
		text := fmt.Sprintf(`{"Version":1,"AccessKeyId":"key","SecretAccessKey":"x","SessionToken":%q,"Expiration":%q}`, token, expires.UTC().Format(time.RFC3339))
		if err := os.WriteFile(issued, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(config, []byte("[default]\ncredential_process = cat "+issued+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "")
	t.Setenv("AWS_CONFIG_FILE", config)
	issue("first", time.Now().Add(-time.Minute)) // the SDK asks again at each use
	valid.Store("first")
	b, err := blob.Open(t.Context(), there+"endpoint="+front.URL)
	if err != nil {
		t.Fatal(err)
	}
	put := func() error { return b.Put(t.Context(), "object", strings.NewReader("x"), 1) }
	if err := put(); err != nil {
		t.Fatal(err)
	}
	valid.Store("second")
	if err := put(); err == nil || !strings.Contains(err.Error(), "ExpiredToken") {
		t.Errorf("with credentials that have expired: %v", err)
	}
	issue("second", time.Now().Add(time.Hour))
	if err := put(); err != nil {
		t.Errorf("with new credentials: %v", err)
	}
}
