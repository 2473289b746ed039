package parse

import (
	"errors"
	"fmt"
)

// Options bound what a Parser returns. The zero value is not valid: begin with
// DefaultOptions.
type Options struct {
	// Agent is our product token: the name by which meta elements and
	// X-Robots-Tag headers address us besides "robots". Compared without case.
	Agent string
	// OmitNoIndex leaves text, headings and description out of pages that ask
	// not to be indexed; Page.Unparsed is then NoIndex. Their links stay.
	OmitNoIndex bool

	// MaxTreeBytes is the largest body, as UTF-8, of which a tree is made;
	// larger ones go through the tokenizer. A node takes 112 bytes and can
	// stand for three bytes of the body; and the parser's time can grow with
	// the square of the body: it joins text around ignored end tags piece by
	// piece, and 1 MiB of "</nobr>x" takes it 1.7 s, 2 MiB 6.7 s.
	MaxTreeBytes int
	// MaxTextBytes bounds Page.Text.
	MaxTextBytes int
	// MaxLinks bounds the outlinks of a document.
	MaxLinks int
	// MaxHrefBytes bounds an href as written; links with longer ones are
	// skipped. Canonical URLs are bounded further on, at 2,048 bytes.
	MaxHrefBytes int
	// MaxAnchorBytes bounds the text of a link.
	MaxAnchorBytes int
	// MaxHeadings bounds the headings of a document.
	MaxHeadings int
	// MaxFieldBytes bounds each of title, description, language and the text
	// of a heading.
	MaxFieldBytes int
}

// DefaultOptions returns the bounds of the loop.
func DefaultOptions() Options {
	return Options{
		Agent:          "weft",
		MaxTreeBytes:   1 << 20,
		MaxTextBytes:   1 << 20,
		MaxLinks:       10_000,
		MaxHrefBytes:   8 << 10,
		MaxAnchorBytes: 256,
		MaxHeadings:    256,
		MaxFieldBytes:  1024,
	}
}

// Validate reports every option that is out of range.
func (o Options) Validate() error {
	var errs []error
	if o.Agent == "" {
		errs = append(errs, errors.New("parse options: agent is empty"))
	}
	for _, bound := range []struct {
		name  string
		value int
	}{
		{"max tree bytes", o.MaxTreeBytes},
		{"max text bytes", o.MaxTextBytes},
		{"max links", o.MaxLinks},
		{"max href bytes", o.MaxHrefBytes},
		{"max anchor bytes", o.MaxAnchorBytes},
		{"max headings", o.MaxHeadings},
		{"max field bytes", o.MaxFieldBytes},
	} {
		if bound.value < 0 {
			errs = append(errs, fmt.Errorf("parse options: %s is %d, below 0", bound.name, bound.value))
		}
	}
	return errors.Join(errs...)
}
