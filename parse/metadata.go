package parse

import (
	"bytes"
	"strings"

	"golang.org/x/net/html"

	"github.com/weftcrawl/weft/mediatype"
)

// Property is one Open Graph property as the page states it (ogp.me): a name
// such as "og:image", which may come several times, and its content.
type Property struct {
	Name, Content string
}

// meta reads a meta element.
func (c *collector) meta(attrs []html.Attribute) {
	content, ok := lookup(attrs, "content")
	if !ok {
		return
	}
	name, property := trimSpace(attribute(attrs, "name")), trimSpace(attribute(attrs, "property"))
	if name != "" {
		c.named(name, content)
	}
	if property != "" && !strings.EqualFold(property, name) {
		c.property(property, content)
	}
	switch pragma := attribute(attrs, "http-equiv"); {
	case pragma == "":
	case strings.EqualFold(pragma, "refresh"):
		if href := refreshURL(content); href != "" {
			c.add(Link{URL: href, Rel: "refresh", Kind: KindRefresh})
		}
	case c.page.Language == "" && strings.EqualFold(pragma, "content-language"):
		c.page.Language = singleLanguage(content, c.opts.MaxFieldBytes)
	}
}

// named reads a meta element with a name. The first that says something counts.
func (c *collector) named(name, content string) {
	if addressed(name, c.opts.Agent) {
		c.page.Robots.add(content)
		return
	}
	switch strings.ToLower(name) {
	case "description":
		c.field(&c.page.Description, content)
	case "keywords":
		c.field(&c.page.Keywords, content)
	case "author":
		c.field(&c.page.Author, content)
	case "date", "pubdate", "dc.date", "dc.date.issued", "dcterms.date", "dcterms.created", "dcterms.issued",
		"article:published_time", "citation_publication_date":
		c.field(&c.page.Date, content)
	}
	c.property(name, content)
}

// property reads a meta element with a property; some write Open Graph's as
// names.
func (c *collector) property(name, content string) {
	vocabulary, _, ok := strings.Cut(name, ":")
	if !ok {
		return
	}
	switch strings.ToLower(vocabulary) {
	case "og", "article", "book", "profile", "music", "video":
	default:
		return
	}
	if strings.EqualFold(name, "article:published_time") {
		c.field(&c.page.Date, content)
	}
	if content = foldField(content, c.opts.MaxFieldBytes); content != "" && len(c.page.OpenGraph) < c.opts.MaxProperties {
		c.page.OpenGraph = append(c.page.OpenGraph, Property{
			Name: cut(strings.ToLower(name), c.opts.MaxFieldBytes), Content: content,
		})
	}
}

// field gives a field of the page its value unless it has one.
func (c *collector) field(field *string, content string) {
	if *field == "" {
		*field = foldField(content, c.opts.MaxFieldBytes)
	}
}

// script reads the start of a script element, and reports whether its text is
// wanted: that of data in JSON-LD is (JSON-LD 1.1 section 7).
func (c *collector) script(attrs []html.Attribute) bool {
	var src, kind string
	for i := range attrs {
		switch a := &attrs[i]; a.Key {
		case "src":
			src = a.Val
		case "type":
			kind = a.Val
		}
	}
	if src != "" {
		c.add(Link{URL: src, Kind: KindScript})
		return false
	}
	c.inData = kind != "" && c.foreign == 0 && mediatype.Of(kind).Essence == "application/ld+json"
	return c.inData
}

// endScript takes what stood in a script with data. A block that does not fit
// is left out whole: half of one is no JSON.
func (c *collector) endScript() {
	if !c.inData {
		return
	}
	c.inData = false
	if data := bytes.TrimSpace(c.data); len(data) > 0 && !c.dataOver {
		c.page.JSONLD = append(c.page.JSONLD, string(data))
		c.dataRoom -= len(data)
	} else if c.dataOver {
		c.page.JSONLDOmitted++
	}
	c.data, c.dataOver = c.data[:0], false
}

// dataText takes text of a script with data.
func (c *collector) dataText(s string) {
	if c.dataOver = c.dataOver || len(c.data)+len(s) > c.dataRoom; !c.dataOver {
		c.data = append(c.data, s...)
	}
}
