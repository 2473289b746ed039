package structured

import (
	"strings"

	"github.com/weftcrawl/weft/codecs"
	"github.com/weftcrawl/weft/processors/parse/document"
)

// isOpenGraph tells whether a name is of Open Graph, or of a vocabulary that is written beside it.
func isOpenGraph(name string) bool {
	vocabulary, _, ok := strings.Cut(strings.ToLower(name), ":")
	if !ok {
		return false
	}
	switch vocabulary {
	case "og", "article", "book", "profile", "music", "video", "product", "twitter", "fb", "al":
		return true
	}
	return false
}

// openGraph reads the meta elements.
func (p *page) openGraph() {
	og := group{p: p, source: OpenGraph, media: setOf("image", "video", "audio")}
	for _, property := range p.Page.OpenGraph {
		og.take(strings.TrimPrefix(property.Name, "og:"), property)
	}
	twitter := group{p: p, source: Twitter, media: setOf("image", "player")}
	dublin := group{p: p, source: DublinCore}
	for _, property := range p.Page.Metadata {
		end := strings.IndexAny(property.Name, ".:")
		if end < 0 {
			continue
		}
		switch name := property.Name[end+1:]; property.Name[:end] {
		case "product":
			og.take(property.Name, property)
		case "twitter":
			twitter.take(name, property)
		case "dc", "dcterms":
			dublin.take(name, property)
		}
	}
	p.data.OpenGraph, p.data.Twitter, p.data.DublinCore = og.item.Properties, twitter.item.Properties, dublin.item.Properties
}

// group are the properties of one vocabulary.
type group struct {
	p      *page
	source string
	// media are the properties that have properties (ogp.me, structured properties).
	media map[string]bool
	item  codecs.ParsedItem
	// last is the last picture, video or sound by its property.
	last map[string]*codecs.ParsedItem
}

func (g *group) take(name string, property document.Property) {
	root, detail, structured := strings.Cut(name, ":")
	if !g.media[root] || root == "video" && !strings.HasPrefix(property.Name, "og:") { // video:duration is about the page
		g.p.add(g.source, &g.item, name, g.value(name, property.Content))
		return
	}
	value := g.value(root, property.Content)
	if structured && detail != "url" && detail != "src" {
		if item := g.last[root]; item != nil {
			g.p.add(g.source, item, detail, g.value(detail, property.Content))
		} else {
			g.p.problem(g.source, NoParent, property.Name)
		}
		return
	}
	if item := g.last[root]; item != nil && structured && len(item.Properties["url"]) == 1 && item.Properties["url"][0] == value {
		return // og:image:url says what og:image says
	}
	item := &codecs.ParsedItem{}
	if g.p.add(g.source, item, "url", value); len(item.Properties) == 0 {
		return
	}
	g.p.add(g.source, &g.item, root, codecs.ParsedValue{Item: item})
	if g.last == nil {
		g.last = map[string]*codecs.ParsedItem{}
	}
	g.last[root] = item
}

// refers has the names of properties that are URLs, which some pages write relative.
var refers = setOf("url", "image", "video", "audio", "player", "secure_url", "see_also", "stream")

func (g *group) value(name, content string) codecs.ParsedValue {
	if refers[name] {
		return g.p.url(g.source, content)
	}
	return g.p.text(g.source, content)
}
