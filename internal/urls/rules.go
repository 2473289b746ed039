package urls

import (
	"fmt"
	"strings"
	"unicode"
)

// rules decide which parameters are removed. For most parameters of the web there is no
// rule, and their first byte shows that.
type rules struct {
	list           []Rule
	query, segment ruleIndex
}

// ruleIndex finds the rules for a name.
type ruleIndex struct {
	first    [256]bool        // bytes with which names of rules start
	exact    map[string][]int // numbers of rules, the last one first
	prefixes []int            // likewise
}

// newRules is nil when nothing is removed.
func newRules(texts []string) (*rules, error) {
	r := &rules{list: make([]Rule, 0, len(texts))}
	removes := false
	for _, text := range texts {
		rule, err := ParseRule(text)
		if err != nil {
			return nil, fmt.Errorf("parse the rules of parameters: %w", err)
		}
		r.list = append(r.list, rule)
		removes = removes || rule.verdict != leave
	}
	if !removes {
		return nil, nil
	}
	for n := len(r.list) - 1; n >= 0; n-- {
		rule := &r.list[n]
		if !rule.segment {
			r.query.add(n, rule)
		}
		if rule.segment || rule.name == "" {
			r.segment.add(n, rule)
		}
	}
	return r, nil
}

func (x *ruleIndex) add(n int, r *Rule) {
	for c := range x.first {
		if r.name == "" || unicode.ToLower(rune(c)) == rune(r.name[0]) {
			x.first[c] = true
		}
	}
	if r.prefix {
		x.prefixes = append(x.prefixes, n)
		return
	}
	if x.exact == nil {
		x.exact = map[string][]int{}
	}
	x.exact[r.name] = append(x.exact[r.name], n)
}

// strips reports whether a parameter "name=value" of a query is removed. Parameters
// joined by ";" are removed only together: for some servers ";" is "&".
func (r *rules) strips(host, parameter string, beside *names) bool {
	if !r.query.first[parameter[0]] {
		return false
	}
	for part := range strings.SplitSeq(parameter, ";") {
		if !r.decide(&r.query, host, part, beside) {
			return false
		}
	}
	return true
}

// decide applies the last rule that is for a parameter.
func (r *rules) decide(x *ruleIndex, host, parameter string, beside *names) bool {
	name, value, _ := strings.Cut(parameter, "=")
	name = strings.ToLower(name)
	best := -1
	for _, candidates := range [...][]int{x.exact[name], x.prefixes} {
		for _, n := range candidates {
			rule := &r.list[n]
			if n > best && strings.HasPrefix(name, rule.name) && rule.covers(host) && (rule.with == "" || beside.has(rule.with)) {
				best = n
				break
			}
		}
	}
	if best < 0 {
		return false
	}
	switch r.list[best].verdict {
	case remove:
		return true
	case removeRandom:
		return looksRandom(value)
	default:
		return false
	}
}

// stripPath removes parameters of segments, ";name=value", from a path.
func (r *rules) stripPath(host, path string) (_ string, changed bool) {
	b := make([]byte, 0, len(path))
	for i, segment := range strings.Split(path, "/") {
		if i > 0 {
			b = append(b, '/')
		}
		b = r.appendKept(b, host, segment)
	}
	return string(b), len(b) != len(path)
}

// appendKept appends the part of a segment that stays. That is the whole segment if it
// would become a dot segment, because ".." is not the same path as "..;x=1".
func (r *rules) appendKept(b []byte, host, segment string) []byte {
	name, rest, has := strings.Cut(segment, ";")
	if !has || name == "." || name == ".." {
		return append(b, segment...)
	}
	b = append(b, name...)
	for has {
		var parameter string
		parameter, rest, has = strings.Cut(rest, ";")
		if parameter == "" || !r.segment.first[parameter[0]] || !r.decide(&r.segment, host, parameter, nil) {
			b = append(append(b, ';'), parameter...)
		}
	}
	return b
}

// shortestSession is the length of the shortest session id of PHP. They had 32
// characters before 2016, and may have more (session.sid_length). ObjectIds of MongoDB
// have 24, and name pages, as UUIDs do.
const shortestSession = 26

// looksRandom reports whether a value is a session id rather than a word, a
// number or a name.
func looksRandom(value string) bool {
	if len(value) < shortestSession {
		return false
	}
	changes, digit := 0, isDigit(value[0])
	for i := range len(value) {
		c := value[i]
		if !isDigit(c) && (c|0x20 < 'a' || c|0x20 > 'z') {
			return false
		}
		if isDigit(c) != digit {
			digit = !digit
			changes++
		}
	}
	return changes >= 4
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
