package parse

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/weftcrawl/weft/codecs"
	"github.com/weftcrawl/weft/processors/parse/document"
	"github.com/weftcrawl/weft/processors/parse/extract"
	"github.com/weftcrawl/weft/processors/parse/image"
)

// imageHandler reads images. Servers that do not know a format say that it is bytes.
var imageHandler = handler{
	name: "image",
	takes: func(b *body) bool {
		switch b.media {
		case "application/octet-stream", "binary/octet-stream":
			return image.Format(b.Body) != ""
		}
		return strings.HasPrefix(b.media, "image/")
	},
	page: (*parser).image,
}

func (p *parser) image(b *body) *document.Page {
	o := image.DefaultOptions()
	o.MaxFieldBytes, o.Place = p.follow.MaxFieldBytes, p.env.Definition.ImagePlace
	read := image.Read(b.Body, b.media == "image/svg+xml", o)
	page := p.bare(b)
	switch {
	case read.Outcome != extract.Whole:
		page.Unparsed = string(read.Outcome)
	case read.Format == "":
		page.Unparsed = document.UnsupportedType
	}
	page.Title, page.Description, page.Author, page.Date = read.Title, read.Description, read.Author, read.Taken
	if p.documents.Leave(page); read.Format == "" || page.Unparsed == document.UsageRefused || page.Unparsed == document.NoIndex {
		return page
	}
	b.image = &codecs.ParsedImage{
		Format: read.Format, Width: read.Width, Height: read.Height, Orientation: read.Orientation, Camera: read.Camera, Copyright: read.Copyright,
	}
	if read.Hashed {
		b.image.PerceptualHash = fmt.Sprintf("%016x", read.Hash)
	}
	if read.Place != nil {
		b.image.Place = &codecs.ParsedPlace{Latitude: read.Place.Latitude, Longitude: read.Place.Longitude}
	}
	return page
}

// bodyHash names the body of a page that has no text to compare; empty: it has one, or the body
// was cut.
func (b *body) bodyHash(page *document.Page) string {
	if b.image == nil && page.Unparsed != document.UnsupportedType || b.Truncated {
		return ""
	}
	sum := sha256.Sum256(b.Body)
	return hex.EncodeToString(sum[:])
}
