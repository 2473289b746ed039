package robots

import (
	"testing"

	"github.com/weftcrawl/weft/codecs/weftpb"
)

func TestRuleThatDecides(t *testing.T) {
	rules := Compile(Parse(200, []byte("User-agent: *\nDisallow: /a\nAllow: /a/b\nDisallow: /*.pdf$\nDisallow: /q?u=https://x\n"), "weft"))
	for _, test := range []struct {
		path, line string
		allowed    bool
	}{
		{"/", "", true},
		{"/a/c", "Disallow: /a", false},
		{"/a/b/c", "Allow: /a/b", true},
		{"/x/y.pdf", "Disallow: /*.pdf$", false},
		{"/q?u=https%3A%2F%2Fx", "Disallow: /q?u=https://x", false},
		{"/robots.txt", "", true},
	} {
		if line, allowed := rules.Rule(test.path); line != test.line || allowed != test.allowed {
			t.Errorf("%s: %q, allowed %t; want %q, %t", test.path, line, allowed, test.line, test.allowed)
		}
	}
	for access, allowed := range map[weftpb.Robots_Access]bool{
		weftpb.Robots_ACCESS_ALLOW_ALL: true, weftpb.Robots_ACCESS_DISALLOW_ALL: false,
	} {
		if line, got := Compile(&weftpb.Robots{Access: access}).Rule("/a"); line != "" || got != allowed {
			t.Errorf("%v: %q, %t", access, line, got)
		}
	}
}
