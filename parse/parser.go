package parse

import (
	"fmt"
	"sync"
	"unicode/utf8"
)

// Parser reads documents. It is safe for concurrent use and keeps nothing but
// buffers.
type Parser struct {
	opts       Options
	collectors sync.Pool
}

// New returns a Parser, or the error of opts.Validate.
func New(opts Options) (*Parser, error) {
	if err := opts.Validate(); err != nil {
		return nil, fmt.Errorf("new parser: %w", err)
	}
	p := &Parser{opts: opts}
	p.collectors.New = func() any { return newCollector(&p.opts) }
	return p, nil
}

// Document reads one response. It never fails: see Page.Unparsed and
// Page.Fallback.
func (p *Parser) Document(in Input) *Page {
	page := &Page{Robots: robotsOfTags(in.RobotsTags, p.opts.Agent)}
	page.MediaType = mediaType(in.ContentType, in.Body)

	switch kindOfMedia(page.MediaType) {
	case mediaHTML:
		body, charset := decode(in.Body, in.ContentType, in.Truncated)
		page.Charset = charset
		p.html(page, in, body)
	case mediaPlain:
		body, charset := decode(in.Body, in.ContentType, in.Truncated)
		page.Charset = charset
		p.plain(page, body)
	default:
		page.Unparsed = UnsupportedType
	}

	if page.Language == "" {
		page.Language = singleLanguage(in.ContentLanguage, p.opts.MaxFieldBytes)
	}
	if page.Robots.NoIndex && p.opts.OmitNoIndex && page.Unparsed == "" {
		page.Unparsed = NoIndex
		page.Text, page.Headings, page.Description = "", nil, ""
		page.TextTruncated = false
	}
	return page
}

func (p *Parser) html(page *Page, in Input, body []byte) {
	c := p.collectors.Get().(*collector)
	c.begin(page, in.URL)
	switch {
	case len(body) > p.opts.MaxTreeBytes:
		page.Fallback = TooLarge
		c.tokens(body)
	case !c.tree(body):
		page.Fallback = TooDeep
		c.tokens(body)
	}
	c.finish()
	p.collectors.Put(c)
}

// plain takes the body as one preformatted block.
func (p *Parser) plain(page *Page, body []byte) {
	c := p.collectors.Get().(*collector)
	c.begin(page, "")
	// One character more than fits is enough to know that it does not.
	head := cutPartialRune(body[:min(len(body), p.opts.MaxTextBytes+utf8.UTFMax)])
	c.prose.verbatim(string(head))
	c.finish()
	p.collectors.Put(c)
}
