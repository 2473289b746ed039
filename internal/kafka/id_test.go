package kafka_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/weftcrawl/weft/internal/kafka"
)

func TestFolder(t *testing.T) {
	for id, want := range map[string]string{
		"5L6g3nShT-eMCtK--X86sw":          "5L6g3nShT-eMCtK--X86sw",
		"lkc-1a2b3c":                      "lkc-1a2b3c",
		"news.servicebus.windows.net":     "news.servicebus.windows.net",
		"redpanda.0f5c3a2e-8f1b-4c0a-9d2": "redpanda.0f5c3a2e-8f1b-4c0a-9d2",
		"../../etc":                       "%2E.%2F..%2Fetc",
		"..":                              "%2E.",
		"a b":                             "a%20b",
		"50%2F":                           "50%252F",
		"ü":                               "%C3%BC",
	} {
		if got, err := kafka.Folder(id); got != want || err != nil {
			t.Errorf("%q: %q, %v; want %q", id, got, err, want)
		}
	}
	for name, id := range map[string]string{
		"none":          "",
		"a stack trace": "ERROR Could not resolve\n\tat org.apache.logging.log4j.core.util.NetUtils.getLocalHostname(NetUtils.java:52)\nabc",
		"a page":        strings.Repeat("x", 81),
		"no UTF-8":      "a\xff",
	} {
		if _, err := kafka.Folder(id); !errors.Is(err, kafka.ErrID) || len(err.Error()) > 400 || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A folder is a name in its directory, and no two ids share one.
func TestFolderIsAName(t *testing.T) {
	names := map[string]string{}
	rapid.Check(t, func(t *rapid.T) {
		id := rapid.StringN(1, 20, 80).Draw(t, "id")
		name, err := kafka.Folder(id)
		if err != nil {
			return
		}
		if filepath.Base(name) != name || name == "." || name == ".." || len(name) > 255 {
			t.Fatalf("%q has folder %q", id, name)
		}
		if other, taken := names[name]; taken && other != id {
			t.Fatalf("%q and %q have folder %q", id, other, name)
		}
		names[name] = id
	})
}
