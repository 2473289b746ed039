package image

import (
	"bytes"
	"encoding/xml"
	"math"
	"strconv"
	"strings"

	"golang.org/x/net/html/charset"

	"github.com/weftcrawl/weft/processors/parse/extract"
)

// maxSVGBytes is how much of an SVG is read. Its root, title and description come first.
const maxSVGBytes = 64 << 10

// readSVG reads the size of the root, and its title and description (SVG 2 sections 5.8 and
// 8.2). Entities of a document type are not expanded.
func (i *Image) readSVG(body []byte, o Options) {
	d := xml.NewDecoder(bytes.NewReader(body[:min(len(body), maxSVGBytes)]))
	d.Strict, d.CharsetReader = false, charset.NewReaderLabel
	depth := 0
	for {
		token, err := d.Token()
		if err != nil {
			break // the end, or what is behind it is not known
		}
		switch t := token.(type) {
		case xml.EndElement:
			depth--
		case xml.StartElement:
			switch depth++; {
			case depth == 1 && t.Name.Local != "svg":
				return // it is something else
			case depth == 1:
				i.Format = SVG
				i.Width, i.Height = svgSize(t.Attr)
			case depth == 2 && t.Name.Local == "title" && i.Title == "":
				i.Title = innerText(d, o.MaxFieldBytes)
				depth--
			case depth == 2 && t.Name.Local == "desc" && i.Description == "":
				i.Description = innerText(d, o.MaxFieldBytes)
				depth--
			}
		}
	}
	if i.Format == "" && len(body) > 0 {
		i.Outcome = extract.Damaged
	}
}

// innerText is the text up to the end of the element that began.
func innerText(d *xml.Decoder, most int) string {
	var text []byte
	for depth := 1; depth > 0; {
		token, err := d.Token()
		if err != nil {
			break
		}
		switch t := token.(type) {
		case xml.StartElement:
			depth++
		case xml.EndElement:
			depth--
		case xml.CharData:
			text = append(text, t...)
		}
	}
	return extract.OneLine(string(text), most)
}

// svgSize is the size of the root in CSS pixels, or that of its view box where it has none.
func svgSize(attrs []xml.Attr) (width, height int) {
	var box []string
	for _, a := range attrs {
		switch a.Name.Local {
		case "width":
			width = pixels(a.Value)
		case "height":
			height = pixels(a.Value)
		case "viewBox":
			box = strings.FieldsFunc(a.Value, func(c rune) bool { return c == ' ' || c == ',' || c == '\t' || c == '\n' || c == '\r' })
		}
	}
	if (width == 0 || height == 0) && len(box) == 4 {
		return pixels(box[2]), pixels(box[3])
	}
	return width, height
}

// cssPixels are the CSS pixels of the absolute lengths (CSS Values 4 section 6.2).
var cssPixels = map[string]float64{"": 1, "px": 1, "in": 96, "cm": 96 / 2.54, "mm": 96 / 25.4, "q": 96 / 101.6, "pt": 96.0 / 72, "pc": 16}

// pixels is a length in whole pixels; 0: it is not an absolute length.
func pixels(length string) int {
	length = strings.ToLower(strings.TrimSpace(length))
	number := strings.TrimRight(length, "abcdefghijklmnopqrstuvwxyz%")
	unit, ok := cssPixels[length[len(number):]]
	n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if n = math.Round(n * unit); !ok || err != nil || !(n > 0 && n < 1<<31) {
		return 0
	}
	return int(n)
}
