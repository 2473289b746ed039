package urls

import "strings"

// Form is the canonical form of the URLs of one crawl: the plain form, and on
// top what the crawl's Options say. Make it with NewForm; nil is the plain form.
// It never changes, and is safe for concurrent use.
type Form struct {
	rules    *rules // nil: nothing is removed
	sorted   bool
	hashBang bool
}

// Options say what a Form changes beside the plain form. The zero value changes
// nothing.
type Options struct {
	// Strip are the rules by which parameters are removed, see Rule.
	Strip []string
	// SortQuery sorts the parameters of a query by name.
	SortQuery bool
	// HashBang turns a fragment that starts with "!" into the parameter
	// _escaped_fragment_; all others are dropped.
	HashBang bool
}

// Validate names the first rule that is not valid.
func (o Options) Validate() error {
	_, err := NewForm(o)
	return err
}

// NewForm returns the form that options ask for.
func NewForm(o Options) (*Form, error) {
	rules, err := newRules(o.Strip)
	if err != nil {
		return nil, err
	}
	return &Form{rules: rules, sorted: o.SortQuery, hashBang: o.HashBang}, nil
}

// Parse gives the form of an absolute URL, or the reason why it is refused.
// White space around it is ignored.
func (f *Form) Parse(raw string) (URL, Refusal) {
	raw = trim(raw)
	if raw == "" {
		return URL{}, Empty
	}
	return f.resolve(URL{}, raw)
}

// resolve gives the form of a trimmed reference.
func (f *Form) resolve(base URL, ref string) (URL, Refusal) {
	u, refusal := resolve(base, ref)
	if f == nil || refusal != Accepted {
		return u, refusal
	}
	if f.hashBang {
		if hash := strings.IndexByte(ref, '#'); hash >= 0 {
			u, refusal = u.withHashBang(tabsAndNewlines.Replace(ref[hash+1:]))
		}
	}
	return f.Of(u), refusal
}

// Of is the form of a URL. The host never changes, and the form of the form is
// the form.
func (f *Form) Of(u URL) URL {
	if f == nil || f.rules == nil && !f.sorted {
		return u
	}
	path, query, asks := strings.Cut(u.PathAndQuery(), "?")
	changed := false
	if f.rules != nil && strings.IndexByte(path, ';') >= 0 {
		path, changed = f.rules.stripPath(u.Hostname(), path)
	}
	if asks {
		var other bool
		query, other = f.query(u.Hostname(), query)
		if changed = changed || other; other && query == "" {
			asks = false
		}
	}
	if !changed {
		return u
	}
	canonical := u.Origin() + path
	if asks {
		canonical += "?" + query
	}
	u.canonical = canonical
	return u
}

// Base resolves the references of one document. Make it with NewBase or
// Form.Document. It is not safe for concurrent use.
type Base struct {
	url    URL
	form   *Form
	encode queryEncoder // nil: in UTF-8
}

// NewBase returns a base for references in a document at u that give plain
// forms; the document is in UTF-8.
func NewBase(u URL) *Base { return &Base{url: u} }

// Document returns a base for the references of a document at u. baseHref is the href
// of its base element, empty if there is none; it is ignored if it is refused.
// encoding is the WHATWG name of the document's encoding; UTF-8 if it is empty or not
// known.
func (f *Form) Document(u URL, baseHref, encoding string) *Base {
	b := &Base{url: u, encode: queryEncoderOf(encoding)}
	if baseHref != "" {
		// In plain form: relative links may need what the form removes.
		if to, refusal := b.Resolve(baseHref); refusal == Accepted {
			b.url = to
		}
	}
	b.form = f
	return b
}

// URL is the base itself.
func (b *Base) URL() URL { return b.url }

// Resolve gives the form of a reference as it is written in the document: absolute,
// or relative to the base. White space around it is ignored. An empty reference, or
// one with a fragment only, is the base itself.
func (b *Base) Resolve(ref string) (URL, Refusal) {
	ref = trim(ref)
	if b.encode != nil {
		ref = b.encode.inReference(ref)
	}
	return b.form.resolve(b.url, ref)
}
