// Package parse is the last stage of the loop, which makes pages of exchanges.
//
//	reads    fetched
//	writes   parsed, a page as JSON; discovered, the URLs that an exchange names and
//	         what the exchange shows about its own URL
//	decides  package document, what a page holds; package duplicates, which earlier
//	         page it is a duplicate of
//
// An exchange without a page (a redirect, an error, a status that is not a success, a sitemap)
// makes no record of parsed. handlers.go lists the formats and their readers. The exchange of a
// robots.txt names sitemaps in discovered. Beside the stage a collector removes the bodies that all
// readers of fetched have read.
package parse

import (
	"context"
	"runtime"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/codecs"
	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/politeness"
	"github.com/weftcrawl/weft/internal/settings"
	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/internal/urls"
	"github.com/weftcrawl/weft/processors/parse/article"
	"github.com/weftcrawl/weft/processors/parse/document"
	"github.com/weftcrawl/weft/processors/parse/duplicates"
	"github.com/weftcrawl/weft/processors/parse/fields"
	"github.com/weftcrawl/weft/processors/parse/pdf"
	"github.com/weftcrawl/weft/processors/parse/structured"
	"github.com/weftcrawl/weft/topics"
)

// Run runs the stage until ctx ends. Besides the records that are read ahead, it
// has as many bodies in memory as the process has cores, and half as many of PDFs.
func Run(ctx context.Context, env stage.Env) error {
	p, err := newParser(env)
	if err != nil {
		return err
	}
	defer func() { _ = p.pdfs.Close() }()
	w := stage.Worker{
		Stage: topics.Parse, Limit: stage.Limit{Goroutines: runtime.GOMAXPROCS(0), Records: 256, Bytes: 16 << 20},
	}
	if env.Definition.Duplicates != topics.IgnoreDuplicates {
		if p.checker, err = newDuplicateChecker(env); err != nil {
			return err
		}
		defer p.checker.close()
		w.State = p.checker
	}
	used := func(*kgo.Record, string) {}
	if env.Bodies != nil {
		c, err := newBodyCollector(env)
		if err != nil {
			return err
		}
		defer c.close()
		defer c.start(ctx)()
		used = c.used
	}
	w.Handler = env.WithBody(ctx, used, p.handle)
	w.Lane = stage.NewLane(max(runtime.GOMAXPROCS(0)/2, 1), 32<<20, isSlow)
	defer w.Lane.Wait()
	return env.RunWorker(ctx, w)
}

// New returns what the stage makes of a record of fetched when there are no other
// pages. It uses the names, the definition and the meter of env.
func New(env stage.Env) (stage.Transform, error) {
	p, err := newParser(env)
	if err != nil {
		return nil, err
	}
	return p.transform, nil
}

type parser struct {
	env        stage.Env
	documents  *document.Parser
	follow     document.Options // which links are followed
	form       *urls.Form
	checker    *duplicateChecker // nil: no page is called a duplicate
	pdfs       *pdf.Reader
	rules      *fields.Rules
	articles   *article.Reader    // nil: the crawl does not ask for main texts
	structured *structured.Reader // nil: the crawl does not ask for structured data
}

func newParser(env stage.Env) (*parser, error) {
	follow := settings.ParseOptions(env.Definition)
	documents, err := document.New(follow)
	if err != nil {
		return nil, err
	}
	form, err := urls.NewForm(settings.URLOptions(env.Definition))
	if err != nil {
		return nil, err
	}
	p := &parser{env: env, documents: documents, follow: follow, form: form, pdfs: pdf.New(pdfOptions(follow))}
	if p.rules, err = settings.FieldRules(env.Definition); err != nil {
		return nil, err
	}
	if opts := settings.ArticleOptions(env.Definition); opts.Wanted() {
		if p.articles, err = article.New(opts, documents); err != nil {
			return nil, err
		}
	}
	if env.Definition.StructuredData != topics.NoStructuredData {
		if p.structured, err = structured.New(structured.DefaultOptions()); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// handle is the stage's Handler. A page is written when the checker knows what it is a
// duplicate of, and before the checker looks at the next page of the partition.
func (p *parser) handle(ctx context.Context, t *stage.Task) {
	made, reason, err := p.read(ctx, t.Record)
	if err != nil {
		t.Fail(err)
		return
	}
	if p.checker == nil || made == nil || made.record == nil {
		t.Finish(ctx, made.outputs(duplicates.Verdict{}), reason)
		return
	}
	flight, err := p.checker.Judge(ctx, topics.Partition(made.domain, p.env.Definition.Partitions), made.judged)
	if err != nil {
		t.Fail(err)
		return
	}
	defer flight.Release()
	if flight.Verdict.Duplicate() {
		p.env.Meter.Duplicate(flight.Verdict.Distance)
	}
	out := made.outputs(flight.Verdict)
	out[0].Acknowledged = flight.Hand()
	t.Finish(ctx, out, "")
}

// transform is the stage's Transform: without a checker.
func (p *parser) transform(r *kgo.Record) (out []stage.Output, reason string) {
	made, reason, err := p.read(context.Background(), r)
	if err != nil {
		return nil, stage.ReasonPanic // PDFium cannot be made: a defect of the program
	}
	return made.outputs(duplicates.Verdict{}), reason
}

// read decides about an exchange. It returns what the exchange makes (nil: nothing), or the reason
// why r is not a record of fetched. It returns an error if ctx ends, or if the stage cannot work.
func (p *parser) read(ctx context.Context, r *kgo.Record) (made *result, reason string, err error) {
	var f weftpb.Fetched
	if err := codecs.UnmarshalFetched(r.Value, &f); err != nil {
		return nil, "undecodable", nil
	}
	if f.Robots != nil {
		made = &result{env: &p.env, domain: string(r.Key), exchange: p.env.Names.Exchange(f.Robots.Id, f.Robots.Outcome.GetStartedMs())}
		made.named = p.robots(&f)
		return made, "", nil
	}
	source, refusal := urls.Parse(f.Request.GetTarget().GetUrl())
	if refusal != urls.Accepted {
		return nil, "source_" + string(refusal), nil
	}
	made = &result{env: &p.env, domain: string(r.Key), exchange: p.env.Names.Exchange(f.Id, f.Outcome.GetStartedMs()), at: r}
	status := f.Outcome.GetStatus()
	sitemap := f.Request.Target.Sitemap != nil
	switch {
	case f.Location != "" && sitemap:
		to := redirected(&f)
		if !redirectedSitemap(to, f.Request.Target) {
			return nil, "", nil
		}
		made.named = []*weftpb.Discovered{to}
	case f.Location != "":
		to := redirected(&f)
		to.Evidence = ofRedirect(p.form.Document(source, "", ""), source, f.Location, made.domain)
		made.named = []*weftpb.Discovered{to}
	case status >= 400 && status < 500 && !sitemap && !politeness.Judge(status, "").Retry:
		// There is no page for the crawl. Not only 404 and 410 say that: object stores answer 403
		// for an object that they do not have.
		missing := newDiscovered(&f)
		missing.Evidence = nothingAt(missing.Source)
		made.named = []*weftpb.Discovered{missing}
	case f.Outcome.GetErrorClass() != "" || status < 200 || status > 299:
		return nil, "", nil
	default:
		body, page, named := p.contents(ctx, &f)
		if body.err != nil {
			return nil, "", body.err
		}
		if page == nil {
			made.named = named
			return made, "", nil
		}
		p.page(made, body, source, page)
		if body.feed != nil {
			made.record.Feed = resolved(body.feed, p.form.Document(source, page.Base, page.Charset))
		}
		made.record.Structure, made.record.Image, made.record.BodyHash = body.structure, body.image, body.bodyHash(page)
		if made.record.Unparsed != "" && body.structure != nil {
			made.record.Structure = &codecs.ParsedStructure{Format: body.structure.Format, Language: body.structure.Language}
		}
		made.named = append(made.named, named...)
		p.env.Meter.Page(len(f.Body))
	}
	return made, "", nil
}

// contents asks the handlers in turn. It returns the page of a body, if there is one, and the other
// things that the body names.
func (p *parser) contents(ctx context.Context, f *weftpb.Fetched) (b *body, page *document.Page, named []*weftpb.Discovered) {
	b = &body{Input: input(f), f: f, ctx: ctx}
	b.media = document.MediaType(b.Input)
	for _, h := range handlers {
		if !h.takes(b) {
			continue
		}
		switch {
		case h.page != nil:
			return b, h.page(p, b), named
		case h.names == nil:
			return b, p.documents.Document(b.Input), named
		}
		more, ok := h.names(p, b)
		if named = append(named, more...); ok {
			return b, nil, named
		}
	}
	return b, nil, named // not reached: the last handler takes every body
}

// input is what package document needs of an exchange.
func input(f *weftpb.Fetched) document.Input {
	in := document.Input{URL: f.Request.Target.Url, Body: f.Body, Truncated: f.Outcome.Truncated, RobotsTxt: f.Request.Usage}
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
		case document.IsUsageField(h.Name):
			in.UsageFields = append(in.UsageFields, document.Field{Name: h.Name, Value: h.Value})
		}
	}
	in.ContentType, in.ContentLanguage = joined(types), joined(languages)
	return in
}

// joined returns the values of fields with one name as one value (RFC 9110 section
// 5.3), without empty values at the beginning.
func joined(values []string) string {
	for len(values) > 0 && values[0] == "" {
		values = values[1:]
	}
	return strings.Join(values, ", ")
}
