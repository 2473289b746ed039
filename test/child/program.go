package child

import (
	"os"
	"testing"
)

// Program is the path of a program that make examples-fetch puts into .tools of the module, such as
// warc-readers/bin/warcio. Without it the test is skipped, and in CI it fails.
func Program(t testing.TB, name string) string {
	t.Helper()
	path, err := Tool(name)
	switch {
	case err == nil:
	case os.Getenv("CI") == "true":
		t.Fatalf("%v: make examples-fetch", err)
	default:
		t.Skipf("%v: make examples-fetch", err)
	}
	return path
}
