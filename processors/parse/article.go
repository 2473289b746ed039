package parse

import (
	"net/url"

	"github.com/weftcrawl/weft/internal/urls"
	"github.com/weftcrawl/weft/processors/parse/article"
	"github.com/weftcrawl/weft/processors/parse/document"
)

// maxParsedBytes is the largest record of parsed with a main text: the largest record, but for
// the frame of its batch.
const maxParsedBytes = 15 << 20

// article adds the main text of a page to its record, if the crawl asks for that.
func (p *parser) article(made *result, b *body, page *document.Page, base *urls.Base) {
	if p.articles == nil {
		return
	}
	tree, why := p.documents.Tree(b.Input, page)
	if tree == nil && why == "" {
		return // there is no text, or it is of a format that has no navigation
	}
	record := made.record
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

// noMainText leaves the main text out of the record.
func (made *result) noMainText(why string) {
	made.record.MainText, made.record.Markdown, made.record.MainTruncated, made.record.MainUnparsed = "", "", false, why
}

// value is the record of the page as bytes.
func (made *result) value() []byte {
	record := made.record
	value := record.AppendJSON(make([]byte, 0, len(record.Text)+len(record.Text)/8+len(record.MainText)+len(record.Markdown)+4096))
	if len(value) > maxParsedBytes && len(record.MainText)+len(record.Markdown) > 0 {
		made.noMainText(article.NoRoom)
		value = record.AppendJSON(value[:0])
	}
	return value
}
