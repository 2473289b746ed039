package document

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
)

const mediaXHTML = "application/xhtml+xml"

// htmlOf writes an XHTML document, in UTF-8, as HTML. HTML reads XHTML wrongly: "/>" does not
// end an element, so that everything after <script src="…"/> would be script, and a CDATA
// section is a comment. A document that is not well-formed XML, or that defines entities, is
// returned as it is; browsers show nothing of such a document.
func htmlOf(xhtml []byte) []byte {
	decoder := xml.NewDecoder(bytes.NewReader(xhtml))
	decoder.Entity = xml.HTMLEntity
	decoder.CharsetReader = func(_ string, utf8 io.Reader) (io.Reader, error) { return utf8, nil }
	var out bytes.Buffer
	out.WriteString("<!DOCTYPE html>")
	raw := 0 // how many elements are open in whose text HTML has no entities
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return out.Bytes()
		}
		if err != nil {
			return xhtml
		}
		switch token := token.(type) {
		case xml.StartElement:
			name := nameInHTML(token.Name)
			out.WriteString("<" + name)
			for _, attribute := range token.Attr {
				writeAttribute(&out, attribute)
			}
			out.WriteByte('>')
			if isRaw(name, token.Name.Space) {
				raw++
			}
		case xml.EndElement:
			name := nameInHTML(token.Name)
			if !isVoid(name) {
				out.WriteString("</" + name + ">")
			}
			if isRaw(name, token.Name.Space) {
				raw--
			}
		case xml.CharData:
			if raw > 0 {
				out.Write(token)
			} else {
				_, _ = textEscaper.WriteString(&out, string(token)) // a Buffer takes everything
			}
		}
	}
}

var (
	textEscaper      = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")
	attributeEscaper = strings.NewReplacer("&", "&amp;", `"`, "&quot;")
)

// Name spaces whose elements HTML has too.
const (
	spaceXHTML  = "http://www.w3.org/1999/xhtml"
	spaceSVG    = "http://www.w3.org/2000/svg"
	spaceMathML = "http://www.w3.org/1998/Math/MathML"
)

// nameInHTML is the name of an element in HTML. An element of another name space gets a name
// that HTML does not know.
func nameInHTML(name xml.Name) string {
	local := strings.ToLower(name.Local)
	switch name.Space {
	case "", spaceXHTML, spaceSVG, spaceMathML:
	default:
		return "x:" + local
	}
	if local == "plaintext" {
		return "pre" // in HTML a plaintext element has no end
	}
	return local
}

func writeAttribute(out *bytes.Buffer, attribute xml.Attr) {
	name := attribute.Name.Local
	switch attribute.Name.Space {
	case "":
	case "xml", "http://www.w3.org/XML/1998/namespace":
		name = "xml:" + name
	case "xlink", "http://www.w3.org/1999/xlink":
		name = "xlink:" + name
	default:
		return
	}
	out.WriteString(" " + name + `="`)
	_, _ = attributeEscaper.WriteString(out, attribute.Value) // a Buffer takes everything
	out.WriteByte('"')
}

// isRaw reports whether HTML takes the text of an element as it is, without entities (WHATWG
// HTML, raw text elements). Elements of these names in SVG and MathML are not raw. The text of
// a noscript or noframes element has entities when its links are read.
func isRaw(name, space string) bool {
	switch name {
	case "script", "style", "xmp", "iframe", "noembed":
		return space != spaceSVG && space != spaceMathML
	}
	return false
}

// isVoid reports whether an element has no end tag in HTML.
func isVoid(name string) bool {
	switch name {
	case "area", "base", "basefont", "bgsound", "br", "col", "embed", "frame", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr":
		return true
	}
	return false
}
