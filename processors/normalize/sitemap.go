package normalize

import (
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/urls"
	"github.com/weftcrawl/weft/processors/normalize/scope"
)

// sitemap passes a sitemap on that an exchange names, wherever it is.
func (n normalizer) sitemap(out *batches, from scope.Referrer, domain string, u urls.URL, told *weftpb.Sitemap) {
	standing, refusal := n.policy.Sitemap(from, u)
	if refusal != scope.Accepted {
		n.env.Meter.Normalized(string(refusal), 1)
		return
	}
	target := out.add(domain, u, standing)
	target.Sitemap = proto.CloneOf(told)
}

// entryJudge returns what judges the entries of a sitemap, and tells whether the word of the
// sitemap counts for their host.
//
// They are judged as if the host named them whose robots.txt names the sitemap: that is the
// one in scope, and the sitemap may lie elsewhere. Several hosts of the crawl may name it, and
// here only the first is known. So an entry of any further host is judged as if its own host
// named it, and waits for that host's robots.txt (package foreign): a host without a URL in
// the crawl is never asked for one. What an entry names besides its page, such as a picture, is
// judged by scope alone.
func (n normalizer) entryJudge(from scope.Referrer, told *weftpb.Sitemap) func(*weftpb.Link, urls.URL, string) (scope.Standing, scope.Refusal, bool) {
	source, by := from.URL, from
	if told.Host != "" {
		if named, refusal := urls.Parse(source.Scheme() + "://" + told.Host + "/"); refusal == urls.Accepted {
			by.URL, by.Domain = named, n.suffixes.Domain(named.Hostname())
		}
	}
	return func(link *weftpb.Link, u urls.URL, domain string) (scope.Standing, scope.Refusal, bool) {
		standing, refusal := n.policy.Judge(by, u, domain)
		if link.Entry == nil {
			return standing, refusal, false
		}
		if refusal == scope.OutOfScope && told.Host != "" && u.Host() != told.Host {
			own := by
			own.URL, own.Domain = u, domain
			standing, refusal = n.policy.Judge(own, u, domain)
			return standing, refusal, true
		}
		return standing, refusal, foreign(source, u, told)
	}
}

// entryOf returns what a sitemap says about a URL, with the sitemap if its word does not
// count for the URL's host.
func entryOf(said *weftpb.Entry, foreign bool, source urls.URL, told *weftpb.Sitemap) *weftpb.Entry {
	if !foreign {
		if proto.Size(said) == 0 {
			return nil
		}
		return said
	}
	entry := proto.CloneOf(said)
	if entry.Foreign = told.GetRoot(); entry.Foreign == "" {
		entry.Foreign = source.String()
	}
	return entry
}

// foreign tells whether the word of a sitemap does not count for the host of a URL:
// neither is the sitemap there, nor does the robots.txt of that host name it, as far as is
// known here (sitemaps.org, "Sitemaps and cross submits"). What users name counts everywhere. A
// host with and without "www." is one here.
func foreign(source, u urls.URL, told *weftpb.Sitemap) bool {
	return told.GetHost() != "" && !sameHost(u.Host(), source.Host()) && !sameHost(u.Host(), told.GetHost())
}

func sameHost(a, b string) bool {
	return strings.TrimPrefix(a, "www.") == strings.TrimPrefix(b, "www.")
}

// vouch adds that the robots.txt of a host names a sitemap.
func (b *batches) vouch(domain, host, sitemap string) {
	to := b.open(domain, len(host)+len(sitemap)+16)
	to.record.Vouched = append(to.record.Vouched, &weftpb.Vouch{Host: host, Sitemap: sitemap})
}
