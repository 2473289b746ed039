package fields

import (
	"errors"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/andybalholm/cascadia"

	"github.com/weftcrawl/weft/processors/parse/extract"
)

// Source is a file of rules.
type Source struct {
	// Name of the file, without folders.
	Name string `json:"name"`
	Text string `json:"text"`
}

// Bounds of rules.
const (
	// MaxSources and MaxSourceBytes bound the files of a crawl: its definition, which has them,
	// is one record.
	MaxSources     = 256
	MaxSourceBytes = 384 << 10
	// maxFields is how many fields a rule has, those of records included, and maxNested how
	// many records are in one another.
	maxFields, maxNested = 256, 3
	// maxDescendants is how many descendant combinators a selector has: the time for a node is
	// the depth of the tree to the power of this number.
	maxDescendants = 4
)

// Rules are those of a crawl.
type Rules struct{ all []*Rule }

// Rule is one file.
type Rule struct {
	// Name is that of the file without its extension.
	Name string

	hosts  []string
	urls   []*regexp.Regexp
	fields []*field
}

// field is what a rule takes out, or a part of a record.
type field struct {
	name     string
	path     string // the names of the records around it and its own, with dots
	selects  []selector
	attr     string
	regex    *regexp.Regexp
	kind     kind
	list     bool
	required bool
	formats  []string
	currency string
	decimal  byte     // 0: it is guessed
	fields   []*field // of a record
}

type selector struct {
	text        string
	match       cascadia.Selector
	descendants int
	// beside: for a node it looks at the nodes beside it. below: it looks at what is in it.
	beside, below bool
}

// Load reads files of rules. The error has a line for each file that is wrong.
func Load(sources []Source) (*Rules, error) {
	rules := &Rules{}
	var errs []error
	size := 0
	names := map[string]bool{}
	for _, s := range sources {
		size += len(s.Text)
		rule, err := load(s)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if names[rule.Name] {
			errs = append(errs, fmt.Errorf("%s: there are two files of rules with the name %s", s.Name, rule.Name))
		}
		names[rule.Name] = true
		rules.all = append(rules.all, rule)
	}
	if len(sources) > MaxSources || size > MaxSourceBytes {
		errs = append(errs, fmt.Errorf("%d files of rules with %d bytes are more than %d files with %d bytes", len(sources), size, MaxSources, MaxSourceBytes))
	}
	slices.SortFunc(rules.all, func(a, b *Rule) int { return strings.Compare(a.Name, b.Name) })
	return rules, errors.Join(errs...)
}

// For returns the rule of a URL; nil: there is none.
func (r *Rules) For(of string) *Rule {
	for _, rule := range r.all {
		if rule.isFor(of) {
			return rule
		}
	}
	return nil
}

func (r *Rule) isFor(of string) bool {
	if len(r.hosts) > 0 {
		u, err := url.Parse(of)
		if err != nil || !slices.ContainsFunc(r.hosts, func(host string) bool {
			return u.Hostname() == host || strings.HasSuffix(u.Hostname(), "."+host)
		}) {
			return false
		}
	}
	return len(r.urls) == 0 || slices.ContainsFunc(r.urls, func(re *regexp.Regexp) bool { return re.MatchString(of) })
}

// isName tells whether a rule or a field may have a name: names are labels of metrics.
func isName(name string) bool {
	return name != "" && utf8.RuneCountInString(name) <= 64 && !strings.ContainsFunc(name, func(c rune) bool {
		return !unicode.IsLetter(c) && !unicode.IsNumber(c) && !strings.ContainsRune("_.-", c)
	})
}

func load(s Source) (*Rule, error) {
	rule := &Rule{Name: strings.TrimSuffix(s.Name, path.Ext(s.Name))}
	if !isName(rule.Name) {
		return nil, fmt.Errorf("%s: the name of a rule has letters, digits, and any of _.-, at most 64", s.Name)
	}
	root, err := read(s.Name, s.Text)
	if err != nil {
		return nil, err
	}
	members, err := root.members("a rule", "match", "fields")
	if err != nil {
		return nil, err
	}
	for _, m := range members {
		switch m.key {
		case "match":
			err = rule.match(m.node)
		case "fields":
			left := maxFields
			rule.fields, err = loadFields(m.node, "", 0, &left)
		}
		if err != nil {
			return nil, err
		}
	}
	if len(rule.fields) == 0 {
		return nil, root.fail("the rule has no fields")
	}
	return rule, nil
}

// match reads which pages a rule is for.
func (r *Rule) match(n node) error {
	members, err := n.members("match", "hosts", "urls")
	if err != nil {
		return err
	}
	for _, m := range members {
		texts, err := m.texts(m.key)
		if err != nil {
			return err
		}
		for _, t := range texts {
			if m.key == "hosts" {
				r.hosts = append(r.hosts, strings.ToLower(t.key))
				continue
			}
			re, err := regexp.Compile(t.key)
			if err != nil {
				return t.fail("match: %w", err)
			}
			r.urls = append(r.urls, re)
		}
	}
	return nil
}

func loadFields(n node, around string, nested int, left *int) ([]*field, error) {
	if nested > maxNested {
		return nil, n.fail("records are more than %d deep in one another", maxNested)
	}
	members, err := n.members("fields")
	if err != nil {
		return nil, err
	}
	var all []*field
	for _, m := range members {
		if !isName(m.key) {
			return nil, m.fail("the name of field %q has other characters than letters, digits and _.-", m.key)
		}
		if *left--; *left < 0 {
			return nil, m.fail("the rule has more than %d fields", maxFields)
		}
		f, err := loadField(m, around, nested, left)
		if err != nil {
			return nil, err
		}
		all = append(all, f)
	}
	return all, nil
}

func loadField(m member, around string, nested int, left *int) (*field, error) {
	f := &field{name: m.key, path: around + m.key}
	if text, err := m.text(m.key); err == nil { // a selector alone
		return f, f.selector(member{text, m.node})
	}
	members, err := m.members("field "+m.key, "select", "attr", "regex", "type", "list", "required", "formats", "currency", "decimal", "fields")
	if err != nil {
		return nil, err
	}
	for _, o := range members {
		if err := f.option(o, nested, left); err != nil {
			return nil, err
		}
	}
	switch {
	case len(f.selects) == 0 && nested == 0:
		return nil, m.fail("field %s has no selector", f.path)
	case len(f.fields) > 0 && (f.attr != "" || f.regex != nil || f.kind != text):
		return nil, m.fail("field %s is a record: attr, regex and type are for its fields", f.path)
	case f.kind == exists && f.list:
		return nil, m.fail("field %s is true or false, not a list", f.path)
	case len(f.formats) > 0 && f.kind != date, f.currency != "" && f.kind != money, f.decimal != 0 && f.kind != money && f.kind != number:
		return nil, m.fail("field %s: formats are for dates, currency is for money, and decimal for numbers and money", f.path)
	}
	return f, nil
}

func (f *field) option(o member, nested int, left *int) error {
	var err error
	switch o.key {
	case "select":
		var texts []member
		if texts, err = o.texts("select"); err != nil {
			return err
		}
		for _, t := range texts {
			if err = f.selector(t); err != nil {
				return err
			}
		}
	case "attr":
		f.attr, err = o.text("attr")
		f.attr = strings.ToLower(f.attr)
	case "regex":
		var text string
		if text, err = o.text("regex"); err != nil {
			return err
		}
		if f.regex, err = regexp.Compile(text); err != nil {
			return o.fail("field %s: %w", f.path, err)
		}
	case "type":
		var name string
		if name, err = o.text("type"); err != nil {
			return err
		}
		if f.kind = kind(name); !slices.Contains(kinds, f.kind) {
			return o.fail("field %s: %q is not a type: the types are %s", f.path, name, strings.Trim(fmt.Sprint(kinds), "[]"))
		}
		if name == "text" {
			f.kind = text
		}
	case "list":
		f.list, err = o.flag("list")
	case "required":
		f.required, err = o.flag("required")
	case "formats":
		var texts []member
		texts, err = o.texts("formats")
		for _, t := range texts {
			f.formats = append(f.formats, layout(t.key))
		}
	case "currency":
		if f.currency, err = o.text("currency"); err == nil && !extract.IsCurrency(f.currency) {
			err = o.fail("field %s: %q is not a currency such as EUR", f.path, f.currency)
		}
	case "decimal":
		var mark string
		if mark, err = o.text("decimal"); err == nil && mark != "," && mark != "." {
			err = o.fail("field %s: decimal is %q, not a comma or a point", f.path, mark)
		} else if err == nil {
			f.decimal = mark[0]
		}
	case "fields":
		f.fields, err = loadFields(o.node, f.path+".", nested+1, left)
	}
	return err
}

func (f *field) selector(t member) error {
	match, err := cascadia.Compile(t.key)
	if err != nil {
		return t.fail("field %s: selector %q: %w", f.path, t.key, err)
	}
	s := selector{text: t.key, match: match, descendants: descendants(t.key)}
	if s.descendants > maxDescendants {
		return t.fail("field %s: selector %q has more than %d parts within parts: write > where it can be", f.path, t.key, maxDescendants)
	}
	s.beside = strings.ContainsAny(t.key, "~+") || sibling.MatchString(t.key)
	s.below = inner.MatchString(t.key)
	f.selects = append(f.selects, s)
	return nil
}

var (
	sibling = regexp.MustCompile(`(?i):(nth-|first-|last-|only-)`)
	inner   = regexp.MustCompile(`(?i):(has|haschild|contains|containsown|matches|matchesown)\b`)
	// bracketed is what is removed from a selector: quotes, and innermost brackets.
	bracketed = regexp.MustCompile(`"[^"]*"|'[^']*'|\[[^\]]*\]|\([^()]*\)`)
	// tight is a combinator other than that of descendants, or a comma, with the blanks around it.
	tight = regexp.MustCompile(`\s*([>+~,])\s*`)
)

// descendants counts the descendant combinators of a selector.
func descendants(selector string) int {
	for {
		next := bracketed.ReplaceAllString(selector, "")
		if next == selector {
			break
		}
		selector = next
	}
	most := 0
	for part := range strings.SplitSeq(tight.ReplaceAllString(selector, "$1"), ",") {
		most = max(most, len(strings.Fields(part))-1)
	}
	return most
}
