// Package article finds the main text of a page: the article, without navigation, comments and
// advertisements, as text and as Markdown.
//
// Readability (Mozilla's, in Go) finds it, and html-to-markdown writes the Markdown, which is
// CommonMark with the tables of GitHub. Both work on the tree of a document. See decision 0048
// for how good they are, and what they cost.
//
// # Bounds
//
// What the two do takes time that grows with more than the size of a tree: they go over the
// contents of an element once for each element that it is in. So a tree is judged by its shape
// before it is read, and a table or a nested list that Markdown would blow up is written
// without its marks (prepare). If one of the two libraries panics, the outcome of the page is
// Failed.
package article

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	readability "codeberg.org/readeck/go-readability/v2"
	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"golang.org/x/net/html"

	"github.com/weftcrawl/weft/processors/parse/document"
	"github.com/weftcrawl/weft/processors/parse/extract"
)

// Options say what a Reader makes. The zero value makes nothing.
type Options struct {
	// Text and Markdown say which forms of the article are wanted.
	Text, Markdown bool
	// MaxBytes bounds each of them.
	MaxBytes int
	// MaxDepth and MaxWithin bound the trees that are read (document.Shape).
	MaxDepth, MaxWithin int
}

// DefaultOptions returns the bounds of the loop. Nothing is wanted.
func DefaultOptions() Options {
	return Options{MaxBytes: 512 << 10, MaxDepth: 400, MaxWithin: 6_000_000}
}

// Wanted tells whether there is anything to make.
func (o Options) Wanted() bool { return o.Text || o.Markdown }

// Validate reports a bound that is out of range.
func (o Options) Validate() error {
	if o.MaxBytes < 0 || o.MaxDepth < 0 || o.MaxWithin < 0 {
		return errors.New("article options: a bound is below 0")
	}
	return nil
}

// Outcomes of a page whose article was not read. Beside these there are those of
// document.Page.Fallback, such as document.TooLarge.
const (
	// Found: it was read.
	Found = ""
	// NotFound: the page has no main text.
	NotFound = "not_found"
	// NoRoom: it was found, and the record of the page has no room for it.
	NoRoom = "no_room"
	// Failed: the reader panicked, which is a defect.
	Failed = "failed"
)

// Article is the main text of a page. All strings are valid UTF-8 without control characters
// other than newlines and tabs.
type Article struct {
	// Unread says why there is none.
	Unread string
	// Text is in lines, as document.Page.Text is.
	Text     string
	Markdown string
	// Truncated: one of the two is longer than Options.MaxBytes, and ends there.
	Truncated bool
}

// Reader finds articles. It is safe for concurrent use.
type Reader struct {
	opts      Options
	documents *document.Parser
	markdown  *converter.Converter
}

// New returns a Reader. Texts are made by documents.
func New(opts Options, documents *document.Parser) (*Reader, error) {
	if err := opts.Validate(); err != nil {
		return nil, fmt.Errorf("new reader of articles: %w", err)
	}
	return &Reader{opts: opts, documents: documents, markdown: converter.NewConverter(converter.WithPlugins(
		base.NewBasePlugin(),
		commonmark.NewCommonmarkPlugin(commonmark.WithLinkEmptyHrefBehavior(commonmark.LinkBehaviorSkip), commonmark.WithLinkEmptyContentBehavior(commonmark.LinkBehaviorSkip)),
		// Cells that are padded to the width of their column would make a page of one long cell
		// and many short ones as large as the product of the two.
		table.NewTablePlugin(table.WithCellPaddingBehavior(table.CellPaddingBehaviorMinimal), table.WithNewlineBehavior(table.NewlineBehaviorPreserve)),
	))}, nil
}

// Read finds the article of a document. It changes tree. base is the URL that links resolve
// against.
func (r *Reader) Read(tree *html.Node, base *url.URL) (a Article) {
	switch shape := document.ShapeOf(tree); {
	case shape.Depth > r.opts.MaxDepth:
		return Article{Unread: document.TooDeep}
	case shape.Within > r.opts.MaxWithin:
		return Article{Unread: document.TooCostly}
	}
	defer func() {
		if recover() != nil {
			a = Article{Unread: Failed}
		}
	}()
	parser := readability.NewParser()
	parser.DisableJSONLD = true // titles and authors are read elsewhere
	parser.KeepClasses = true   // they name the language of code
	found, err := parser.ParseAndMutate(tree, base)
	if err != nil || found.Node == nil {
		return Article{Unread: NotFound}
	}
	prepare(found.Node, base)
	text, _ := r.documents.Text(found.Node)
	if text == "" {
		return Article{Unread: NotFound}
	}
	if r.opts.Text {
		a.Text = r.bound(text, &a)
	}
	if r.opts.Markdown {
		if isBracketed(found.Node) {
			return Article{Unread: document.TooCostly}
		}
		markdown, err := r.markdown.ConvertNode(found.Node)
		if err != nil {
			return Article{Unread: Failed}
		}
		a.Markdown = r.bound(string(markdown), &a)
	}
	return a
}

// bound returns text without control characters, which JSON writes with six bytes, and cuts
// it behind a line.
func (r *Reader) bound(text string, a *Article) string {
	text = strings.Map(func(c rune) rune {
		if c < ' ' && c != '\n' && c != '\t' || c == 0x7f {
			return -1
		}
		return c
	}, text)
	if len(text) <= r.opts.MaxBytes {
		return text
	}
	a.Truncated = true
	text = extract.Bound(text, r.opts.MaxBytes)
	if end := strings.LastIndexByte(text, '\n'); end > len(text)/2 {
		text = text[:end]
	}
	return text
}
