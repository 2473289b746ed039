package markup

import (
	"net/url"
	"strings"

	"github.com/weftcrawl/weft/internal/urls"
)

// Bases are what xml:base says for the references in a feed: the attributes of the feed and of the open
// entry (RFC 4287 section 2).
type Bases struct{ feed, entry string }

// OpenFeed notes the start of a feed, or of an element in it around entries.
func (b *Bases) OpenFeed(t Token) {
	if base := t.Attr("base"); base != "" {
		b.feed = base
	}
}

// OpenEntry notes the start of an entry.
func (b *Bases) OpenEntry(t Token) { b.entry = t.Attr("base") }

// Resolve returns a reference of an element, as attributes xml:base say what it refers to. It stays as it
// is if it is absolute, or if no base is absolute or begins with a slash, as one relative to the host does.
func (b *Bases) Resolve(t Token, ref string) string {
	at := new(url.URL)
	for _, base := range []string{b.feed, b.entry, t.Attr("base")} {
		switch u, err := url.Parse(base); {
		case err != nil || base == "":
		case isRooted(at):
			at = at.ResolveReference(u)
		default:
			at = u
		}
	}
	if !isRooted(at) || ref == "" || urls.IsAbsolute(ref) {
		return ref
	}
	if to, err := at.Parse(ref); err == nil {
		return to.String()
	}
	return ref
}

func isRooted(u *url.URL) bool { return u.IsAbs() || strings.HasPrefix(u.Path, "/") }
