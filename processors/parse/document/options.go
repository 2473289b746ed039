package document

import (
	"errors"
	"fmt"
	"slices"
)

// Options bound what a Parser returns. The zero value is not valid: begin with
// DefaultOptions.
type Options struct {
	// Agent is our product token: besides "robots", the name by which meta elements and
	// X-Robots-Tag headers address us. Case does not matter.
	Agent string
	// OmitNoIndex leaves text, headings and description out of pages that ask
	// not to be indexed; Page.Unparsed is then NoIndex. Their links stay.
	OmitNoIndex bool
	// Respect are uses, as labels of preferences: the contents of a page that may not be used for
	// one of them are left out; Page.Unparsed is then UsageRefused. Its links stay, without texts.
	Respect []string

	// Follow are the kinds of links to follow.
	Follow []Kind
	// NoFollow are the tokens of rel, in lower case, that keep a link from being followed; by
	// default nofollow alone. ugc and sponsored say who wrote a link and why. Pages that do
	// not want such links to be followed say nofollow, too.
	NoFollow []string

	// HashBang tells links apart by fragments that begin with "!" (urls.Options).
	HashBang bool

	// MaxTreeBytes is the size of the largest body, as UTF-8, that is read by stream or tree.
	// The tokenizer reads larger bodies. A node takes 112 bytes and can come from three bytes
	// of the body. For smaller bodies see costly.
	MaxTreeBytes int
	// MaxTextBytes bounds Page.Text.
	MaxTextBytes int
	// MaxLinks bounds the links of a document to pages, MaxParts those to its
	// parts: images, scripts and the like.
	MaxLinks int
	MaxParts int
	// MaxHrefBytes bounds an href as written; links with longer ones are
	// skipped. Canonical URLs are bounded further on, at 2,048 bytes.
	MaxHrefBytes int
	// MaxAnchorBytes bounds the text of a link, and the caption of an image.
	MaxAnchorBytes int
	// MaxHeadings bounds the headings of a document.
	MaxHeadings int
	// MaxProperties bounds the Open Graph properties of a document.
	MaxProperties int
	// MaxDataBytes bounds Page.JSONLD, all of it.
	MaxDataBytes int
	// MaxFieldBytes bounds each of title, description, keywords, author, date,
	// languages, the text of a heading and an Open Graph property.
	MaxFieldBytes int
}

// DefaultOptions returns the bounds of the loop.
func DefaultOptions() Options {
	return Options{
		Agent:          "weft",
		Follow:         PageKinds(),
		NoFollow:       []string{"nofollow"},
		MaxTreeBytes:   1 << 20,
		MaxTextBytes:   1 << 20,
		MaxLinks:       10_000,
		MaxParts:       2_000,
		MaxHrefBytes:   8 << 10,
		MaxAnchorBytes: 256,
		MaxHeadings:    256,
		MaxProperties:  64,
		MaxDataBytes:   64 << 10,
		MaxFieldBytes:  1024,
	}
}

// Validate reports every option that is out of range.
func (o Options) Validate() error {
	var errs []error
	if o.Agent == "" {
		errs = append(errs, errors.New("parse options: agent is empty"))
	}
	for _, label := range o.Respect {
		if p, ok := ParsePreference(label + "=n"); !ok || p.Label != label {
			errs = append(errs, fmt.Errorf("parse options: %q is not the label of a preference", label))
		}
	}
	known := Kinds()
	for _, kind := range o.Follow {
		if !slices.Contains(known, kind) {
			errs = append(errs, fmt.Errorf("parse options: %q is not a kind of link", kind))
		}
	}
	for _, bound := range []struct {
		name  string
		value int
	}{
		{"max tree bytes", o.MaxTreeBytes},
		{"max text bytes", o.MaxTextBytes},
		{"max links", o.MaxLinks},
		{"max parts", o.MaxParts},
		{"max href bytes", o.MaxHrefBytes},
		{"max anchor bytes", o.MaxAnchorBytes},
		{"max headings", o.MaxHeadings},
		{"max properties", o.MaxProperties},
		{"max data bytes", o.MaxDataBytes},
		{"max field bytes", o.MaxFieldBytes},
	} {
		if bound.value < 0 {
			errs = append(errs, fmt.Errorf("parse options: %s is %d, below 0", bound.name, bound.value))
		}
	}
	return errors.Join(errs...)
}
