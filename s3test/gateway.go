package s3test

import (
	"bytes"
	"errors"
	"net"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/weftcrawl/weft/freeport"
)

// Credentials of every server; Secret must be nowhere in what a program says.
const (
	Key    = "key"
	Secret = "s3test-secret"
)

// Serve starts a server with one empty bucket, until the test ends, and returns
// the bucket's location, see store.Open. It is versitygw if that was built, or
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
	server.Stdout, server.Stderr, server.SysProcAttr = &said, &said, attributes()
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = server.Wait() // said tells
		close(ended)
	}()
	t.Cleanup(func() {
		_ = server.Process.Kill() // it may have ended
		<-ended
	})
	for deadline := time.Now().Add(20 * time.Second); ; {
		conn, err := net.DialTimeout("tcp", addr, time.Second)
		if err == nil {
			_ = conn.Close()
			return at("http://"+addr, bucket)
		}
		select {
		case <-ended:
			t.Fatalf("versitygw ended: %s", said.String())
		case <-time.After(20 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			t.Fatalf("versitygw does not listen at %s", addr)
		}
	}
}

// at is the location of a bucket.
func at(endpoint, bucket string) string {
	return "s3://" + bucket + "?path-style=true&endpoint=" + endpoint
}

func credentials(t testing.TB) {
	t.Setenv("AWS_ACCESS_KEY_ID", Key)
	t.Setenv("AWS_SECRET_ACCESS_KEY", Secret)
	t.Setenv("AWS_CONFIG_FILE", "/dev/null")
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
}

// binary finds the versitygw that make has built: in .tools of a directory
// above that of the test.
func binary() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		found, err := filepath.Glob(filepath.Join(dir, ".tools", "versitygw-*", "versitygw"))
		if err != nil {
			return "", err
		}
		if len(found) > 0 {
			return slices.Max(found), nil
		}
		above := filepath.Dir(dir)
		if above == dir {
			return "", errors.New("versitygw is not there: make tools")
		}
		dir = above
	}
}
