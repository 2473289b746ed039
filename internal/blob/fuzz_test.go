package blob

import (
	"bytes"
	"errors"
	"io"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
)

// A location is refused, or has a name that leads there again. The name never has a credential.
func FuzzOpen(f *testing.F) {
	for _, location := range []string{
		"", "relative/dir", "/var/lib/weft", "file:///var/lib/weft", "file://localhost/a%20b", "s3://bucket", "s3://b/a/prefix/",
		"s3://bucket/prefix?endpoint=http://127.0.0.1:9000&region=eu-west-1&path-style=true", "s3://b?endpoint=%zz", "s3://b/../c", "gs://b",
	} {
		f.Add(location)
	}
	f.Setenv("AWS_CONFIG_FILE", filepath.Join(f.TempDir(), "none"))
	f.Setenv("AWS_SHARED_CREDENTIALS_FILE", filepath.Join(f.TempDir(), "none"))
	f.Fuzz(func(t *testing.T, location string) {
		const secret = "hush-hush"
		if scheme, rest, found := strings.Cut(location, "://"); found && !strings.ContainsAny(scheme, "/?#") {
			_, err := Open(t.Context(), scheme+"://key:"+secret+"@"+rest)
			if err != nil && strings.Contains(err.Error(), secret) && !strings.Contains(location, secret) {
				t.Fatalf("the secret is told: %v", err)
			}
			if plain := !strings.ContainsAny(rest, `/\?#@%[]:`); err == nil && plain {
				t.Fatal("credentials are taken")
			}
		}
		b, err := Open(t.Context(), location)
		if err != nil {
			if b != nil || strings.Count(err.Error(), "\n") > 0 {
				t.Fatalf("%v and %q", b, err)
			}
			return
		}
		name := b.String()
		switch b := b.(type) {
		case *folder:
			if !filepath.IsAbs(name) || name != filepath.Clean(name) {
				t.Fatalf("a folder at %q", name)
			}
			if strings.Contains(name, "://") {
				return // cleaned paths have no //
			}
		case *s3Bucket:
			if strings.Contains(name, "?") && !strings.Contains(location, "%") {
				t.Fatalf("parameters are in the name: %q", name)
			}
			name = (&url.URL{Scheme: "s3", Host: b.bucket, Path: "/" + b.prefix}).String()
		}
		again, err := Open(t.Context(), name)
		if err != nil || again.String() != b.String() {
			t.Fatalf("%q is called %q, and that is %v, %v", location, b, again, err)
		}
	})
}

// An object under a key is in the folder, and nothing else of the folder is touched; every
// operation refuses a text that is not a key.
func FuzzKey(f *testing.F) {
	for _, key := range []string{"a", "a/b", "../a", "a/../../b", "/etc/passwd", "a//b", ".put-1", "a\x00", `..\a`, "C:/a", strings.Repeat("a", 300), "\xff"} {
		f.Add(key)
	}
	f.Fuzz(func(t *testing.T, key string) {
		root := filepath.Join(t.TempDir(), "root")
		b := &folder{root: root}
		err := b.Put(t.Context(), key, strings.NewReader("x"), 1)
		var got bytes.Buffer
		read := b.Get(t.Context(), key, &got)
		switch {
		case errors.Is(err, ErrKey):
			if !errors.Is(read, ErrKey) || !errors.Is(b.Delete(t.Context(), key), ErrKey) {
				t.Fatalf("%q is not a key, and read: %v", key, read)
			}
		case err != nil: // a name too long for the disk
			if !errors.Is(read, ErrNotExist) {
				t.Fatalf("%q cannot be put: %v, and is read: %v", key, err, read)
			}
		case read != nil || got.String() != "x":
			t.Fatalf("%q was put and is read: %q, %v", key, &got, read)
		}
		objects := 0
		for object, err := range b.List(t.Context(), key) {
			if objects++; err != nil || object.Key != key {
				t.Fatalf("%q lists %v, %v", key, object, err)
			}
		}
		if (err == nil) != (objects == 1) {
			t.Fatalf("%q put: %v, listed %d times", key, err, objects)
		}
		beside, globbed := filepath.Glob(filepath.Join(filepath.Dir(root), "*"))
		if globbed != nil || len(beside) > 1 {
			t.Fatalf("%q made %q", key, beside)
		}
		if err := b.Delete(t.Context(), key); err != nil && !errors.Is(err, ErrKey) {
			t.Fatal(err)
		}
		if err := b.Get(t.Context(), key, io.Discard); err == nil {
			t.Fatalf("%q outlives its end", key)
		}
	})
}
