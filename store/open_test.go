package store_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/store"
)

func TestOpenRefuses(t *testing.T) {
	for location, want := range map[string]string{
		"":                                       "empty",
		"ftp://host/path":                        `scheme "ftp" is neither s3 nor file`,
		"s3:///prefix":                           "names no bucket",
		"s3://b/../c":                            "is no key",
		"s3://b?zone=1":                          `no parameter "zone"`,
		"s3://b?path-style=perhaps":              "neither true nor false",
		"s3://b?endpoint=127.0.0.1:9000":         "endpoint is not http://host:port",
		"s3://b?endpoint=http://u:hush@h:1":      "endpoint is not http://host:port",
		"s3://key:hush@bucket/prefix":            "credentials belong in the environment",
		"s3://key:hush@bucket\x7f":               "not a URL",
		"file://host/path":                       "a file URL is file:///path",
		"file://":                                "a file URL is file:///path",
		"file:///path?endpoint=http://127.0.0.1": "a file URL is file:///path",
	} {
		_, err := store.Open(t.Context(), location)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hush") {
			t.Errorf("%q: %v, want %q", location, err, want)
		}
	}
}

// What cannot be used is said in a sentence without the SDK's layers.
func TestProbeRefuses(t *testing.T) {
	server := newServer(t, "crawls")
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for location, want := range map[string]string{
		"s3://missing?path-style=true&endpoint=" + server:         ": NoSuchBucket: The specified bucket does not exist",
		"s3://crawls?path-style=true&endpoint=http://127.0.0.1:1": ": dial tcp 127.0.0.1:1: connect: connection refused",
		file:            "not a directory",
		file + "/below": "not a directory",
	} {
		b, err := store.Open(t.Context(), location)
		if err != nil {
			t.Fatal(err)
		}
		err = store.Probe(t.Context(), b)
		if err == nil || !strings.HasSuffix(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v, want %q", location, err, want)
		}
	}
}

// A process that was killed leaves temporary files, and no objects.
func TestFolderHidesTemporaryFiles(t *testing.T) {
	dir := t.TempDir()
	b, err := store.Open(t.Context(), dir)
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
