package parse

import (
	"net/url"
	"strings"

	"github.com/PuerkitoBio/goquery"

	"github.com/weftcrawl/weft/codecs"
	"github.com/weftcrawl/weft/internal/mediatype"
	"github.com/weftcrawl/weft/internal/urls"
	"github.com/weftcrawl/weft/processors/parse/article"
	"github.com/weftcrawl/weft/processors/parse/document"
	"github.com/weftcrawl/weft/processors/parse/fields"
	"github.com/weftcrawl/weft/processors/parse/structured"
)

// maxParsedBytes is the largest record of parsed with a main text: the largest record, but for
// the frame of its batch.
const maxParsedBytes = 15 << 20

// addFromTree adds to the record of a page what is made of its tree, if the crawl asks for that: the
// fields of its rule, structured data, and the main text.
func (p *parser) addFromTree(made *result, b *body, page *document.Page, base *urls.Base) {
	rule := p.rules.For(made.record.URL)
	var tree *goquery.Document
	var why string
	if p.articles != nil || rule != nil || p.structured != nil && page.Annotated {
		tree, why = p.documents.Tree(b.Input, page)
	}
	if p.structured != nil && page.Unparsed == "" && mediatype.IsHTML(page.MediaType) {
		p.structuredData(made.record, b, page, tree, why)
	}
	if tree == nil && why == "" {
		return // there is no text, or it is of a format that has neither
	}
	if rule != nil {
		p.fields(made.record, rule, tree, why, base)
	}
	if p.articles != nil {
		p.article(made.record, tree, why, base)
	}
}

// structuredData adds what the page says about itself for programs.
func (p *parser) structuredData(record *codecs.Parsed, b *body, page *document.Page, tree *goquery.Document, why string) {
	var base *urls.Base
	in := structured.Input{Page: page, NoTree: why, LastModified: b.lastModified(), Resolve: func(ref string) (string, bool) {
		if base == nil {
			source, _ := urls.Parse(record.URL) // it is canonical
			var form *urls.Form                 // the plain form: identifiers keep all their parameters
			base = form.Document(source, page.Base, page.Charset)
		}
		u, refusal := base.Resolve(ref)
		if refusal != urls.Accepted {
			return "", false
		}
		if _, fragment, ok := strings.Cut(strings.TrimSpace(ref), "#"); ok && fragment != "" {
			return u.String() + "#" + fragment, true
		}
		return u.String(), true
	}}
	if tree != nil {
		in.Tree = tree.Nodes[0]
	}
	var problems []structured.Problem
	record.Structured, problems = p.structured.Read(in)
	for _, source := range structured.Sources(record.Structured) {
		p.env.Meter.Structured(source)
	}
	for _, one := range problems {
		p.env.Meter.StructuredProblem(one.Source, one.Problem)
	}
}

// lastModified is the header field of that name.
func (b *body) lastModified() string {
	for _, h := range b.f.Headers {
		if strings.EqualFold(h.Name, "Last-Modified") {
			return h.Value
		}
	}
	return ""
}

// article adds the main text. It changes the tree.
func (p *parser) article(record *codecs.Parsed, tree *goquery.Document, why string, base *urls.Base) {
	record.MainUnparsed = why
	if tree != nil {
		found := article.Article{Unread: article.Failed}
		if at, err := url.Parse(base.URL().String()); err == nil {
			found = p.articles.Read(tree.Nodes[0], at)
		}
		record.MainText, record.Markdown, record.MainTruncated, record.MainUnparsed = found.Text, found.Markdown, found.Truncated, found.Unread
	}
	p.env.Meter.MainText(record.MainUnparsed)
}

// fields adds what the rule of a page takes out of it.
func (p *parser) fields(record *codecs.Parsed, rule *fields.Rule, tree *goquery.Document, why string, base *urls.Base) {
	taken := fields.Result{JSON: []byte("{}"), Errors: []fields.Error{{Outcome: why}}}
	if tree != nil {
		taken = rule.Apply(tree.Nodes[0], func(ref string) (string, bool) {
			u, refusal := base.Resolve(ref)
			return u.String(), refusal == urls.Accepted
		}, false)
	}
	record.Fields, record.FieldsBy = taken.JSON, rule.Name
	p.env.Meter.Extracted(rule.Name)
	for _, e := range taken.Errors {
		record.FieldErrors = append(record.FieldErrors, codecs.ParsedFieldError{Field: e.Path, Error: e.Outcome, Value: e.Value})
		p.env.Meter.FieldFailed(rule.Name, e.Field, e.Outcome)
	}
}

// noMainText leaves the main text out of the record.
func (made *result) noMainText(why string) {
	made.record.MainText, made.record.Markdown, made.record.MainTruncated, made.record.MainUnparsed = "", "", false, why
}

// value is the record of the page as bytes.
func (made *result) value() []byte {
	record := made.record
	value := record.AppendJSON(make([]byte, 0, roomFor(record)))
	if len(value) > maxParsedBytes && len(record.MainText)+len(record.Markdown) > 0 {
		made.noMainText(article.NoRoom)
		value = record.AppendJSON(value[:0])
	}
	return value
}

// roomFor is about the length of a record in JSON.
func roomFor(record *codecs.Parsed) int {
	room := 2048 + len(record.Text) + len(record.Text)/8 + len(record.MainText) + len(record.Markdown)
	for i := range record.Links {
		const names = len(`{"url":"","text":"","kind":"a"},`)
		room += names + len(record.Links[i].URL) + len(record.Links[i].Text)
	}
	return room
}
