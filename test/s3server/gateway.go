package s3server

import (
	"bytes"
	"context"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/weftcrawl/weft/test/child"
	"github.com/weftcrawl/weft/test/freeport"
)

// Credentials of every server; Secret must be nowhere in what a program says.
const (
	Key    = "key"
	Secret = "s3test-secret"
)

// Serve starts a server with one empty bucket, until the test ends, and returns
// the bucket's location, see blob.Open. It is versitygw if that was built, or
// else gofakes3. Credentials are in the environment, so the test is not parallel.
func Serve(t testing.TB, bucket string) (location string) {
	t.Helper()
	if _, err := binary(); err != nil {
		t.Log(err)
		return Fake(t, bucket)
	}
	return Gateway(t, bucket)
}

// Fake is Serve with gofakes3.
func Fake(t testing.TB, bucket string) (location string) {
	t.Helper()
	credentials(t)
	backend := s3mem.New()
	if err := backend.CreateBucket(bucket); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(gofakes3.New(backend).Server())
	t.Cleanup(server.Close)
	return at(server.URL, bucket)
}

// Gateway is Serve with versitygw. A test is skipped without it.
func Gateway(t testing.TB, bucket string) (location string) {
	t.Helper()
	gateway, err := binary()
	if err != nil {
		t.Skip(err)
	}
	credentials(t)
	root, sidecar := t.TempDir(), t.TempDir()
	if err := os.Mkdir(filepath.Join(root, bucket), 0o755); err != nil {
		t.Fatal(err)
	}
	addrs, err := freeport.Loopback(1)
	if err != nil {
		t.Fatal(err)
	}
	addr := addrs[0]
	// Attributes in files beside: temporary directories may have no xattr.
	server := exec.Command(gateway, "--port", addr, "--access", Key, "--secret", Secret, "--quiet",
		"posix", "--sidecar", sidecar, root)
	var said bytes.Buffer
	server.Stdout, server.Stderr = &said, &said
	process, err := child.Start(server)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(process.Kill)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := process.Listens(ctx, addr); err != nil {
		process.Kill()
		t.Fatalf("%v: %s", err, said.String())
	}
	return at("http://"+addr, bucket)
}

func at(endpoint, bucket string) string {
	return "s3://" + bucket + "?path-style=true&endpoint=" + endpoint
}

func credentials(t testing.TB) {
	t.Setenv("AWS_ACCESS_KEY_ID", Key)
	t.Setenv("AWS_SECRET_ACCESS_KEY", Secret)
	t.Setenv("AWS_CONFIG_FILE", "/dev/null")
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
}

func binary() (string, error) { return child.Tool("versitygw-*/versitygw") }
