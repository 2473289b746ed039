package robots

import (
	"slices"
	"strings"

	"github.com/temoto/robotstxt"

	"github.com/weftcrawl/weft/codecs/weftpb"
)

// Rules answer for one origin. Make them with Compile. They are never changed
// and safe for concurrent use.
type Rules struct {
	access weftpb.Robots_Access
	// prefixes are the rules without wildcards, by text.
	prefixes []prefix
	// patterns are the other rules, the ones that decide first in front.
	patterns []pattern
	// plain gives the verdicts of a small group without patterns; nil for others.
	plain *robotstxt.Group
	// unheld: they are in place of rules that the record could not hold.
	unheld bool
}

// prefix is a rule that matches the paths that start with its text.
type prefix struct {
	text  string
	allow bool
	// shorter is the index of the longest other prefix that text starts with,
	// -1 if there is none.
	shorter int32
}

// Compile makes rules of a record by Parse. It ignores lines that Parse does not write.
// A record without access, or nil, disallows all.
func Compile(r *weftpb.Robots) *Rules {
	rules := &Rules{access: r.GetAccess(), unheld: Unheld(r)}
	if rules.access != weftpb.Robots_ACCESS_RULES {
		return rules
	}
	for line := range strings.Lines(r.GetRules()) {
		if rule, ok := readRule(strings.TrimSuffix(line, "\n")); ok {
			rules.add(rule)
		}
	}
	rules.link()
	rules.plain = plainGroup(rules)
	slices.SortStableFunc(rules.patterns, func(a, b pattern) int {
		if len(a.text) != len(b.text) || a.allow == b.allow {
			return len(b.text) - len(a.text)
		}
		if a.allow {
			return -1
		}
		return 1
	})
	return rules
}

func (r *Rules) add(added rule) {
	if isPrefix(added.pattern) {
		r.prefixes = append(r.prefixes, prefix{text: added.pattern, allow: added.allow})
	} else {
		r.patterns = append(r.patterns, newPattern(added.pattern, added.allow))
	}
	// An index page stands for its directory, as in Google's parser.
	if slash := strings.LastIndexByte(added.pattern, '/'); added.allow && slash >= 0 && strings.HasPrefix(added.pattern[slash:], "/index.htm") {
		r.add(rule{added.pattern[:slash+1] + "$", true})
	}
}

// link sorts the prefixes, merges equal ones (allow wins), and finds for each the next shorter one.
func (r *Rules) link() {
	slices.SortStableFunc(r.prefixes, func(a, b prefix) int { return strings.Compare(a.text, b.text) })
	merged := r.prefixes[:0]
	for _, p := range r.prefixes {
		last := len(merged) - 1
		if last >= 0 && merged[last].text == p.text {
			merged[last].allow = merged[last].allow || p.allow
			continue
		}
		p.shorter = int32(last)
		for p.shorter >= 0 && !strings.HasPrefix(p.text, merged[p.shorter].text) {
			p.shorter = merged[p.shorter].shorter
		}
		merged = append(merged, p)
	}
	r.prefixes = slices.Clip(merged)
}

// mostPlain bounds the rules of a plain group, because temoto/robotstxt compares a
// path with each of them.
const mostPlain = 16

// plainGroup returns the rules as a group of temoto/robotstxt. It returns nil if such a group would
// be slow, or would not judge as RFC 9309 asks. It judges right if no rule has wildcards, no two
// rules have the same text, and paths are in normal form: then the longest rule decides.
func plainGroup(r *Rules) *robotstxt.Group {
	if len(r.patterns) > 0 || len(r.prefixes) == 0 || len(r.prefixes) > mostPlain {
		return nil
	}
	file := []byte("User-agent: *\n")
	for _, p := range r.prefixes {
		if !strings.HasPrefix(p.text, "/") {
			return nil // it would add the slash
		}
		verb := "Disallow: "
		if p.allow {
			verb = "Allow: "
		}
		file = append(append(append(file, verb...), p.text...), '\n')
	}
	parsed, err := robotstxt.FromBytes(file)
	if err != nil {
		return nil
	}
	return parsed.FindGroup("*")
}

// Allowed reports whether a URL may be requested, given its path and query as "/path?query".
// The rule with the most octets decides. Between two equal rules, the rule that allows wins.
// Without a rule the answer is yes (RFC 9309 section 2.2.2).
func (r *Rules) Allowed(pathAndQuery string) bool {
	if r.plain != nil && strings.HasPrefix(pathAndQuery, "/") && pathAndQuery != "/robots.txt" {
		return r.plain.Test(newPath(pathAndQuery).text)
	}
	allow, _ := r.judge(pathAndQuery)
	return allow
}

// Rule is Allowed together with the rule that decides, as a line of a robots.txt,
// "Disallow: /private". The line is empty when no rule decides, or when the record
// does not have the rules of its file (Unheld).
func (r *Rules) Rule(pathAndQuery string) (line string, allowed bool) {
	allowed, text := r.judge(pathAndQuery)
	switch {
	case text == "", r.unheld:
		return "", allowed
	case allowed:
		return "Allow: " + text, true
	}
	return "Disallow: " + text, false
}

// judge returns the verdict on a path and the text of the rule that gives it.
func (r *Rules) judge(pathAndQuery string) (allow bool, text string) {
	if pathAndQuery == "/robots.txt" || r.access == weftpb.Robots_ACCESS_ALLOW_ALL {
		return true, ""
	}
	if r.access != weftpb.Robots_ACCESS_RULES {
		return false, ""
	}
	path := newPath(pathAndQuery)
	allow, text = r.longestPrefix(path.text)
	for i := range r.patterns {
		p := &r.patterns[i]
		if len(p.text) < len(text) || len(p.text) == len(text) && allow {
			break
		}
		if p.matches(&path) {
			return p.allow, p.text
		}
	}
	return allow, text
}

// longestPrefix is the verdict of the rules without wildcards, and the text of
// the rule that gives it.
func (r *Rules) longestPrefix(path string) (allow bool, text string) {
	// Every text between a prefix of path and path in the order of strings
	// starts with that prefix. So the longest one is the last text that is not
	// after path, or one that this text starts with.
	next, _ := slices.BinarySearchFunc(r.prefixes, path, func(p prefix, path string) int {
		if p.text <= path {
			return -1
		}
		return 1
	})
	for i := int32(next) - 1; i >= 0; i = r.prefixes[i].shorter {
		if strings.HasPrefix(path, r.prefixes[i].text) {
			return r.prefixes[i].allow, r.prefixes[i].text
		}
	}
	return true, ""
}
