package processors

import (
	"slices"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/scope"
	"github.com/weftcrawl/weft/topics"
	"github.com/weftcrawl/weft/traps"
	"github.com/weftcrawl/weft/urls"
)

// TrapOptions are the traps that a crawl's definition looks for.
func TrapOptions(d topics.Definition) traps.Options {
	o := traps.DefaultOptions()
	o.PagesPerDomain = d.MaxPagesPerDomain
	o.Evidence = int(limitOf(int64(d.TrapEvidence), int64(o.Evidence)))
	o.URLsPerTemplate = limitOf(d.MaxURLsPerTemplate, o.URLsPerTemplate)
	return o
}

// limitOf is what a limit of a definition is as an option: 0 is the default, and
// what is negative is none, which options write as 0.
func limitOf(defined, byDefault int64) int64 {
	if defined == 0 {
		return byDefault
	}
	return max(defined, 0)
}

// shapeLimits are the limits of scope that a crawl's definition asks for.
func shapeLimits(d topics.Definition) scope.Limits {
	return scope.Limits{
		Segments: d.MaxPathSegments, SegmentRepeats: d.MaxPathRepeats, Params: d.MaxParams, ParamRepeats: d.MaxParamRepeats,
	}
}

// holdBack moves the URLs of traps from the targets of an event to what it parks,
// and notes what their naming says of the page that named them.
func (s *seen) holdBack(o traps.Options, domain string, n *weftpb.Normalized, event *weftpb.Deduped) {
	if len(event.Targets) == 0 {
		return
	}
	event.Showing, event.Original = showing(domain, n, event.Targets)
	event.Targets, event.Parked = s.book.Judge(o, domain, event.Showing, event.Targets)
	s.book.Group(domain, event)
}

// lifted answers people who lift a trap; nil: nothing changes.
func (s *seen) lifted(domain string, lift *weftpb.Lift) []byte {
	event := s.book.Lift(domain, lift)
	if event == nil {
		return nil
	}
	return encode(event)
}

// showing is what a page showed that names URLs that are new, and the original of a
// copy. Pages of other domains are unknown here, a redirect shows nothing, and seeds
// have no page.
func showing(domain string, n *weftpb.Normalized, targets []*weftpb.Target) (shows weftpb.Showing, original uint64) {
	via := targets[0].Via
	if via == weftpb.Via_VIA_SEED || via == weftpb.Via_VIA_REDIRECT || !within(n.Source, domain) {
		return weftpb.Showing_SHOWING_UNSPECIFIED, 0
	}
	i := slices.IndexFunc(n.Evidence, func(e *weftpb.Evidence) bool {
		return isAgain(e, n.Source) && (e.Kind == weftpb.Evidence_KIND_CONTENT || namesItsLike(n.Source, targets))
	})
	switch {
	case i < 0:
		return weftpb.Showing_SHOWING_NEW, 0
	case traps.Looks(n.Source) == traps.SameContent:
		return weftpb.Showing_SHOWING_COPY, xxh3.HashString(n.Evidence[i].SameAs)
	}
	return weftpb.Showing_SHOWING_AGAIN, 0
}

// isAgain tells whether the page at a URL has the content of another.
func isAgain(e *weftpb.Evidence, url string) bool {
	content := e.Kind == weftpb.Evidence_KIND_CONTENT || e.Kind == weftpb.Evidence_KIND_EMPTY
	return content && e.Url == url && e.Distance <= nothingNew
}

// namesItsLike tells whether a page with hardly a word is empty indeed: a list of
// pictures has as few words, and names pictures.
func namesItsLike(source string, targets []*weftpb.Target) bool {
	looks := traps.Looks(source)
	return !slices.ContainsFunc(targets, func(t *weftpb.Target) bool { return traps.Looks(t.Url) != looks })
}

// tellAll puts what the content of a page shows into each record of the page's own
// domain: a page that names many URLs has several, and each is decided by itself.
func (b *batches) tellAll(domain string) {
	var content *weftpb.Evidence
	for _, to := range b.list {
		if to.domain != domain {
			continue
		}
		if i := slices.IndexFunc(to.record.Evidence, func(e *weftpb.Evidence) bool { return isAgain(e, b.source) }); i >= 0 {
			content = to.record.Evidence[i]
		} else if content != nil {
			to.record.Evidence = append(to.record.Evidence, content)
		}
	}
}

// nothingNew is the largest distance of its content from another at which a page
// shows nothing new. What is further away is nearly the same for its readers, and
// may be a page of a shop for all that: some sentences of its own, and long ones on
// delivery that all its pages have.
const nothingNew = 1

// within tells whether a URL is of a registrable domain.
func within(url, domain string) bool {
	u, refusal := urls.Parse(url)
	if refusal != urls.Accepted {
		return false
	}
	host := u.Hostname()
	return host == domain || strings.HasSuffix(host, "."+domain)
}
