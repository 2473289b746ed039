package document

import (
	"bytes"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/weftcrawl/weft/internal/mediatype"
)

// Property is one Open Graph property as the page states it (ogp.me): a name
// such as "og:image", which may come several times, and its content.
type Property struct {
	Name, Content string
}

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
		c.page.Language = c.links.kept.keep(singleLanguage(content, c.opts.MaxFieldBytes))
	}
}

// named reads a meta element with a name. The first that says something counts.
func (c *collector) named(name, content string) {
	if addressed(name, c.opts.Agent) {
		c.page.Robots.add(content)
		c.robotsMeta(name, content)
		return
	}
	switch lower := strings.ToLower(name); lower {
	case "tdm-reservation", "tdm-policy":
		c.usage(FromMeta, lower, content)
	case "googlebot", "googlebot-news", "bingbot", "otherbot", "gptbot", "ccbot", "slurp", "yandex", "baiduspider", "applebot":
		c.robotsMeta(name, content)
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

// robotsMeta takes the directives of a meta element for an agent.
func (c *collector) robotsMeta(name, content string) {
	agent := name
	if strings.EqualFold(name, "robots") {
		agent = ""
	}
	for content != "" {
		var directive string
		directive, content = nextDirective(content)
		eachWord(directive, func(directive string) { c.robotsTag(FromMeta, "robots", agent, directive) })
	}
}

// property reads a meta element with a property; some write Open Graph's as
// names.
func (c *collector) property(name, content string) {
	if isMetadata(name) && len(c.page.Metadata) < c.opts.MaxProperties {
		if content := foldField(content, c.opts.MaxFieldBytes); content != "" {
			c.page.Metadata = append(c.page.Metadata, Property{
				Name: c.links.kept.keep(cut(strings.ToLower(name), c.opts.MaxFieldBytes)), Content: content,
			})
		}
	}
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
			Name: c.links.kept.keep(cut(strings.ToLower(name), c.opts.MaxFieldBytes)), Content: content,
		})
	}
}

// isMetadata tells whether Page.Metadata has the meta elements of a name.
func isMetadata(name string) bool {
	if end := strings.IndexAny(name, ".:"); end >= 0 {
		switch strings.ToLower(name[:end]) {
		case "twitter", "dc", "dcterms", "product":
			return true
		}
		return false
	}
	switch strings.ToLower(name) {
	case "date", "pubdate", "publish-date", "last-modified", "citation_publication_date", "citation_author":
		return true
	}
	return false
}

// annotates tells whether an element with such attributes may begin an item of microdata or RDFa, is a
// property of the page in RDFa, or the date of its publication. The meta elements of a page with
// Open Graph properties are read without that.
func annotates(name atom.Atom, attrs []html.Attribute) bool {
	for i := range attrs {
		switch attrs[i].Key {
		case "itemscope", "typeof":
			return true
		case "property":
			if name != atom.Meta {
				return true
			}
		case "pubdate":
			if name == atom.Time {
				return true
			}
		}
	}
	return false
}

func (c *collector) field(field *string, content string) {
	if *field == "" {
		*field = foldField(content, c.opts.MaxFieldBytes)
	}
}

// script reads the start of a script element, and reports whether its text is wanted. Only
// data in JSON-LD is (JSON-LD 1.1 section 7).
func (c *collector) script(attrs []html.Attribute) bool {
	if src := attribute(attrs, "src"); src != "" {
		c.add(Link{URL: src, Kind: KindScript})
		return false
	}
	kind := attribute(attrs, "type")
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

func (c *collector) dataText(s string) {
	if c.dataOver = c.dataOver || len(c.data)+len(s) > c.dataRoom; !c.dataOver {
		c.data = append(c.data, s...)
	}
}

// refreshURL returns the URL of a meta refresh ("5; url='next.html'") or a
// header field Refresh, or "" when the page only reloads itself (WHATWG HTML,
// shared declarative refresh steps).
func refreshURL(content string) string {
	s := trimLeftSpace(content)
	rest := strings.TrimLeft(s, "0123456789")
	if len(rest) == len(s) && !strings.HasPrefix(rest, ".") {
		return ""
	}
	// Whatever the fraction looks like, it is ignored.
	rest = strings.TrimLeft(rest, "0123456789.")
	if rest == "" || rest[0] != ';' && rest[0] != ',' && !isSpace(rest[0]) {
		return ""
	}
	s = trimLeftSpace(rest)
	if s != "" && (s[0] == ';' || s[0] == ',') {
		s = trimLeftSpace(s[1:])
	}
	if len(s) >= len("url") && strings.EqualFold(s[:len("url")], "url") {
		after, ok := strings.CutPrefix(trimLeftSpace(s[len("url"):]), "=")
		if !ok {
			return trimSpace(s)
		}
		s = trimLeftSpace(after)
	} else if s != "" && s[0]|0x20 == 'u' {
		return trimSpace(s)
	}
	if s != "" && (s[0] == '"' || s[0] == '\'') {
		s, _, _ = strings.Cut(s[1:], s[:1])
	}
	return trimSpace(s)
}
