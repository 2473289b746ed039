package processors

import (
	"context"
	"runtime"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs"
	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/duplicates"
	"github.com/weftcrawl/weft/parse"
	"github.com/weftcrawl/weft/politeness"
	"github.com/weftcrawl/weft/topics"
	"github.com/weftcrawl/weft/urls"
)

// Parse runs the stage parse until ctx ends: it reads fetched and writes
// parsed, one page as JSON, and discovered, what the exchange names. An
// exchange without a page (a redirect, an error, a status that is no success)
// makes no parsed record. parse.Parser decides, and what a page is a duplicate of,
// duplicates.Index, see originals. What parse and all others have read it removes
// from the store of large bodies, see collector.
//
// As many bodies as there are cores are in memory at once, besides the records
// that were read ahead.
func Parse(ctx context.Context, env Env) error {
	parse, err := newPages(env)
	if err != nil {
		return err
	}
	most := limit{goroutines: runtime.GOMAXPROCS(0), records: 256, bytes: 16 << 20}
	read := func(done func(*kgo.Record, string)) error {
		if env.Definition.Duplicates == topics.IgnoreDuplicates {
			return env.stateless(ctx, topics.Parse, most,
				func(out *outbox) handle { return out.claiming(ctx, out.passing(parse.record), done) })
		}
		o := newOriginals(env, parse)
		defer o.close()
		return env.owning(ctx, topics.Parse, most, o,
			func(out *outbox) handle { return out.claiming(ctx, o.judging(out), done) })
	}
	if env.Bodies == nil {
		return read(func(*kgo.Record, string) {})
	}
	c, err := newCollector(env)
	if err != nil {
		return err
	}
	defer c.close()
	collecting, stop := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() { defer close(ended); c.run(collecting) }()
	defer func() { stop(); <-ended }()
	return read(c.parsed)
}

// NewParse returns what the stage parse makes of a record of fetched, if it knows
// of no other page. Of env it takes the names, the definition and the meter.
func NewParse(env Env) (Transform, error) {
	p, err := newPages(env)
	if err != nil {
		return nil, err
	}
	return p.record, nil
}

func newPages(env Env) (pages, error) {
	parser, err := parse.New(ParseOptions(env.Definition))
	if err != nil {
		return pages{}, err
	}
	form, err := urls.NewForm(URLOptions(env.Definition))
	if err != nil {
		return pages{}, err
	}
	return pages{env: env, parser: parser, form: form}, nil
}

type pages struct {
	env    Env
	parser *parse.Parser
	form   *urls.Form
}

// record answers one exchange, whose page is taken for no duplicate.
func (p pages) record(r *kgo.Record) ([]Output, string) {
	d, out, reason := p.read(r)
	if d != nil {
		out = d.outputs(duplicates.Verdict{})
	}
	return out, reason
}

// read makes of an exchange a draft, or what is to be written where there is no
// page.
func (p pages) read(r *kgo.Record) (d *draft, out []Output, reason string) {
	var f weftpb.Fetched
	if err := proto.Unmarshal(r.Value, &f); err != nil {
		return nil, nil, "undecodable"
	}
	if f.Robots != nil {
		return nil, nil, ""
	}
	source, refusal := urls.Parse(f.Request.GetTarget().GetUrl())
	if refusal != urls.Accepted {
		return nil, nil, "source_" + string(refusal)
	}
	domain := string(r.Key)
	exchange := p.env.Names.Exchange(f.Id, f.Outcome.GetStartedMs())
	status := f.Outcome.GetStatus()
	switch {
	case f.Location != "":
		to := redirected(&f)
		to.Evidence = ofRedirect(p.form.Document(source, "", ""), source, f.Location, domain)
		return nil, p.discovery(domain, exchange, []*weftpb.Discovered{to}), ""
	case status >= 400 && status < 500 && !politeness.Judge(status, "").Retry:
		return nil, p.discovery(domain, exchange, []*weftpb.Discovered{missing(&f)}), ""
	case f.Outcome.GetErrorClass() != "" || status < 200 || status > 299:
		return nil, nil, ""
	}
	page := p.parser.Document(input(&f))
	base := p.form.Document(source, page.Base, page.Charset)
	record := parsed(&f, page, source, base, domain, p.env.Names.Crawl)
	p.env.Meter.Page(len(f.Body))
	d = &draft{pages: p, exchange: exchange, record: record, named: discovered(&f, page)}
	d.fingerprint()
	d.relative = p.relative(page, source, base)
	d.named.Evidence = d.ofPage(f.Request.Target.Via, base, source)
	return d, nil, ""
}

// discovery are the records of what an exchange names.
func (p pages) discovery(domain string, e topics.Exchange, named []*weftpb.Discovered) []Output {
	headers := e.Headers(topics.SchemaDiscovered, topics.Parse)
	out := make([]Output, len(named))
	for i, d := range named {
		out[i] = Output{Topic: p.env.Names.Discovered, Domain: domain, Key: domain, Value: encode(d), Headers: headers}
	}
	return out
}

// input is what the parser wants to know of an exchange.
func input(f *weftpb.Fetched) parse.Input {
	in := parse.Input{URL: f.Request.Target.Url, Body: f.Body, Truncated: f.Outcome.Truncated}
	var types, languages []string
	for _, h := range f.Headers {
		switch {
		case strings.EqualFold(h.Name, "Content-Type"):
			types = append(types, h.Value)
		case strings.EqualFold(h.Name, "Content-Language"):
			languages = append(languages, h.Value)
		case strings.EqualFold(h.Name, "X-Robots-Tag"):
			in.RobotsTags = append(in.RobotsTags, h.Value)
		case strings.EqualFold(h.Name, "Link"):
			in.LinkFields = append(in.LinkFields, h.Value)
		case strings.EqualFold(h.Name, "Refresh") && in.Refresh == "":
			in.Refresh = h.Value
		}
	}
	in.ContentType, in.ContentLanguage = joined(types), joined(languages)
	return in
}

// joined are the values of several fields of a name as one value (RFC 9110
// section 5.3), without empty ones at the beginning.
func joined(values []string) string {
	for len(values) > 0 && values[0] == "" {
		values = values[1:]
	}
	return strings.Join(values, ", ")
}

// redirected is what a redirect names: its target, to be judged like any URL.
func redirected(f *weftpb.Fetched) *weftpb.Discovered {
	d := discovery(f)
	d.Via = weftpb.Via_VIA_REDIRECT
	d.Links = []*weftpb.Link{{Url: f.Location}}
	return d
}

// discovered is what a page names, without what it asks not to follow.
func discovered(f *weftpb.Fetched, page *parse.Page) *weftpb.Discovered {
	d := discovery(f)
	d.Via, d.Base = weftpb.Via_VIA_LINK, page.Base
	if page.Charset != "utf-8" {
		d.Charset = page.Charset
	}
	d.Links = followed(page)
	return d
}

// followed are the links of a page that the crawl may go on to.
func followed(page *parse.Page) []*weftpb.Link {
	n := 0
	for i := range page.Links {
		if page.Follow(page.Links[i]) {
			n++
		}
	}
	// One piece of memory for all: a page has dozens.
	slab := make([]weftpb.Link, n)
	links := make([]*weftpb.Link, 0, n)
	for _, link := range page.Links {
		if page.Follow(link) {
			next := &slab[len(links)]
			next.Url, next.Text, next.Rel = link.URL, link.Text, link.Rel
			links = append(links, next)
		}
	}
	return links
}

// split cuts what a page names into records of maxDiscoveredBytes of links, the
// first of which has the evidence; nothing makes no record.
func split(d *weftpb.Discovered) (records []*weftpb.Discovered) {
	bytes := maxDiscoveredBytes
	for _, link := range d.Links {
		size := len(link.Url) + len(link.Text) + len(link.Rel) + 16
		if bytes+size > maxDiscoveredBytes {
			part := &weftpb.Discovered{
				Source: d.Source, Base: d.Base, Charset: d.Charset, Depth: d.Depth, Via: d.Via, ScopeRoot: d.ScopeRoot, SourceVia: d.SourceVia,
			}
			records, bytes = append(records, part), 0
		}
		last := records[len(records)-1]
		last.Links = append(last.Links, link)
		bytes += size
	}
	switch {
	case len(d.Evidence) == 0:
	case len(records) == 0:
		return []*weftpb.Discovered{d}
	default:
		records[0].Evidence = d.Evidence
	}
	return records
}

const (
	maxDiscoveredBytes = 512 << 10
	// maxParsedLinkBytes bounds the links of one page in parsed: text and
	// links, each six times as long when escaped, fit its largest record.
	maxParsedLinkBytes = 1 << 20
)

func discovery(f *weftpb.Fetched) *weftpb.Discovered {
	t := f.Request.Target
	return &weftpb.Discovered{Source: t.Url, Depth: t.Depth, ScopeRoot: t.ScopeRoot, SourceVia: t.Via, SourceRedirects: t.Redirects}
}

// parsed is the page as its users get it. Links are resolved; those that are
// no URLs for the crawl stay as they were written.
func parsed(f *weftpb.Fetched, page *parse.Page, source urls.URL, base *urls.Base, domain, crawl string) codecs.Parsed {
	resolve := func(ref string) string {
		if u, refusal := base.Resolve(ref); refusal == urls.Accepted {
			return u.String()
		}
		return ref
	}
	out := codecs.Parsed{
		ID: f.Id, URL: source.String(), Domain: domain, Crawl: crawl,
		Status: int(f.Outcome.Status), FetchedAt: time.UnixMilli(f.Outcome.StartedMs).UTC(), Depth: f.Request.Target.Depth,
		ContentType: page.MediaType, Charset: page.Charset, BodyBytes: f.Outcome.BodyBytes, Truncated: f.Outcome.Truncated,
		Unparsed: page.Unparsed, Fallback: page.Fallback,
		Language: page.Language, Title: page.Title, Description: page.Description,
		Keywords: page.Keywords, Author: page.Author, Date: page.Date, CanonicalConflict: page.CanonicalConflict,
		JSONLD: page.JSONLD, JSONLDOmitted: page.JSONLDOmitted,
		Robots: codecs.ParsedRobots(page.Robots),
		Text:   page.Text, TextTruncated: page.TextTruncated, LinksOmitted: page.Skipped.Many,
		Headings: make([]codecs.ParsedHeading, len(page.Headings)), Links: make([]codecs.ParsedLink, len(page.Links)),
	}
	if page.Canonical != "" {
		out.Canonical = resolve(page.Canonical)
	}
	for _, p := range page.OpenGraph {
		out.OpenGraph = append(out.OpenGraph, codecs.ParsedProperty{Name: p.Name, Content: p.Content})
	}
	for i, h := range page.Headings {
		out.Headings[i] = codecs.ParsedHeading{Level: h.Level, Text: h.Text}
	}
	bytes := 0
	for i, l := range page.Links {
		link := codecs.ParsedLink{URL: resolve(l.URL), Text: l.Text, Rel: l.Rel, Kind: string(l.Kind), Element: string(l.Element), Language: l.Language}
		if bytes += len(link.URL) + len(link.Text) + len(link.Rel) + len(link.Kind) + len(link.Element) + len(link.Language); bytes > maxParsedLinkBytes {
			out.LinksOmitted += len(page.Links) - i
			out.Links = out.Links[:i]
			break
		}
		out.Links[i] = link
	}
	return out
}
