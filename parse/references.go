package parse

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// addLink lists a reference as written and returns its number, or -1 when it
// is no outlink.
func (c *collector) addLink(href, rel string) int {
	href = trimSpace(href)
	switch judgeHref(href, c.self, c.opts.MaxHrefBytes) {
	case hrefSelf:
		c.page.Skipped.Self++
		return -1
	case hrefScheme:
		c.page.Skipped.Scheme++
		return -1
	case hrefLong:
		c.page.Skipped.Long++
		return -1
	}
	i := c.links.add(href, rel, c.opts.MaxLinks)
	if i < 0 {
		c.page.Skipped.Many++
	}
	return i
}

// addNamedLink lists a reference whose text is the value of an attribute.
func (c *collector) addNamedLink(href, rel, text string) {
	if i := c.addLink(href, rel); i >= 0 && text != "" {
		c.label.reset()
		c.label.fold(text)
		c.label.trim()
		c.links.setText(i, c.label.buf)
	}
}

func (c *collector) startAnchor(attrs []html.Attribute) {
	c.endAnchor()
	var href, rel string
	found := false
	for i := range attrs {
		switch a := &attrs[i]; a.Key {
		case "href", "xlink:href":
			if !found {
				href, found = a.Val, true
			}
		case "rel":
			rel = a.Val
		}
	}
	if found {
		c.link = c.addLink(href, normalRel(rel))
	}
}

func (c *collector) endAnchor() {
	if c.link >= 0 {
		c.anchor.trim()
		c.links.setText(c.link, c.anchor.buf)
	}
	c.anchor.reset()
	c.link = -1
}

func (c *collector) area(attrs []html.Attribute) {
	href, ok := lookup(attrs, "href")
	if !ok {
		return
	}
	c.addNamedLink(href, normalRel(attribute(attrs, "rel")), attribute(attrs, "alt"))
}

func (c *collector) frame(name atom.Atom, attrs []html.Attribute) {
	src, ok := lookup(attrs, "src")
	if !ok {
		return
	}
	c.addNamedLink(src, name.String(), attribute(attrs, "title"))
}

func (c *collector) linkElement(attrs []html.Attribute) {
	href, ok := lookup(attrs, "href")
	rel := normalRel(attribute(attrs, "rel"))
	if !ok || !namesPage(rel) {
		return
	}
	if c.page.Canonical == "" && hasToken(rel, "canonical") {
		c.page.Canonical = cut(trimSpace(href), c.opts.MaxHrefBytes)
	}
	c.addNamedLink(href, rel, attribute(attrs, "title"))
}

func (c *collector) meta(attrs []html.Attribute) {
	content, ok := lookup(attrs, "content")
	if !ok {
		return
	}
	if name := trimSpace(attribute(attrs, "name")); name != "" {
		switch {
		case addressed(name, c.opts.Agent):
			c.page.Robots.add(content)
		case c.page.Description == "" && strings.EqualFold(name, "description"):
			c.page.Description = foldField(content, c.opts.MaxFieldBytes)
		}
		return
	}
	switch pragma := attribute(attrs, "http-equiv"); {
	case pragma == "":
	case strings.EqualFold(pragma, "refresh"):
		if href := refreshURL(content); href != "" {
			c.addLink(href, "refresh")
		}
	case c.page.Language == "" && strings.EqualFold(pragma, "content-language"):
		c.page.Language = singleLanguage(content, c.opts.MaxFieldBytes)
	}
}

// root reads the language. It comes before any pragma and so decides over it.
func (c *collector) root(attrs []html.Attribute) {
	lang := attribute(attrs, "lang")
	if lang == "" {
		lang = attribute(attrs, "xml:lang")
	}
	if lang = trimSpace(lang); lang != "" && c.page.Language == "" {
		c.page.Language = cut(lang, c.opts.MaxFieldBytes)
	}
}

// singleLanguage returns the value of a Content-Language if it names one
// language; a list says for whom the page is, not in what it is written (WHATWG
// HTML, the http-equiv attribute: content language).
func singleLanguage(value string, limit int) string {
	value = trimSpace(value)
	if strings.ContainsAny(value, ", ") {
		return ""
	}
	return cut(strings.ToValidUTF8(value, "\uFFFD"), limit)
}

// foldField folds white space of an attribute's value.
func foldField(s string, limit int) string {
	p := prose{limit: limit, oneLine: true}
	p.fold(s)
	return p.String()
}

func attribute(attrs []html.Attribute, key string) string {
	value, _ := lookup(attrs, key)
	return value
}

// lookup returns the first attribute of that name: the one that counts when a
// start tag repeats it.
func lookup(attrs []html.Attribute, key string) (string, bool) {
	for i := range attrs {
		if attrs[i].Key == key {
			return attrs[i].Val, true
		}
	}
	return "", false
}
