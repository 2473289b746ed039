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
