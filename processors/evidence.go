package processors

import (
	"slices"
	"strings"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/parse"
	"github.com/weftcrawl/weft/urls"
	"github.com/weftcrawl/weft/variants"
)

// namesAs is the evidence that the exchange at source says that reference, a
// redirect's target or a canonical URL, is the same page: none unless rules that
// can be learnt make one of the other, since no other is of use to dedupe. base
// gives the form of the crawl: /a that redirects to /a/?PHPSESSID=1 says that it
// is /a/.
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

// ofRedirect is what a redirect shows: that its URL is the same page as another, or
// has none. Many a site leads what it does not have to its home page.
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

// missing is what an exchange names that says that there is nothing for the crawl:
// not only 404 and 410, for stores of files answer 403 for what they do not have.
func missing(f *weftpb.Fetched) *weftpb.Discovered {
	d := discovery(f)
	d.Evidence = nothingAt(d.Source)
	return d
}

// ofPage is what a page shows about its URL: that it names a variant as canonical,
// or has a page of its own. Of a text of a few words that is only told of a probe,
// for a page that has another's text is found out by longer ones only. That it was
// read, and whether its links are relative, is told of every document that can be.
func (d *draft) ofPage(via weftpb.Via, base *urls.Base, source urls.URL) []*weftpb.Evidence {
	shown := namesAs(weftpb.Evidence_KIND_CANONICAL, base, source, d.record.Canonical, d.record.Domain)
	own := &weftpb.Evidence{Url: source.String()}
	switch {
	case shown != nil:
		own = shown[0]
	case via == weftpb.Via_VIA_PROBE:
		own.Kind = weftpb.Evidence_KIND_OWN
	case d.words >= evidentWords:
		own.Kind = weftpb.Evidence_KIND_PAGE
	case d.relative || d.record.Unparsed != parse.UnsupportedType:
		own.Kind = weftpb.Evidence_KIND_SHORT
	default:
		return nil
	}
	own.Relative = d.relative
	return []*weftpb.Evidence{own}
}

// relative tells whether a link of a page that the crawl may go on to leads
// elsewhere from the URL that differs from the page's in the final slash, as
// "b" does, and neither "/b" nor "?b".
func (p pages) relative(page *parse.Page, source urls.URL, base *urls.Base) bool {
	other, ok := variants.OtherSlash(source)
	if !ok {
		return false
	}
	there := p.form.Document(other, page.Base, page.Charset)
	if there.URL() == base.URL() {
		return false
	}
	return slices.ContainsFunc(page.Links, func(l parse.Link) bool {
		return !rooted(l.URL) && page.Follow(l) && !leadsTogether(base, there, l.URL)
	})
}

// rooted tells of most references that resolve alike everywhere on a host that
// they do.
func rooted(ref string) bool {
	return strings.HasPrefix(ref, "/") || strings.HasPrefix(ref, "https://") || strings.HasPrefix(ref, "http://")
}

// leadsTogether tells whether a reference names the same URL from both bases, or
// two that differ in the final slash as these do.
func leadsTogether(base, there *urls.Base, ref string) bool {
	a, refused := base.Resolve(ref)
	b, refusedThere := there.Resolve(ref)
	if refused != refusedThere {
		return false
	}
	other, ok := variants.OtherSlash(a)
	return a == b || ok && other == b
}

// maxEvidence bounds what is passed on of one exchange.
const maxEvidence = 16

// show passes on, with the targets of the source's own domain, what its exchange
// shows about it. The other URL gets the form of targets, so that dedupe knows
// it; evidence about other URLs than domain's is none.
func (n normalizer) show(out *batches, domain string, shown []*weftpb.Evidence) {
	for _, e := range shown[:min(len(shown), maxEvidence)] {
		url, refusal := urls.Parse(e.Url)
		if !n.inDomain(domain, url, refusal) {
			continue
		}
		other, refusal := n.form.Parse(e.SameAs)
		if e.SameAs != "" && !n.inDomain(domain, other, refusal) {
			continue
		}
		own := &weftpb.Evidence{Kind: e.Kind, Url: url.String(), SameAs: other.String(), Distance: e.Distance, Relative: e.Relative}
		size := len(own.Url) + len(own.SameAs) + 16
		to := out.open(domain, size)
		to.bytes += size
		to.record.Evidence = append(to.record.Evidence, own)
	}
}

// inDomain tells whether a URL that was parsed is one of domain.
func (n normalizer) inDomain(domain string, u urls.URL, refusal urls.Refusal) bool {
	return refusal == urls.Accepted && n.suffixes.Domain(u.Hostname()) == domain
}
