package document

import "golang.org/x/net/html/atom"

// element is what tree construction knows of the elements with one name.
type element struct {
	name string
	atom atom.Atom
	role role
	// start and end are the rules of the "in body" insertion mode for its tags.
	start startRule
	end   endRule
	traits
	// number is the place in stream.counts; 0: the name is unknown.
	number uint8
	next   *element // with the same hash
}

// startRule is a rule for a start tag (WHATWG HTML 13.2.6.4.7, the "in body" insertion mode).
type startRule uint8

const (
	startOther startRule = iota // any other start tag
	startHTML
	startIgnored
	startFrameset
	startMetadata
	startRaw // an element whose content is text: title, style, script, noframes, iframe, noembed, noscript, textarea
	startTemplate
	startBlock
	startHeading
	startPre
	startForm
	startListItem
	startDefinition
	startPlaintext
	startButton
	startAnchor
	startFormatting
	startNobr
	startObject
	startTable
	startVoid
	startInput
	startParam
	startHr
	startImage
	startXmp
	startSelect
	startOption
	startOptgroup
	startRubyBase
	startRubyText
	startForeign
)

// endRule is a rule for an end tag (the "in body" insertion mode, too).
type endRule uint8

const (
	endOther endRule = iota // any other end tag
	endBody
	endHTML
	endBlock
	endForm
	endP
	endListItem
	endDefinition
	endHeading
	endFormatting
	endObject
	endBr
	endTemplate
)

// traits are the sets of elements that the HTML standard names.
type traits uint32

const (
	// special: the special category (13.2.4.2).
	special traits = 1 << iota
	// implied: generate implied end tags (13.2.6.3).
	implied
	// scoping: the elements that end every scope but table scope (13.2.4.2).
	scoping
	listing     // ol, ul: list item scope
	tableScoped // html, table, template: table scope
	rowGroup    // tbody, thead, tfoot
	cell        // td, th
	heading     // h1 to h6
	// fostering: an element that is inserted into one of these is moved, if foster parenting is
	// enabled (13.2.6.1).
	fostering
	// inHead: start tags that the "in head" insertion mode takes wherever they are (13.2.6.4.4).
	inHead
	raw    // the content is text (13.2.5.1 to 13.2.5.3)
	rcdata // the content is text with character references
	// breaksOut: the start tag ends foreign content (13.2.6.5).
	breaksOut
	svgPoint  // an HTML integration point, if it is in SVG
	mathPoint // a MathML text integration point, or annotation-xml
	// reads: the collector, or tree construction, reads its attributes.
	reads
)

func named(traits traits, start startRule, end endRule, names ...string) (elements []element) {
	for _, name := range names {
		elements = append(elements, element{name: name, traits: traits, start: start, end: end})
	}
	return elements
}

// elements are the elements by their numbers, and elementTable finds them by the hashes of their
// names.
var elements, elementTable = newElements()

// The elements that tree construction names.
var (
	unknownElement = elements[0]

	htmlElement, headElement, bodyElement       = elementOf("html"), elementOf("head"), elementOf("body")
	pElement, aElement, nobrElement, brElement  = elementOf("p"), elementOf("a"), elementOf("nobr"), elementOf("br")
	divElement, addressElement                  = elementOf("div"), elementOf("address")
	formElement, buttonElement                  = elementOf("form"), elementOf("button")
	imgElement, rubyElement, rtcElement         = elementOf("img"), elementOf("ruby"), elementOf("rtc")
	optionElement, optgroupElement              = elementOf("option"), elementOf("optgroup")
	selectElement, svgElement, mathElement      = elementOf("select"), elementOf("svg"), elementOf("math")
	tableElement, tbodyElement, trElement       = elementOf("table"), elementOf("tbody"), elementOf("tr")
	captionElement, colgroupElement, colElement = elementOf("caption"), elementOf("colgroup"), elementOf("col")
	inputElement, fontElement, annotationXML    = elementOf("input"), elementOf("font"), elementOf("annotation-xml")
	noscriptElement                             = elementOf("noscript")
	mglyphElement, malignmarkElement            = elementOf("mglyph"), elementOf("malignmark")
	scriptElement, styleElement                 = elementOf("script"), elementOf("style")
)

func newElements() (all []*element, table *[256]*element) {
	all = []*element{{}}
	for _, elements := range [][]element{
		named(special|scoping|tableScoped|reads, startHTML, endHTML, "html"),
		named(special, startIgnored, endBody, "body"),
		named(special, startIgnored, endOther, "head", "frame"),
		named(special, startFrameset, endOther, "frameset"),
		named(special|inHead|reads, startMetadata, endOther, "base", "link", "meta"),
		named(special|inHead, startMetadata, endOther, "basefont", "bgsound"),
		named(special|inHead|raw|rcdata, startRaw, endOther, "title"),
		named(special|inHead|raw|reads, startRaw, endOther, "script"),
		named(special|inHead|raw, startRaw, endOther, "noframes", "style"),
		named(special|inHead|scoping|tableScoped, startTemplate, endTemplate, "template"),
		named(special|raw|reads, startRaw, endOther, "iframe"),
		named(special|raw, startRaw, endOther, "noembed", "noscript"),
		named(special|raw|rcdata, startRaw, endOther, "textarea"),
		named(special|raw, startXmp, endOther, "xmp"),
		named(special|raw, startPlaintext, endOther, "plaintext"),

		named(special, startBlock, endBlock, "address", "article", "aside", "blockquote", "center", "details", "dir", "div", "dl",
			"fieldset", "figcaption", "figure", "footer", "header", "hgroup", "main", "menu", "nav", "section", "summary"),
		named(0, startBlock, endBlock, "search"),
		named(reads, startBlock, endBlock, "dialog"),
		named(special|listing, startBlock, endBlock, "ol", "ul"),
		named(special|implied, startBlock, endP, "p"),
		named(special|heading, startHeading, endHeading, "h1", "h2", "h3", "h4", "h5", "h6"),
		named(special, startPre, endBlock, "pre", "listing"),
		named(special|reads, startForm, endForm, "form"),
		named(special|implied, startListItem, endListItem, "li"),
		named(special|implied, startDefinition, endDefinition, "dd", "dt"),
		named(special, startButton, endBlock, "button"),

		named(reads, startAnchor, endFormatting, "a"),
		named(0, startFormatting, endFormatting, "b", "big", "code", "em", "font", "i", "s", "small", "strike", "strong", "tt", "u"),
		named(0, startNobr, endFormatting, "nobr"),
		named(special|scoping, startObject, endObject, "applet", "marquee", "object"),

		named(special|reads, startVoid, endOther, "area", "embed", "img"),
		named(special, startVoid, endBr, "br"),
		named(special, startVoid, endOther, "keygen", "wbr"),
		named(special|reads, startInput, endOther, "input"),
		named(special|reads, startParam, endOther, "source", "track"),
		named(special, startParam, endOther, "param"),
		named(special, startHr, endOther, "hr"),
		named(reads, startImage, endOther, "image"),

		named(special|scoping, startSelect, endBlock, "select"),
		named(implied, startOption, endOther, "option"),
		named(implied, startOptgroup, endOther, "optgroup"),
		named(implied, startRubyBase, endOther, "rb", "rtc"),
		named(implied, startRubyText, endOther, "rp", "rt"),

		named(special|scoping|tableScoped|fostering, startTable, endOther, "table"),
		named(special|scoping, startIgnored, endOther, "caption"),
		named(special, startIgnored, endOther, "colgroup", "col"),
		named(special|rowGroup|fostering, startIgnored, endOther, "tbody", "thead", "tfoot"),
		named(special|fostering, startIgnored, endOther, "tr"),
		named(special|scoping|cell, startIgnored, endOther, "td", "th"),

		named(0, startForeign, endOther, "svg", "math"),
		named(svgPoint, startOther, endOther, "desc", "foreignobject"),
		named(mathPoint, startOther, endOther, "mi", "mo", "mn", "ms", "mtext"),
		named(mathPoint|reads, startOther, endOther, "annotation-xml"),
		named(0, startOther, endOther, "mglyph", "malignmark", "annotation"),

		named(reads, startOther, endOther, "audio", "video"),
		named(0, startOther, endOther, "canvas", "datalist", "meter", "progress", "ruby", "span", "sub", "sup", "var",
			"abbr", "acronym", "bdi", "bdo", "cite", "data", "del", "dfn", "g", "ins", "kbd", "label", "legend", "map", "mark",
			"path", "picture", "q", "samp", "slot", "time", "use"),
	} {
		for i := range elements {
			all = append(all, &elements[i])
		}
	}
	table = new([256]*element)
	for i, e := range all[1:] {
		e.number = uint8(i + 1)
		e.atom = atom.Lookup([]byte(e.name))
		e.role = roleOf(e.atom)
		if e.name == "title" {
			e.traits |= svgPoint
		}
		if breaksOutOfForeign(e.name) {
			e.traits |= breaksOut
		}
		hash := hashOf(e.name)
		e.next, table[hash] = table[hash], e
	}
	return all, table
}

// breaksOutOfForeign reports whether a start tag with that name ends foreign content (13.2.6.5).
// Whether a font element does depends on its attributes.
func breaksOutOfForeign(name string) bool {
	switch name {
	case "b", "big", "blockquote", "body", "br", "center", "code", "dd", "div", "dl", "dt", "em", "embed", "h1", "h2", "h3", "h4",
		"h5", "h6", "head", "hr", "i", "img", "li", "listing", "menu", "meta", "nobr", "ol", "p", "pre", "ruby", "s", "small",
		"span", "strong", "strike", "sub", "sup", "table", "tt", "u", "ul", "var":
		return true
	}
	return false
}

// hashOf is the hash of a name, in any case.
func hashOf(name string) uint8 {
	h := uint32(len(name))
	for i := range len(name) {
		h = h*31 + uint32(name[i]|0x20)
	}
	return uint8(h ^ h>>8)
}

// elementOf returns the element with a name, in any case, or unknownElement.
func elementOf(name string) *element {
	if len(name) <= longestElement {
		for e := elementTable[hashOf(name)]; e != nil; e = e.next {
			if equalFoldASCII(name, e.name) {
				return e
			}
		}
	}
	return unknownElement
}

// longestElement is the length of the longest name in elementTable.
const longestElement = len("annotation-xml")

// equalFoldASCII reports whether two names are equal except for the case of ASCII letters.
func equalFoldASCII(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) {
		if x, y := a[i], b[i]; x != y && (x|0x20 != y|0x20 || !isLetter(x)) {
			return false
		}
	}
	return true
}
