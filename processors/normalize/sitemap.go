package normalize

import (
	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/urls"
	"github.com/weftcrawl/weft/processors/normalize/scope"
)

// sitemap passes on a sitemap that an exchange names. It may be on any host. But its answer may be HTML:
// names of sitemaps that nobody uses any more redirect to other sites. Then it is a page only in scope.
func (n normalizer) sitemap(out *batches, from scope.Referrer, domain string, u urls.URL, told *weftpb.Sitemap) {
	standing, refusal := n.policy.Sitemap(from, u)
	if refusal != scope.Accepted {
		n.env.Meter.Normalized(string(refusal), 1)
		return
	}
	target := out.add(domain, u, standing)
	target.Sitemap = proto.CloneOf(told)
	if told.GetHost() != "" || told.GetLevel() > 1 { // else a user names it, as a seed
		_, refusal = n.policy.Judge(n.owner(from, told), u, domain)
		target.Sitemap.OutOfScope = refusal == scope.OutOfScope && !urls.SameHost(u.Host(), told.GetHost())
	}
}

// owner returns the referrer by which the URLs of a sitemap are judged. The sitemap belongs to the
// host whose robots.txt names it. That host is in scope; the sitemap itself may be on another host.
// So its URLs are judged as if the first host named them.
func (n normalizer) owner(from scope.Referrer, told *weftpb.Sitemap) scope.Referrer {
	if told.Host != "" {
		if named, refusal := urls.Parse(from.URL.Scheme() + "://" + told.Host + "/"); refusal == urls.Accepted {
			from.URL, from.Domain = named, n.suffixes.Domain(named.Hostname())
		}
	}
	return from
}

// entry judges an entry of a sitemap, and returns what the sitemap says about it.
//
// More hosts of the crawl than its owner may name the sitemap, but only the owner is known here. So
// an entry of another host is judged as if its own host named it, and it waits for the robots.txt
// of its host (package foreign). A host without a URL in the crawl is never asked for its
// robots.txt. Other URLs of an entry, such as pictures, are judged by scope only.
func (n normalizer) entry(said *weftpb.Entry, owner scope.Referrer, source, u urls.URL, domain string, told *weftpb.Sitemap) (scope.Standing, scope.Refusal, *weftpb.Entry) {
	standing, refusal := n.policy.Judge(owner, u, domain)
	waits := foreign(source, u, told)
	if refusal == scope.OutOfScope && told.GetHost() != "" && u.Host() != told.GetHost() {
		owner.URL, owner.Domain = u, domain
		standing, refusal = n.policy.Judge(owner, u, domain)
		waits = true
	}
	if refusal != scope.Accepted {
		return standing, refusal, nil
	}
	return standing, refusal, entryOf(said, waits, source, told)
}

// entryOf returns what a sitemap says about a URL. It names the sitemap if the sitemap may not
// speak for the host of the URL.
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

// foreign tells whether a sitemap may not speak for the host of a URL. It may if it is on that
// host, or if the robots.txt of that host is known here to name it (sitemaps.org, "Sitemaps and
// cross submits"). A sitemap that a user names may speak for every host. "www." makes no
// difference.
func foreign(source, u urls.URL, told *weftpb.Sitemap) bool {
	return told.GetHost() != "" && !urls.SameHost(u.Host(), source.Host()) && !urls.SameHost(u.Host(), told.GetHost())
}

// vouch records that the robots.txt of a host names a sitemap.
func (b *batches) vouch(domain, host, sitemap string) {
	to := b.open(domain, len(host)+len(sitemap)+16)
	to.record.Vouched = append(to.record.Vouched, &weftpb.Vouch{Host: host, Sitemap: sitemap})
}
