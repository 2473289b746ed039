package parse

import (
	"slices"
	"strings"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/urls"
	"github.com/weftcrawl/weft/processors/dedupe/traps"
	"github.com/weftcrawl/weft/processors/dedupe/variants"
	"github.com/weftcrawl/weft/processors/parse/document"
	"github.com/weftcrawl/weft/processors/parse/duplicates"
	"github.com/weftcrawl/weft/processors/parse/simhash"
)

// evidentWords is the least number of words of a text that shows that two URLs of
// a domain name the same page.
const evidentWords = simhash.MinWords

// evidence is what a page shows about its URL: that it names a variant as canonical, or that
// the URL has a page of its own. A text of a few words shows the latter only if the URL is a
// probe, because only a longer text can show that two pages have the same text. A file is a
// document that is not HTML: that it names no canonical URL shows nothing. Every document
// that can be read also shows that it was read, and whether its links are relative.
func (made *result) evidence(via weftpb.Via, base *urls.Base, source urls.URL, file bool) []*weftpb.Evidence {
	shown := namesAs(weftpb.Evidence_KIND_CANONICAL, base, source, made.record.Canonical, made.domain)
	own := &weftpb.Evidence{Url: source.String()}
	switch {
	case shown != nil:
		own = shown[0]
	case file && made.words >= evidentWords:
		own.Kind = weftpb.Evidence_KIND_FILE
	case via == weftpb.Via_VIA_PROBE && !file:
		own.Kind = weftpb.Evidence_KIND_OWN
	case made.words >= evidentWords:
		own.Kind = weftpb.Evidence_KIND_PAGE
	case made.relative || made.record.Unparsed != document.UnsupportedType:
		own.Kind = weftpb.Evidence_KIND_SHORT
	default:
		return nil
	}
	own.Relative = made.relative
	return []*weftpb.Evidence{own}
}

// contentEvidence is what a page shows about its URL when it is a duplicate of another
// page of its domain. Different pages may share a text of a few words. Such a text
// counts only at a URL that looks like a trap, and only if it is the same text or
// the grid of a month.
func contentEvidence(url string, words int, relative bool, v duplicates.Verdict) []*weftpb.Evidence {
	if !v.Duplicate() || !v.Own || v.URL == url {
		return nil
	}
	kind := weftpb.Evidence_KIND_CONTENT
	if words < evidentWords {
		kind = weftpb.Evidence_KIND_EMPTY
		if looks := traps.Looks(url); looks == traps.SameContent || v.Distance > 0 && looks != traps.Calendar {
			return nil
		}
	}
	return []*weftpb.Evidence{{Kind: kind, Url: url, SameAs: v.URL, Distance: uint32(v.Distance), Relative: relative}}
}

// namesAs is the evidence that source names a reference (a redirect's target or a
// canonical URL) as the same page. It is nil unless a rule that dedupe can learn makes
// one URL of the other. base gives the reference the form of the crawl: /a that
// redirects to /a/?PHPSESSID=1 shows that /a is /a/.
func namesAs(kind weftpb.Evidence_Kind, base *urls.Base, source urls.URL, reference, domain string) []*weftpb.Evidence {
	if reference == "" {
		return nil
	}
	other, refusal := base.Resolve(reference)
	if refusal != urls.Accepted || !variants.Related(source, other, domain) {
		return nil
	}
	return []*weftpb.Evidence{{Kind: kind, Url: source.String(), SameAs: other.String()}}
}

// ofRedirect is what a redirect shows: its URL names the same page as another URL, or has no page.
// Many sites redirect missing URLs to the home page.
func ofRedirect(base *urls.Base, source urls.URL, location, domain string) []*weftpb.Evidence {
	if same := namesAs(weftpb.Evidence_KIND_REDIRECT, base, source, location, domain); same != nil {
		return same
	}
	if to, _ := base.Resolve(location); to.String() == source.String() {
		return nil
	}
	return nothingAt(source.String())
}

func nothingAt(url string) []*weftpb.Evidence {
	return []*weftpb.Evidence{{Kind: weftpb.Evidence_KIND_MISSING, Url: url}}
}

// leadsElsewhere tells whether a page has a relative link that the crawl may follow. Such a link
// leads elsewhere from there, the URL that differs from the page's URL in the final slash. "b" is
// such a link, "/b" and "?b" are not.
func leadsElsewhere(page *document.Page, base, there *urls.Base) bool {
	if there.URL() == base.URL() {
		return false
	}
	return slices.ContainsFunc(page.Links, func(l document.Link) bool {
		return !rooted(l.URL) && page.Follow(l) && !leadsTogether(base, there, l.URL)
	})
}

// rooted tells whether a reference surely resolves to the same URL everywhere on a
// host.
func rooted(ref string) bool {
	return strings.HasPrefix(ref, "/") || strings.HasPrefix(ref, "https://") || strings.HasPrefix(ref, "http://")
}

// leadsTogether tells whether a reference names the same URL from both bases, or two
// URLs that differ in the final slash as the bases do.
func leadsTogether(base, there *urls.Base, ref string) bool {
	a, refused := base.Resolve(ref)
	b, refusedThere := there.Resolve(ref)
	if refused != refusedThere {
		return false
	}
	other, ok := variants.OtherSlash(a)
	return a == b || ok && other == b
}
