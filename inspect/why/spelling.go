package why

import (
	"strings"

	"github.com/weftcrawl/weft/internal/urls"
)

// Rules by which a canonical URL differs from the given one, in the order in which they
// are shown; see package urls.
const (
	changedSpace    = "white space around or line breaks within it are dropped"
	changedSlashes  = "backslashes are slashes, and two follow the scheme"
	changedFragment = "the fragment is never sent"
	changedUser     = "user name and password are dropped"
	changedCase     = "scheme and host are lower case"
	changedHost     = "the host is written in ASCII"
	changedPort     = "the default port is left out"
	changedRoot     = "an empty path is /"
	changedDots     = "dot segments are resolved"
	changedEscapes  = "percent-encoding is written one way"
	changedForm     = "parameters are removed or sorted as the crawl's definition says"
)

// changes names the rules by which the form of a URL in the crawl differs from the given
// text.
func (a *Asker) changes(given string, form urls.URL) []string {
	plain, _ := urls.Parse(given)
	rules := changes(given, plain)
	if plain != form {
		rules = append(rules, changedForm)
	}
	return rules
}

// changes names the rules by which the canonical form of raw differs from it.
func changes(raw string, canonical urls.URL) (rules []string) {
	if raw == canonical.String() {
		return nil
	}
	add := func(applies bool, rule string) {
		if applies {
			rules = append(rules, rule)
		}
	}
	text := strings.NewReplacer("\t", "", "\n", "", "\r", "").Replace(strings.TrimSpace(raw))
	add(text != raw, changedSpace)
	text, _, fragment := strings.Cut(text, "#")
	text, query, _ := strings.Cut(text, "?")
	scheme, slashed, _ := strings.Cut(strings.ReplaceAll(text, `\`, "/"), ":")
	rest := strings.TrimLeft(slashed, "/")
	add(strings.Contains(text, `\`) || len(slashed)-len(rest) != len("//"), changedSlashes)
	authority, _, slash := strings.Cut(rest, "/")
	path := strings.TrimPrefix(rest, authority)
	add(fragment, changedFragment)
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		authority = authority[at+1:]
		add(true, changedUser)
	}
	host, port := authority, ""
	if colon := strings.LastIndexByte(authority, ':'); colon > strings.LastIndexByte(authority, ']') {
		host, port = authority[:colon], authority[colon:]
	}
	lower := strings.ToLower(host)
	add(scheme != canonical.Scheme() || lower != host, changedCase)
	add(lower != canonical.Hostname(), changedHost)
	add(port != "" && canonical.Host() == canonical.Hostname(), changedPort)
	add(!slash, changedRoot)
	dotted := false
	for segment := range strings.SplitSeq(strings.ReplaceAll(strings.ToLower(path), "%2e", "."), "/") {
		dotted = dotted || segment == "." || segment == ".."
	}
	add(dotted, changedDots)
	_, canonicalQuery, _ := strings.Cut(canonical.PathAndQuery(), "?")
	add(slash && !dotted && path != canonical.Path() || query != canonicalQuery, changedEscapes)
	return rules
}
