package mediatype

import "testing"

func TestPatterns(t *testing.T) {
	for pattern, want := range map[string]bool{
		"image/png": true, "image/*": true, "*/*": true, "application/vnd.x+json": true,
		"": false, "image": false, "image/": false, "/png": false, "*/png": false, "*": false, "image/p*": false, "Image/png": false,
		"image/png;q=1": false, "image/png, image/gif": false, "image/**": false,
	} {
		if got := IsPattern(pattern); got != want {
			t.Errorf("%q is a pattern: %v", pattern, got)
		}
	}
	for _, c := range []struct {
		pattern, media string
		want           bool
	}{
		{"image/png", "image/png", true}, {"image/png", "image/gif", false}, {"image/*", "image/gif", true}, {"image/*", "imagex/gif", false},
		{"*/*", "audio/ogg", true}, {"*/*", "", true}, {"image/*", "", false},
	} {
		if got := Match(c.pattern, c.media); got != c.want {
			t.Errorf("%s has %q: %v", c.pattern, c.media, got)
		}
	}
	limits := map[string]int{"*/*": 1, "image/*": 2, "image/png": 3}
	for media, want := range map[string]int{"image/png": 3, "image/gif": 2, "audio/ogg": 1, "": 1} {
		if got, ok := Lookup(limits, media); !ok || got != want {
			t.Errorf("limit of %q: %d", media, got)
		}
	}
	if _, ok := Lookup(map[string]int{"image/*": 1}, "text/html"); ok {
		t.Error("text/html has a limit of images")
	}
}
