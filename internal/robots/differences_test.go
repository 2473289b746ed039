package robots

import (
	"testing"

	"github.com/jimsmart/grobotstxt"
)

// TestDifferencesFromGoogle lists in what we differ from the port of Google's
// parser and matcher, each with its reason: FuzzAgainstGoogle holds that there
// is nothing else. A difference that has gone fails, too.
func TestDifferencesFromGoogle(t *testing.T) {
	for _, d := range []struct {
		reason, robots, path string
		ours                 bool
	}{
		{"an escape of an unreserved character is the character (RFC 9309 section 2.2.2)", "Disallow: /%62ar", "/bar", false},
		{"in the path, too", "Disallow: /bar", "/%62ar", false},
		{"hexadecimal digits are alike in both cases", "Disallow: /%C3%A9", "/%c3%a9", false},
		{"the port breaks the lower-case digits of a rule", "Disallow: /%c3%a9", "/%C3%A9", false},
		{"%2A is an asterisk, and no wildcard (section 2.2.3)", "Disallow: /a%2Ab", "/a*b", false},
		{"%24 is a dollar, and no end", "Disallow: /a%24", "/a$b", false},
		{"a query means the same with : and / escaped (the RFC's own example)", "Disallow: /a?u=https://b", "/a?u=https%3A%2F%2Fb", false},
		{"and where a wildcard reaches into one", "Disallow: /*u=https%3A%2F%2Fb", "/a?u=https://b", false},
		{"an apostrophe is escaped by browsers in a query", "Disallow: /a?b='", "/a?b=%27", false},
		{"/robots.txt is always allowed (section 2.2.2)", "Disallow: /", "/robots.txt", true},
	} {
		if got := differ(t, "User-agent: weft\n"+d.robots, d.path); got != d.ours {
			t.Errorf("%s: %q allowed by %q is %t", d.reason, d.path, d.robots, got)
		}
	}
}

// differ returns our verdict, which Google's must not be.
func differ(t *testing.T, robots, path string) bool {
	t.Helper()
	ours := Compile(Parse(200, []byte(robots), "weft")).Allowed(path)
	if theirs := grobotstxt.NewRobotsMatcher().AgentAllowed(robots, "weft", "http://host"+path); theirs == ours {
		t.Errorf("%q by %q: allowed is %t for both", path, robots, ours)
	}
	return ours
}
