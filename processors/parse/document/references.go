package document

import (
	"cmp"
	"strings"

	"github.com/weftcrawl/weft/internal/urls"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// add lists a reference as written and returns its number, or -1 if it is not a link. An
// empty reference leads to the base in anchors, and elsewhere to nothing (WHATWG HTML).
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
	kind := link.Kind
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
	c.inFigure(i, kind)
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
			URL: href, Rel: normalRel(attribute(attrs, "rel")), Kind: KindAnchor,
			Language: foldField(attribute(attrs, "hreflang"), c.opts.MaxFieldBytes),
		})
	}
}

// lookupXLink returns the href of SVG 1.1, which counts in SVG 2 if there is no other. The
// tree gives it a name space, the tokenizer does not.
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

// form lists the action of a form that is sent by GET, which is the default (WHATWG HTML,
// form submission attributes).
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

// image lists the images that an img, or another element with the attributes of an image,
// may show. An input has no srcset, and the src of a source is not an image. The alt is
// text of the link around it.
func (c *collector) image(name atom.Atom, attrs []html.Attribute) {
	alt := attribute(attrs, "alt")
	c.name(alt)
	if src := attribute(attrs, "src"); src != "" && name != atom.Source {
		c.addLabelled(Link{URL: src, Kind: KindImage})
	}
	if name != atom.Input {
		srcsetURLs(attribute(attrs, "srcset"), func(url string) bool {
			c.addLabelled(Link{URL: url, Kind: KindImage})
			// Beyond the bound nothing is listed, and the rest need not be read.
			return len(c.links.parts) < c.opts.MaxParts
		})
	}
	if c.link >= 0 && alt != "" {
		c.anchor.fold(alt)
		c.anchor.space()
	}
}

// media lists what an audio, video, source, track or embed element names. A source with
// srcset belongs to a picture.
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
	kind := kindOfRel(rel, attribute(attrs, "type"))
	if !ok || kind == "" {
		return
	}
	if kind == KindCanonical {
		c.canonical(trimSpace(href))
	}
	c.addNamed(Link{
		URL: href, Rel: rel, Kind: kind, Language: foldField(attribute(attrs, "hreflang"), c.opts.MaxFieldBytes),
	}, attribute(attrs, "title"))
}

// base takes the first base element that has an href. If that href is useless, the document
// resolves against its own URL (WHATWG HTML, set the frozen base URL).
func (c *collector) base(attrs []html.Attribute) {
	href, ok := lookup(attrs, "href")
	if !ok || c.hasBase || c.foreign > 0 {
		return
	}
	c.hasBase = true
	if href = trimSpace(href); !otherScheme(href) {
		c.page.Base = c.links.kept.keep(cut(href, c.opts.MaxHrefBytes))
		c.elsewhere = c.opts.withoutFragment(href) != "" && c.opts.withoutFragment(href) != c.self
	}
}

// root reads the language and the direction. It comes before any pragma, so that its language wins
// over those of pragmas.
func (c *collector) root(attrs []html.Attribute) {
	lang := trimSpace(cmp.Or(attribute(attrs, "lang"), attribute(attrs, "xml:lang")))
	if lang != "" && c.page.Language == "" {
		c.page.Language = c.links.kept.keep(cut(lang, c.opts.MaxFieldBytes))
	}
	if c.page.Direction != "" {
		return
	}
	switch dir := attribute(attrs, "dir"); {
	case strings.EqualFold(dir, "ltr"):
		c.page.Direction = "ltr"
	case strings.EqualFold(dir, "rtl"):
		c.page.Direction = "rtl"
	}
}

// singleLanguage returns the value of a Content-Language if it names one language. A list
// says for which readers the page is, not in which language it is written (WHATWG HTML, the
// http-equiv attribute: content language).
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

// lookup returns the first attribute of that name, which counts when a start tag repeats it.
func lookup(attrs []html.Attribute, key string) (string, bool) {
	for i := range attrs {
		if attrs[i].Key == key && attrs[i].Namespace == "" {
			return attrs[i].Val, true
		}
	}
	return "", false
}

// canonical takes one statement of the page's canonical URL. The statements of the header come
// before the statements of elements.
func (c *collector) canonical(href string) {
	switch href = cut(href, c.opts.MaxHrefBytes); {
	case href == "" || href == c.page.Canonical:
	case c.page.Canonical == "":
		c.page.Canonical = c.links.kept.keep(href)
	case len(c.canonicals) < maxCanonicals:
		c.canonicals = append(c.canonicals, href)
	}
}

// maxCanonicals bounds the further statements that are compared with the first.
const maxCanonicals = 8

// settleCanonical drops the canonical URL of a page that states two. RFC 6596 has no rule for
// that. If one of them counted, a person who can add a line to the page, or a misconfigured
// server in front of it, could give the page another name.
func (c *collector) settleCanonical() {
	for _, other := range c.canonicals {
		if !c.same(c.page.Canonical, other) {
			c.page.Canonical, c.page.CanonicalConflict = "", true
			return
		}
	}
}

// same reports whether two references name one URL.
func (c *collector) same(a, b string) bool {
	source, refusal := urls.Parse(c.self)
	if refusal != urls.Accepted {
		return false
	}
	base := urls.NewBase(source)
	if to, refusal := base.Resolve(c.page.Base); c.page.Base != "" && refusal == urls.Accepted {
		base = urls.NewBase(to)
	}
	x, refusedX := base.Resolve(a)
	y, refusedY := base.Resolve(b)
	return refusedX == urls.Accepted && refusedY == urls.Accepted && x.String() == y.String()
}
