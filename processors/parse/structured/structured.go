package structured

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"github.com/weftcrawl/weft/codecs"
	"github.com/weftcrawl/weft/processors/parse/document"
	"github.com/weftcrawl/weft/processors/parse/extract"
)

// Sources of data, and of problems.
const (
	JSONLD     = "json-ld"
	Microdata  = "microdata"
	RDFa       = "rdfa"
	OpenGraph  = "open-graph"
	Twitter    = "twitter"
	DublinCore = "dublin-core"
	Meta       = "meta"
	Time       = "time"
	HTTP       = "http"
	// HTML is the source of problems with the page as a whole.
	HTML = "html"
)

// Problems. Their names never change.
const (
	// BadJSON: a script is not JSON. What is in front of the mistake counts if it is a whole value.
	BadJSON = "bad_json"
	// Repaired: a script became JSON without comments, superfluous commas or control characters.
	Repaired = "repaired"
	// WrongType: a value has a type that cannot be there.
	WrongType = "wrong_type"
	// NoContext: an item of JSON-LD does not say where its names are from.
	NoContext = "no_context"
	// UnknownContext: names are from a context that would have to be fetched. They are as written.
	UnknownContext = "unknown_context"
	// Unsupported: a part of the language that is not read.
	Unsupported = "unsupported"
	// Cycle: an item contains itself. That value is left out.
	Cycle = "cycle"
	// Repeated: itemref names an element that the item has already, or a thing of RDFa without an id
	// is the value of two properties. It counts once.
	Repeated = "repeated"
	// MissingReference: itemref names an element that is not there.
	MissingReference = "missing_reference"
	// NoParent: a property of a picture, video or sound comes before any.
	NoParent = "no_parent"
	// BadDate and BadPrice: a date or a price is none. It is still in its item.
	BadDate  = "bad_date"
	BadPrice = "bad_price"
	// TooDeep, TooMany, TooLarge and TooCostly: beyond a bound of Options, or the page was read by
	// its tokens (document.Page.Fallback) and has no tree.
	TooDeep   = "too_deep"
	TooMany   = "too_many"
	TooLarge  = "too_large"
	TooCostly = "too_costly"
)

// Options bound the data of a page. The zero value is not valid: begin with DefaultOptions.
type Options struct {
	// MaxDepth bounds items in items, and contexts in contexts.
	MaxDepth int
	// MaxItems and MaxValues bound items, nested ones included, and values of properties.
	MaxItems, MaxValues int
	// MaxBytes bounds all names and values, MaxValueBytes each of them.
	MaxBytes, MaxValueBytes int
	// MaxProblems bounds the problems that are named.
	MaxProblems int
	// MaxSteps bounds the nodes that are looked at; a node may be looked at for several values.
	MaxSteps int
	// MaxEntries bounds authors, breadcrumbs and prices, each.
	MaxEntries int
}

// DefaultOptions returns the bounds of the loop.
func DefaultOptions() Options {
	return Options{
		MaxDepth: 32, MaxItems: 1000, MaxValues: 10_000, MaxBytes: 256 << 10, MaxValueBytes: 32 << 10,
		MaxProblems: 32, MaxSteps: 2_000_000, MaxEntries: 64,
	}
}

// Validate reports an option that is out of range.
func (o Options) Validate() error {
	for _, bound := range []int{o.MaxDepth, o.MaxItems, o.MaxValues, o.MaxBytes, o.MaxValueBytes, o.MaxProblems, o.MaxSteps, o.MaxEntries} {
		if bound < 1 {
			return errors.New("structured data options: a bound is below 1")
		}
	}
	return nil
}

// Reader reads structured data. It is safe for concurrent use.
type Reader struct{ opts Options }

// New returns a Reader, or the error of opts.Validate.
func New(opts Options) (*Reader, error) {
	if err := opts.Validate(); err != nil {
		return nil, fmt.Errorf("new reader: %w", err)
	}
	return &Reader{opts: opts}, nil
}

// Input is one page.
type Input struct {
	Page *document.Page
	// Tree is the document of a page that is Annotated; nil: there is none, and NoTree says why.
	Tree   *html.Node
	NoTree string
	// Resolve makes a reference absolute. It reports false for what is not a URL of http or https.
	Resolve func(ref string) (string, bool)
	// LastModified is the header field.
	LastModified string
}

// Problem counts a problem under its source.
type Problem struct{ Source, Problem string }

// Read returns the data of a page, or nil if it has none and nothing is wrong. It does not change the
// tree. counted are all problems, those that are not named included.
func (r *Reader) Read(in Input) (data *codecs.ParsedStructuredData, counted []Problem) {
	p := &page{Input: in, opts: &r.opts, data: &codecs.ParsedStructuredData{}, bytes: r.opts.MaxBytes}
	if in.silent() {
		p.data.Modified = p.httpDate()
	} else {
		p.jsonLD()
		p.annotations()
		p.openGraph()
		p.summary()
	}
	if p.empty() {
		return nil, nil
	}
	return p.data, p.counted
}

// silent tells whether a page says nothing about itself for programs. Most pages that people wrote by hand
// are so, and have to cost nothing.
func (in *Input) silent() bool {
	d := in.Page
	return len(d.JSONLD)+d.JSONLDOmitted+len(d.OpenGraph)+len(d.Metadata) == 0 && !d.Annotated && d.Author == ""
}

// Sources are the sources that data has something of; the dates of elements and of the header do not count.
func Sources(data *codecs.ParsedStructuredData) (sources []string) {
	if data == nil {
		return nil
	}
	for _, item := range data.Items {
		if !slices.Contains(sources, item.Source) {
			sources = append(sources, item.Source)
		}
	}
	for _, group := range []struct {
		source     string
		properties codecs.ParsedProperties
	}{{OpenGraph, data.OpenGraph}, {Twitter, data.Twitter}, {DublinCore, data.DublinCore}} {
		if len(group.properties) > 0 {
			sources = append(sources, group.source)
		}
	}
	return sources
}

// page is a page on its way.
type page struct {
	Input
	opts    *Options
	data    *codecs.ParsedStructuredData
	counted []Problem
	// times are the elements with the date of publication.
	times []*html.Node

	// items, values and steps were used, and bytes are left. full is the bound at which reading
	// ended; empty: it did not end.
	items, values, steps, bytes int
	full                        string
}

func (p *page) empty() bool {
	d := p.data
	return len(d.Items)+len(d.OpenGraph)+len(d.Twitter)+len(d.DublinCore)+len(d.Authors)+len(d.Problems)+d.ProblemsOmitted == 0 &&
		d.Published == nil && d.Modified == nil
}

// problem names what is wrong at a place.
func (p *page) problem(source, problem, where string) {
	p.counted = append(p.counted, Problem{source, problem})
	if len(p.data.Problems) == p.opts.MaxProblems {
		p.data.ProblemsOmitted++
		return
	}
	p.data.Problems = append(p.data.Problems, codecs.ParsedProblem{Source: source, Problem: problem, Where: extract.OneLine(where, 256)})
}

// over ends reading at a bound. The first bound is named.
func (p *page) over(source, bound, where string) {
	if p.full == "" {
		p.full = bound
		p.problem(source, bound, where)
	}
}

// newItem takes the place of an item, and reports whether there is one.
func (p *page) newItem(source, where string) bool {
	if p.items++; p.items > p.opts.MaxItems {
		p.over(source, TooMany, where)
	}
	return p.full == ""
}

// again takes the room of an item once more: the record has it under each name of a property. It reports
// whether there is room.
func (p *page) again(source string, item *codecs.ParsedItem) bool {
	if !p.newItem(source, "") || !p.room(source, len(item.ID)+len(strings.Join(item.Types, ""))) {
		return false
	}
	for _, name := range sortedNames(item) { // the bound that is named is always the same
		for _, v := range item.Properties[name] {
			if p.values++; p.values > p.opts.MaxValues {
				p.over(source, TooMany, "")
			}
			if !p.room(source, len(name)+len(v.Text)+len(v.URL)) || v.Item != nil && !p.again(source, v.Item) {
				return false
			}
		}
	}
	return true
}

// step looks at n nodes, and reports whether reading goes on.
func (p *page) step(source string, n int) bool {
	if p.steps += n; p.steps > p.opts.MaxSteps {
		p.over(source, TooCostly, "")
	}
	return p.full == ""
}

// room takes the bytes of a text, and reports whether there is room for it.
func (p *page) room(source string, bytes int) bool {
	if p.full != "" {
		return false
	}
	if p.bytes -= bytes; p.bytes < 0 {
		p.over(source, TooLarge, "")
	}
	return p.full == ""
}

// add adds a value to a property of an item.
func (p *page) add(source string, item *codecs.ParsedItem, name string, value codecs.ParsedValue) {
	if name = p.bounded(source, name); name == "" || value == (codecs.ParsedValue{}) {
		return
	}
	if p.values++; p.values > p.opts.MaxValues {
		p.over(source, TooMany, name)
		return
	}
	if value.Item == nil && !p.room(source, len(value.Text)+len(value.URL)+len(value.Number)+len(value.Language)) || !p.room(source, len(name)) {
		return
	}
	if item.Properties == nil {
		item.Properties = codecs.ParsedProperties{}
	}
	item.Properties[name] = append(item.Properties[name], value)
}

// bounded is a text within the bound of a value. What is cut is named.
func (p *page) bounded(source, text string) string {
	bounded := extract.Bound(text, p.opts.MaxValueBytes)
	if len(text) > p.opts.MaxValueBytes {
		p.problem(source, TooLarge, bounded[:min(len(bounded), 64)])
	}
	return bounded
}

// text is the value that a text stands for: a URL if it is as a whole an absolute one.
func (p *page) text(source, text string) codecs.ParsedValue {
	if isWebURL(text) {
		if url, ok := p.Resolve(text); ok {
			return codecs.ParsedValue{URL: url}
		}
	}
	return codecs.ParsedValue{Text: p.bounded(source, text)}
}

// url is a reference as a value, absolute if it can be.
func (p *page) url(source, ref string) codecs.ParsedValue {
	if url := p.absolute(source, ref); url != "" {
		return codecs.ParsedValue{URL: url}
	}
	return codecs.ParsedValue{}
}

// absolute is a reference, absolute if it can be.
func (p *page) absolute(source, ref string) string {
	ref = p.line(source, ref)
	if len(ref) <= maxURLBytes {
		if url, ok := p.Resolve(ref); ok {
			return url
		}
	}
	return p.bounded(source, ref)
}
