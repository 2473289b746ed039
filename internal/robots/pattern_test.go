package robots

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestSeparatorsInAQuery holds patterns to a matcher that tries everything, sign
// by sign: an escaped separator is another sign than a plain one before the first
// "?" of the path, and the same one after it.
func TestSeparatorsInAQuery(t *testing.T) {
	signs := []string{"a", "/", "%2F", ":", "%3A", "?"}
	rapid.Check(t, func(t *rapid.T) {
		pattern := rapid.SliceOfN(rapid.SampledFrom(append([]string{"*", "*"}, signs...)), 0, 8).Draw(t, "pattern")
		pattern = append([]string{rapid.SampledFrom([]string{"/", "*"}).Draw(t, "start")}, pattern...)
		if rapid.Bool().Draw(t, "end") {
			pattern = append(pattern, "$")
		}
		path := append([]string{"/"}, rapid.SliceOfN(rapid.SampledFrom(signs), 0, 8).Draw(t, "path")...)
		line := "Disallow: " + strings.Join(pattern, "")
		want := !matchesSigns(pattern, path, false)
		if got := Compile(Parse(200, []byte("User-agent: *\n"+line), "weft")).Allowed(strings.Join(path, "")); got != want {
			t.Fatalf("%q under %q: allowed is %t", strings.Join(path, ""), line, got)
		}
	})
}

// TestPartOfAnEscape checks that patterns that end within an escape match it, also if it is the
// escape of a separator in a query.
func TestPartOfAnEscape(t *testing.T) {
	const escaped = "/go?u=http%3A%2F%2Fb.example%2F"
	for rule, path := range map[string]string{
		"/*%": escaped, "/*?*%": escaped, "/*%2": escaped, "/*%3*%": escaped, "/*?u=http%": escaped, "/go?u=http%": escaped,
		"/*%2$": "/go?50%2", "/go?%": "/go?%3A",
		"/go?u=http://b.example/50%": "/go?u=http%3A%2F%2Fb.example%2F50%", "/go?u=http%3A%2F%2Fb.example/50%": "/go?u=http://b.example/50%",
		"/*http://*50%": "/go?u=http%3A%2F%2Fb.example%2F50%25",
	} {
		r := Compile(Parse(200, []byte("User-agent: *\nDisallow: "+rule+"\n"), "weft"))
		if r.Allowed(path) {
			t.Errorf("Disallow: %s allows %s", rule, path)
		}
		if other := "/go?u=http://b.example/"; !r.Allowed(other) {
			t.Errorf("Disallow: %s disallows %s", rule, other)
		}
	}
}

func matchesSigns(pattern, path []string, query bool) bool {
	switch {
	case len(pattern) == 0:
		return true
	case pattern[0] == "$":
		return len(path) == 0
	case pattern[0] == "*" && matchesSigns(pattern[1:], path, query):
		return true
	case len(path) == 0:
		return false
	}
	rest, below := pattern[1:], query || path[0] == "?"
	if pattern[0] == "*" {
		rest = pattern
	} else if pattern[0] != path[0] && !(query && plainSign(pattern[0]) == plainSign(path[0])) {
		return false
	}
	return matchesSigns(rest, path[1:], below)
}

func plainSign(sign string) string {
	switch sign {
	case "%2F":
		return "/"
	case "%3A":
		return ":"
	}
	return sign
}
