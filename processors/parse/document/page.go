package document

// Input is one response.
type Input struct {
	// URL is the canonical URL of the page. A link with exactly this URL is not an
	// outlink.
	URL string
	// ContentType and ContentLanguage are the header fields as received, several lines
	// joined by commas; empty: there is no such field.
	ContentType     string
	ContentLanguage string
	// RobotsTags are the values of all X-Robots-Tag fields, LinkFields the values of all Link
	// fields. Refresh is the field Refresh, which all browsers know, and no standard.
	RobotsTags []string
	LinkFields []string
	Refresh    string
	// UsageFields are the header fields of IsUsageField. RobotsTxt is what robots.txt says about
	// the use of the page, lines of "name: value".
	UsageFields []Field
	RobotsTxt   string
	// Body has its Content-Encoding removed. The page may have parts of it as strings, so it must
	// not be changed as long as the page is used.
	Body []byte
	// Truncated: Body was cut at the limit, perhaps within a character.
	Truncated bool
}

// Page is the contents of one response. All strings are valid UTF-8.
type Page struct {
	// MediaType is the type by which the body was read: the one of the Content-Type, without
	// parameters and in lower case, or else the sniffed one.
	MediaType string
	// Charset is the WHATWG name of the encoding, lower case; empty when the
	// body was not decoded.
	Charset string
	// Unparsed says why there is no text: UnsupportedType, NoIndex, UsageRefused, or empty. Files have
	// the outcomes of their packages besides, such as "encrypted".
	Unparsed string
	// Fallback says why the tokenizer read the document, and neither the stream nor the tree
	// parser: TooDeep, TooLarge, TooCostly, or empty. For files it says why only a part was read.
	Fallback string

	Title string
	// Description, Keywords, Author and Date are the contents of the meta elements with
	// these names, folded to one line. Date has several usual names, and is as written.
	Description string
	Keywords    string
	Author      string
	Date        string
	// Modified is when a file says that it was last changed, as written, and Pages the number
	// of its pages, slides or sheets; both are of files that are not HTML.
	Modified string
	Pages    int
	// Language is the document's language as declared (BCP 47 in most cases).
	Language string
	// Direction is that of the text as the html element declares it, ltr or rtl; empty: it does not.
	Direction string `json:",omitempty"`
	// Canonical is the canonical URL that the page states, in a header field Link or in a
	// link element, as written. It is empty if there is none, or if two differ:
	// CanonicalConflict.
	Canonical         string
	CanonicalConflict bool
	// Base is the href of the first base element that has one, as written. It is empty if
	// links resolve against the page's URL; so they do if the scheme of the base is neither
	// http nor https.
	Base string
	// Robots unites the robots meta elements and the X-Robots-Tag headers.
	Robots Robots
	// Directives are all statements of the header, of meta elements and of robots.txt about what
	// may be done with the page, for us or for others. Usage is what they say together about its
	// use by those who read it here.
	Directives []Directive  `json:",omitempty"`
	Usage      []Preference `json:",omitempty"`

	// Text has a line for each block.
	Text string
	// TextTruncated says that Text ends at Options.MaxTextBytes.
	TextTruncated bool
	Headings      []Heading

	// OpenGraph are the page's Open Graph properties, in order.
	OpenGraph []Property
	// JSONLD are the contents of the scripts of type application/ld+json, as written. They
	// may be invalid JSON. JSONLDOmitted counts scripts beyond Options.MaxDataBytes.
	JSONLD        []string
	JSONLDOmitted int
	// Metadata are the meta elements of the vocabularies of isMetadata, in order: Twitter Cards,
	// Dublin Core, prices, and dates by other names. Names are in lower case.
	Metadata []Property `json:",omitempty"`
	// Annotated: an element has an attribute of microdata or RDFa by which an item may begin, or is
	// a property of the page. The tree has more about it (Parser.Tree).
	Annotated bool `json:",omitempty"`

	// Links are the links in document order, after the links of the header. Follow says whether
	// a link may be followed.
	Links []Link
	// Skipped counts references that are not links.
	Skipped Skipped
}

// Reasons for a Page without text.
const (
	// UnsupportedType: none of the formats that are read.
	UnsupportedType = "unsupported_type"
	// NoIndex: the page asks not to be indexed, and Options.OmitNoIndex is set.
	NoIndex = "noindex"
	// UsageRefused: the site does not want the page to be used for what Options.Respect has.
	UsageRefused = "usage_refused"
)

// Reasons for reading a document by its tokens.
const (
	// TooDeep: the tree parser refused the document, which has more than 512 open elements.
	TooDeep = "too_deep"
	// TooLarge: the body exceeds Options.MaxTreeBytes.
	TooLarge = "too_large"
	// TooCostly: the tree parser would take time that grows with the square of the body,
	// which some bodies are made for.
	TooCostly = "too_costly"
)

// Heading is an element h1 to h6 with some text.
type Heading struct {
	// Level is 1 to 6.
	Level int
	// Text is folded to one line.
	Text string
}

// Skipped counts references that did not become outlinks.
type Skipped struct {
	// Self counts fragments of the page, empty references and the page's own
	// URL.
	Self int
	// Scheme counts schemes other than http and https.
	Scheme int
	// Long counts references beyond Options.MaxHrefBytes.
	Long int
	// Many counts links beyond Options.MaxLinks and MaxParts.
	Many int
}

// Follow reports whether the crawl may follow l: the page does not say nofollow, and
// Options has links with such a rel and of such a kind followed.
func (p *Page) Follow(l Link) bool { return l.Follow && !p.Robots.NoFollow }
