package urls

// Base resolves the references of one document. Make it with NewBase or
// Form.Document. It is not safe for concurrent use.
type Base struct {
	url     URL
	form    *Form
	charset *charset
}

// NewBase returns a base for references in a document at u that give plain
// forms; the document is in UTF-8.
func NewBase(u URL) *Base { return &Base{url: u} }

// Document returns a base for the references of a document at u. baseHref is
// what its base element says, empty if there is none: a base that is no URL for
// the crawl does not count. encoding is the WHATWG name of its encoding; empty,
// or one that is not known, is UTF-8.
func (f *Form) Document(u URL, baseHref, encoding string) *Base {
	b := &Base{url: u, charset: charsetNamed(encoding)}
	if baseHref != "" {
		// Plain: whatever the form removes may be what relative links need.
		if to, refusal := b.Resolve(baseHref); refusal == Accepted {
			b.url = to
		}
	}
	b.form = f
	return b
}

// URL is the base itself.
func (b *Base) URL() URL { return b.url }

// Resolve gives the form of a reference as a document spells it: absolute, or
// relative to the base. White space around it is ignored; an empty reference,
// or one of a fragment only, is the base itself.
func (b *Base) Resolve(ref string) (URL, Refusal) {
	ref = trim(ref)
	if b.charset != nil {
		ref = b.charset.encodeQuery(ref)
	}
	return b.form.resolve(b.url, ref)
}
