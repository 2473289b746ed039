package urls_test

import (
	"testing"

	"github.com/weftcrawl/weft/internal/urls"
)

func TestIsAbsolute(t *testing.T) {
	for ref, want := range map[string]bool{
		"http://a": true, "https://a/b": true, "HTTP://A/": true, "hTTps://a": true,
		"": false, "http://": false, "https://": false, "http:a": false, "//a": false, "ftp://a": false, " http://a": false, "a": false,
	} {
		if got := urls.IsAbsolute(ref); got != want {
			t.Errorf("%q: %v", ref, got)
		}
	}
}
