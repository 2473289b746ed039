package parse

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// add lists a reference as written and returns its number, or -1 when it is no
// link: an empty one leads to the base in anchors, elsewhere to nothing new (WHATWG
// HTML).
func (c *collector) add(link Link) int {
	link.URL = trimSpace(link.URL)
	switch verdict := judgeHref(link.URL, c.self, c.opts); {
	case verdict == hrefBase && c.elsewhere && (link.URL != "" || link.Kind == KindAnchor || link.Kind == KindArea):
		if link.URL == "" {
			link.URL = "#"
		}
	case verdict == hrefSelf, verdict == hrefBase:
		c.page.Skipped.Self++
		return -1
	case verdict == hrefScheme:
		c.page.Skipped.Scheme++
		return -1
	case verdict == hrefLong:
		c.page.Skipped.Long++
		return -1
	}
	if c.inNoscript {
		link.Element, link.Kind = link.Kind, KindNoscript
	}
	limit := c.opts.MaxLinks
	if link.part() {
		limit = c.opts.MaxParts
	}
	i := c.links.add(link, limit)
	if i < 0 {
		c.page.Skipped.Many++
	}
	return i
}

// addNamed lists a reference whose text is the value of an attribute.
func (c *collector) addNamed(link Link, text string) {
	c.name(text)
	c.addLabelled(link)
}

// name makes the value of an attribute the label.
func (c *collector) name(text string) {
	c.label.reset()
	c.label.fold(text)
	c.label.trim()
}

// addLabelled lists a reference whose text is the label.
func (c *collector) addLabelled(link Link) {
	if i := c.add(link); i >= 0 {
		c.links.setText(i, c.label.buf)
	}
}

func (c *collector) startAnchor(attrs []html.Attribute) {
	c.endAnchor()
	href, found := lookup(attrs, "href")
	if !found && c.foreign > 0 {
		href, found = lookupXLink(attrs)
	}
	if found {
		c.link = c.add(Link{
			URL: href, Rel: normalRel(attribute(attrs, "rel")), Kind: KindAnchor, Language: c.language(attribute(attrs, "hreflang")),
		})
	}
}

// lookupXLink returns the href that SVG 1.1 had, and SVG 2 has where there is no
// other. The tree gives it a name space, the tokenizer does not.
func lookupXLink(attrs []html.Attribute) (string, bool) {
	for i := range attrs {
		if a := &attrs[i]; a.Key == "xlink:href" || a.Namespace == "xlink" && a.Key == "href" {
			return a.Val, true
		}
	}
	return "", false
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
	c.addNamed(Link{URL: href, Rel: normalRel(attribute(attrs, "rel")), Kind: KindArea}, attribute(attrs, "alt"))
}

func (c *collector) frame(name atom.Atom, attrs []html.Attribute) {
	src, ok := lookup(attrs, "src")
	if !ok {
		return
	}
	kind := KindIframe
	if name == atom.Frame {
		kind = KindFrame
	}
	c.addNamed(Link{URL: src, Rel: string(kind), Kind: kind}, attribute(attrs, "title"))
}

// form lists the action of a form that is sent by GET, the method of those that
// name none (WHATWG HTML, form submission attributes).
func (c *collector) form(attrs []html.Attribute) {
	action, ok := lookup(attrs, "action")
	if !ok {
		return
	}
	switch method := attribute(attrs, "method"); {
	case strings.EqualFold(method, "post"), strings.EqualFold(method, "dialog"):
		return
	}
	c.add(Link{URL: action, Rel: normalRel(attribute(attrs, "rel")), Kind: KindForm})
}

// image lists what an img, or another element with an image's attributes, may
// show: an input has no srcset, and the src of a source is not a picture's. Its alt
// is text of the link around it.
func (c *collector) image(name atom.Atom, attrs []html.Attribute) {
	var src, srcset, alt string
	for i := range attrs {
		switch a := &attrs[i]; {
		case a.Key == "src" && name != atom.Source:
			src = a.Val
		case a.Key == "srcset" && name != atom.Input:
			srcset = a.Val
		case a.Key == "alt":
			alt = a.Val
		}
	}
	c.name(alt)
	if src != "" {
		c.addLabelled(Link{URL: src, Kind: KindImage})
	}
	srcsetURLs(srcset, func(url string) bool {
		c.addLabelled(Link{URL: url, Kind: KindImage})
		// Beyond the bound nothing is listed: what is left need not be read.
		return len(c.links.parts) < c.opts.MaxParts
	})
	if c.link >= 0 && alt != "" {
		c.anchor.fold(alt)
		c.anchor.space()
	}
}

// media lists what an audio, video, source, track or embed element names. A
// source with srcset is one of a picture.
func (c *collector) media(name atom.Atom, attrs []html.Attribute) {
	if name == atom.Source {
		if _, ok := lookup(attrs, "srcset"); ok {
			c.image(name, attrs)
			return
		}
	}
	if src := attribute(attrs, "src"); src != "" {
		c.add(Link{URL: src, Kind: KindMedia})
	}
	if poster := attribute(attrs, "poster"); poster != "" && name == atom.Video {
		c.add(Link{URL: poster, Kind: KindImage})
	}
}

func (c *collector) linkElement(attrs []html.Attribute) {
	href, ok := lookup(attrs, "href")
	rel := normalRel(attribute(attrs, "rel"))
	kind := kindOfRel(rel)
	if !ok || kind == "" {
		return
	}
	if kind == KindCanonical {
		c.canonical(trimSpace(href))
	}
	c.addNamed(Link{
		URL: href, Rel: rel, Kind: kind, Language: c.language(attribute(attrs, "hreflang")),
	}, attribute(attrs, "title"))
}

// base takes the first base element that has an href, even one of no use: such
// a document resolves against its own URL (WHATWG HTML, set the frozen base
// URL).
func (c *collector) base(attrs []html.Attribute) {
	href, ok := lookup(attrs, "href")
	if !ok || c.hasBase || c.foreign > 0 {
		return
	}
	c.hasBase = true
	if href = trimSpace(href); !otherScheme(href) {
		c.page.Base = cut(href, c.opts.MaxHrefBytes)
		c.elsewhere = c.opts.withoutFragment(href) != "" && c.opts.withoutFragment(href) != c.self
	}
}

// language bounds a hreflang.
func (c *collector) language(tag string) string {
	if tag == "" {
		return ""
	}
	return foldField(tag, c.opts.MaxFieldBytes)
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
	if strings.Contains(value, ",") {
		return ""
	}
	if end := strings.IndexAny(value, htmlSpace); end >= 0 {
		value = value[:end]
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
		if attrs[i].Key == key && attrs[i].Namespace == "" {
			return attrs[i].Val, true
		}
	}
	return "", false
}
