package urls

import (
	"fmt"
	"strings"
)

// Rule is one line of Options.Strip: which parameter it is about, and whether it
// is removed. It is written
//
//	NAME[@HOST][=off|=random]
//
// NAME is the name of a parameter of the query in ASCII, in any case, with
// anything else percent-encoded. With "*" at its end it is all names that start
// so; with ";" before it, a parameter of a path segment instead (";jsessionid");
// "NAME&OTHER" is NAME where there is OTHER too, and "*" every parameter of
// queries and of paths. HOST restricts it to a host and all below it.
//
// Without more the parameter is removed. "=random" removes it only when its
// value looks like a session id: 26 letters and digits or more, and nothing else,
// that change between the two four times at least. A UUID has hyphens, and stays.
// "=off" keeps it. Of the rules that are about a parameter the last one counts. One
// with "&" can only remove: if it kept NAME beside OTHER and OTHER went, the form of
// the form would lack NAME too.
type Rule struct {
	name    string // lower case, without "*" and ";"
	prefix  bool
	segment bool
	with    string
	host    string
	verdict verdict
}

type verdict uint8

const (
	remove verdict = iota
	removeRandom
	leave
)

// ParseRule reads a rule.
func ParseRule(text string) (Rule, error) {
	var r Rule
	rest, verdict, _ := strings.Cut(strings.ToLower(text), "=")
	switch verdict {
	case "":
		r.verdict = remove
	case "random":
		r.verdict = removeRandom
	case "off":
		r.verdict = leave
	default:
		return Rule{}, fmt.Errorf("rule %q ends neither with =off nor with =random", text)
	}
	rest, host, hosted := strings.Cut(rest, "@")
	if r.host = strings.TrimSuffix(host, "."); hosted {
		if u, refusal := Parse("http://" + r.host); refusal != Accepted || u.Host() != r.host {
			return Rule{}, fmt.Errorf("rule %q is for a host %q that is none in canonical form", text, host)
		}
	}
	rest, r.segment = strings.CutPrefix(rest, ";")
	rest, r.with, _ = strings.Cut(rest, "&")
	r.name, r.prefix = strings.CutSuffix(rest, "*")
	for _, name := range []string{r.name, r.with} {
		if strings.ContainsFunc(name, func(c rune) bool { return c <= ' ' || c > '~' || strings.ContainsRune("#&;*/?", c) }) {
			return Rule{}, fmt.Errorf("rule %q has a name %q that no parameter can have", text, name)
		}
	}
	switch {
	case r.name == "" && !r.prefix:
		return Rule{}, fmt.Errorf("rule %q names no parameter", text)
	case r.segment && r.with != "":
		return Rule{}, fmt.Errorf("rule %q asks for two parameters of a path segment", text)
	case r.with != "" && r.verdict != remove:
		return Rule{}, fmt.Errorf("rule %q asks for two parameters, and may not end with =%s", text, verdict)
	}
	return r, nil
}

// covers reports whether the rule is about the URLs of a host.
func (r *Rule) covers(host string) bool {
	if r.host == "" {
		return true
	}
	host = strings.TrimSuffix(host, ".")
	below, is := strings.CutSuffix(host, r.host)
	return is && (below == "" || strings.HasSuffix(below, "."))
}
