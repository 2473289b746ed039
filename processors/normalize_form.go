package processors

import (
	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/topics"
	"github.com/weftcrawl/weft/urls"
)

// URLOptions is the form of URLs that a crawl's definition asks for.
func URLOptions(d topics.Definition) urls.Options {
	return urls.Options{Strip: d.StripParams, SortQuery: d.SortQuery, HashBang: d.HashBang}
}

// resolve is the form of what source names. A redirect from source to itself but
// for what the form changes is followed as it is, once: a server that answers
// /a with a redirect to /a?PHPSESSID=… shows its page nowhere else. Where it
// redirects from there is source again, which is known.
func resolve(base *urls.Base, source urls.URL, via weftpb.Via, ref string) (urls.URL, urls.Refusal) {
	u, refusal := base.Resolve(ref)
	if via == weftpb.Via_VIA_REDIRECT && u == source {
		return urls.NewBase(source).Resolve(ref)
	}
	return u, refusal
}
