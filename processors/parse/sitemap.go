package parse

import (
	"math"
	"net/http"
	"strings"

	"github.com/zeebo/xxh3"
	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/mediatype"
	"github.com/weftcrawl/weft/internal/robots"
	"github.com/weftcrawl/weft/internal/settings"
	"github.com/weftcrawl/weft/internal/urls"
	"github.com/weftcrawl/weft/processors/parse/document"
	"github.com/weftcrawl/weft/processors/parse/sitemap"
	"github.com/weftcrawl/weft/topics"
)

// A sitemap does not make a page. Its entries go to discovered, and the pages that they name come
// to parsed.

// sitemapHandler reads sitemaps: URLs that are known to be sitemaps, and XML that begins like a
// sitemap, because a page may link to one.
var sitemapHandler = handler{
	name: "sitemap",
	takes: func(b *body) bool {
		switch {
		case b.target().GetSitemap() != nil:
			return true
		case strings.HasSuffix(b.media, "/xml"), strings.HasSuffix(b.media, "gzip"):
			return sitemap.Looks(b.Body)
		}
		return false
	},
	names: (*parser).sitemap,
}

const (
	// maxSitemapLevel is the number of indexes in a row that are followed, with the first one.
	maxSitemapLevel = 3
	// maxSitemapLinks and maxSitemapLinkBytes bound what a sitemap names: 50,000 entries may have
	// alternates without end.
	maxSitemapLinks     = 200_000
	maxSitemapLinkBytes = 32 << 20
	// sitemapDepth is the depth of sitemaps that a robots.txt names. Their entries are as far
	// from a seed as the links of a seed.
	sitemapDepth = 1
)

// sitemap reads a body as a sitemap.
func (p *parser) sitemap(b *body) (named []*weftpb.Discovered, ok bool) {
	told := b.target().GetSitemap()
	isPage := told == nil || mediatype.IsHTML(b.media) && mayBePage(told, b.URL)
	if p.env.Definition.Sitemaps == topics.NoSitemaps { // a sitemap was queued before they were turned off
		return nil, !isPage
	}
	opts := sitemap.DefaultOptions()
	opts.Lists, opts.Charset = told != nil, mediatype.Of(b.ContentType).Charset
	own := told
	if own == nil { // a page links to it
		own = &weftpb.Sitemap{Level: 1, Host: urls.AuthorityOf(b.URL)}
	}
	w := sitemapWriter{parser: p, f: b.f, told: own, seen: map[uint64]struct{}{}}
	result := sitemap.Read(b.Body, opts, w.entry)
	if result.Kind == sitemap.None {
		p.env.Meter.Sitemap(string(result.Outcome), 0)
		return nil, !isPage
	}
	if result.Outcome == sitemap.Whole && b.Truncated {
		result.Outcome = sitemap.Cut
	}
	p.env.Meter.Sitemap(string(result.Outcome), result.Entries)
	return w.records, told != nil
}

// mayBePage tells whether HTML in place of a sitemap is a page of the crawl. A robots.txt may name a
// page of the site, and a sitemap may redirect to a page. Servers also answer with an error page to a URL
// that is only guessed.
func mayBePage(told *weftpb.Sitemap, url string) bool {
	guess := told.Guessed && (told.Root == "" || strings.HasSuffix(url, ".xml") || strings.HasSuffix(url, ".gz"))
	return !told.OutOfScope && !guess
}

// sitemapWriter makes records of discovered of the entries of a sitemap.
type sitemapWriter struct {
	*parser
	f    *weftpb.Fetched
	told *weftpb.Sitemap

	seen         map[uint64]struct{} // hashes of links: alternates name each other
	records      []*weftpb.Discovered
	bytes, total int // of the last record, and of all
}

func (w *sitemapWriter) entry(e *sitemap.Entry) {
	if e.Sitemap {
		if w.told.GetLevel() <= maxSitemapLevel {
			w.add(&weftpb.Link{Url: w.complete(e.Loc), Sitemap: below(w.told, w.f.Request.Target.Url)})
		}
		return
	}
	says := &weftpb.Entry{ChangeFrequency: changeFrequencies[e.ChangeFrequency]}
	if e.Priority >= 0 {
		says.Priority = uint32(math.Round(e.Priority*1000)) + 1
	}
	if !e.LastMod.IsZero() {
		says.LastmodMs = e.LastMod.UnixMilli()
	}
	w.add(&weftpb.Link{Url: w.complete(e.Loc), Entry: says})
	for _, alternate := range e.Alternates {
		w.link(alternate.Loc, document.KindAlternate)
	}
	for _, image := range e.Images {
		w.link(image, document.KindImage)
	}
	for _, video := range e.Videos {
		w.link(video, document.KindMedia)
	}
}

// link adds a URL that an entry names besides its page, if the crawl follows links of its kind.
func (w *sitemapWriter) link(ref string, kind document.Kind) {
	if w.follow.Follows(kind, "", "") {
		l := &weftpb.Link{Url: w.complete(ref)}
		if kind == document.KindAlternate {
			l.Entry = &weftpb.Entry{} // a page, as the entry itself
		}
		w.add(l)
	}
}

func (w *sitemapWriter) add(link *weftpb.Link) {
	print := xxh3.HashString(link.Url)
	if _, known := w.seen[print]; known || len(w.seen) >= maxSitemapLinks || len(link.Url) > maxSitemapURL {
		return
	}
	size := len(link.Url) + len(link.Sitemap.GetRoot()) + len(link.Sitemap.GetHost()) + 32
	if w.total += size; w.total > maxSitemapLinkBytes {
		return
	}
	w.seen[print] = struct{}{}
	if len(w.records) == 0 || w.bytes+size > maxDiscoveredBytes {
		record := newDiscovered(w.f)
		record.Via, record.Sitemap = weftpb.Via_VIA_SITEMAP, w.told
		w.records, w.bytes = append(w.records, record), 0
	}
	last := w.records[len(w.records)-1]
	last.Links = append(last.Links, link)
	w.bytes += size
}

// maxSitemapURL is how long a reference may be as written; each byte of a URL may be escaped.
const maxSitemapURL = 3 * urls.MaxBytes

// complete gives a reference without a scheme the scheme of its sitemap if the reference begins
// with the host of the sitemap or with "www.". Other references without a scheme are relative.
func (w *sitemapWriter) complete(ref string) string {
	source := w.f.Request.Target.Url
	scheme, _, _ := strings.Cut(source, "://")
	end := strings.IndexAny(ref, "/?#")
	if end < 0 {
		end = len(ref)
	}
	host := strings.ToLower(ref[:end])
	if host != "" && !strings.HasSuffix(host, ":") && (strings.HasPrefix(host, "www.") || urls.SameHost(host, urls.AuthorityOf(source))) {
		return scheme + "://" + ref
	}
	return ref
}

// below describes a sitemap that an index or a redirect of a sitemap names.
func below(told *weftpb.Sitemap, url string) *weftpb.Sitemap {
	next := proto.CloneOf(told)
	next.Level++
	next.Guessed = false
	if next.Root == "" {
		next.Root = url
	}
	return next
}

// redirectedSitemap marks the target of a sitemap's redirect as a sitemap. It returns false if the
// redirect is not followed: a guessed URL often redirects to an error page.
func redirectedSitemap(d *weftpb.Discovered, t *weftpb.Target) bool {
	if t.Sitemap.GetGuessed() && !looksLikeSitemap(d.Links[0].Url) {
		return false
	}
	to := below(t.Sitemap, t.Url)
	to.Level, to.Guessed = t.Sitemap.GetLevel(), t.Sitemap.GetGuessed()
	d.Links[0].Sitemap = to
	return true
}

// looksLikeSitemap tells whether a URL looks like the URL of a sitemap.
func looksLikeSitemap(url string) bool {
	path, _, _ := strings.Cut(url, "?")
	path = strings.ToLower(path)
	return strings.Contains(path[strings.LastIndexByte(path, '/')+1:], "sitemap") || strings.HasSuffix(strings.TrimSuffix(path, ".gz"), ".xml")
}

// robots returns the sitemaps that a robots.txt names. If it names none, or does not exist, robots
// returns the URLs at which most servers have their sitemaps.
func (p *parser) robots(f *weftpb.Fetched) []*weftpb.Discovered {
	of, x := f.RobotsOf, f.Robots
	if of == nil || x.Location != "" || p.env.Definition.Sitemaps == topics.NoSitemaps {
		return nil
	}
	origin, refusal := urls.Parse(of.Origin + "/")
	if refusal != urls.Accepted {
		return nil
	}
	d := &weftpb.Discovered{
		Source: of.Origin + robotsPath, Depth: sitemapDepth, Via: weftpb.Via_VIA_SITEMAP, ScopeRoot: of.ScopeRoot, Robots: true, Aside: of.Aside,
	}
	host := origin.Host()
	for _, ref := range p.sitemapsIn(x) {
		d.Links = append(d.Links, &weftpb.Link{Url: ref, Sitemap: &weftpb.Sitemap{Level: 1, Host: host}})
	}
	if len(d.Links) == 0 && !of.Aside && p.mayGuess(of, x) {
		for _, path := range guesses {
			d.Links = append(d.Links, &weftpb.Link{Url: of.Origin + path, Sitemap: &weftpb.Sitemap{Level: 1, Host: host, Guessed: true}})
		}
	}
	if len(d.Links) == 0 {
		return nil
	}
	return []*weftpb.Discovered{d}
}

const robotsPath = "/robots.txt"

// guesses are the paths of most sitemaps that no robots.txt names.
var guesses = []string{"/sitemap.xml", "/sitemap_index.xml"}

func (p *parser) sitemapsIn(x *weftpb.Fetched) []string {
	status := x.Outcome.GetStatus()
	if x.Outcome.GetErrorClass() != "" || status < 200 || status > 299 {
		return nil
	}
	body := x.Body
	if x.Outcome.GetTruncated() {
		body = robots.WholeLines(body)
	}
	return robots.Parse(int(status), body, settings.Product(p.env.Definition)).Sitemaps
}

// mayGuess tells whether Weft guesses the sitemaps of an origin without Sitemap lines. It does so if
// robots.txt was read, or does not exist. If robots.txt redirects to another origin, that origin
// has the sitemaps.
func (p *parser) mayGuess(of *weftpb.RobotsOf, x *weftpb.Fetched) bool {
	asked, _ := urls.Parse(x.Request.GetTarget().GetUrl())
	status := x.Outcome.GetStatus()
	switch {
	case asked.Origin() != of.Origin:
		return false
	case status >= 200 && status <= 299:
		return x.Outcome.GetErrorClass() == ""
	}
	return status >= 400 && status <= 499 && status != http.StatusTooManyRequests
}

var changeFrequencies = map[string]weftpb.Entry_ChangeFrequency{
	"always": weftpb.Entry_CHANGE_FREQUENCY_ALWAYS, "hourly": weftpb.Entry_CHANGE_FREQUENCY_HOURLY,
	"daily": weftpb.Entry_CHANGE_FREQUENCY_DAILY, "weekly": weftpb.Entry_CHANGE_FREQUENCY_WEEKLY,
	"monthly": weftpb.Entry_CHANGE_FREQUENCY_MONTHLY, "yearly": weftpb.Entry_CHANGE_FREQUENCY_YEARLY,
	"never": weftpb.Entry_CHANGE_FREQUENCY_NEVER,
}
