package variants

import "strings"

// Rule is one way in which two URLs of a site may name the same page, in the direction
// from the URL that is merged to the one that is kept. The numbers are in the stores of
// partitions: new rules are added at the end.
type Rule uint8

// The rules, except for the rules of index files, which follow, and HTTP.
const (
	// HTTPS makes https://h/p of http://h/p. It applies to default ports only.
	HTTPS Rule = iota
	// NoWWW makes h of the host www.h.
	NoWWW
	// WWW makes www.h of the host h.
	WWW
	// Slash makes /a/ of /a, unless the last segment has a dot, as files have.
	Slash
	// NoSlash makes /a of /a/. The root stays.
	NoSlash
	// firstIndex makes /a/ of /a/FILE, where FILE is indexFiles[0]. The rules from firstIndex
	// on do so for indexFiles[rule-firstIndex].
	firstIndex
)

// indexFiles are what servers answer with for a directory. Each is a rule of
// its own: where index.php is the directory, index.html may be another page.
var indexFiles = [...]string{
	"index.html", "index.htm", "index.php", "index.shtml", "index.xhtml", "index.jsp", "index.asp", "index.aspx", "index.cfm",
	"default.htm", "default.html", "default.asp", "default.aspx",
}

// HTTP makes http://h/p of https://h/p. It applies to default ports only. Only redirects and
// canonical URLs speak for it: if the texts of both schemes are equal, the encrypted scheme is
// better.
const HTTP = firstIndex + Rule(len(indexFiles))

const rules = int(HTTP) + 1

// names are the names of the rules before firstIndex.
var names = [firstIndex]string{"https", "no-www", "www", "slash", "no-slash"}

// String is the rule's name: "https", "no-www", "www", "slash", "no-slash", the index file, or
// "http".
func (r Rule) String() string {
	switch {
	case r < firstIndex:
		return names[r]
	case r == HTTP:
		return "http"
	}
	return indexFiles[r-firstIndex]
}

// Named returns the rule of a name.
func Named(name string) (Rule, bool) {
	for r := range Rule(rules) {
		if r.String() == name {
			return r, true
		}
	}
	return 0, false
}

// Names returns the names of all rules.
func Names() []string { return every.Names() }

// undoes are the pairs of a rule and the rule that undoes it.
var undoes = [...][2]Rule{{HTTPS, HTTP}, {HTTP, HTTPS}, {NoWWW, WWW}, {WWW, NoWWW}, {Slash, NoSlash}, {NoSlash, Slash}}

// Set is a set of rules; the zero value is empty.
type Set uint32

const every Set = 1<<rules - 1

func of(list ...Rule) (s Set) {
	for _, r := range list {
		s |= 1 << r
	}
	return s
}

// Has tells whether r is in the set.
func (s Set) Has(r Rule) bool { return s&(1<<r) != 0 }

// opposites are the rules that undo the rules of the set.
func (s Set) opposites() (o Set) {
	for _, pair := range undoes {
		if s.Has(pair[0]) {
			o |= of(pair[1])
		}
	}
	return o
}

// each calls visit with the rules of the set in their order.
func (s Set) each(visit func(Rule)) {
	for r := range Rule(rules) {
		if s.Has(r) {
			visit(r)
		}
	}
}

// Names returns the names of the rules in the set.
func (s Set) Names() (list []string) {
	s.each(func(r Rule) { list = append(list, r.String()) })
	return list
}

// setOf is the inverse of Names; it leaves out names that are unknown.
func setOf(names []string) (s Set) {
	for _, name := range names {
		if r, ok := Named(name); ok {
			s |= of(r)
		}
	}
	return s
}

// String is the names with a comma between them.
func (s Set) String() string { return strings.Join(s.Names(), ",") }
