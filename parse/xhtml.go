package parse

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
)

const mediaXHTML = "application/xhtml+xml"

// htmlOf writes an XHTML document, in UTF-8, as HTML: there "/>" ends no element,
// so that all after <script src="…"/> would be script, and a CDATA section is a
// comment. What is not well-formed XML, or uses entities of its own, is returned as
// it is; browsers show nothing of it.
func htmlOf(xhtml []byte) []byte {
	decoder := xml.NewDecoder(bytes.NewReader(xhtml))
	decoder.Entity = xml.HTMLEntity
	decoder.CharsetReader = func(_ string, utf8 io.Reader) (io.Reader, error) { return utf8, nil }
	var out bytes.Buffer
	out.WriteString("<!DOCTYPE html>")
	raw := 0 // open elements whose text HTML does not unescape
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
			name := nameInHTML(token.Name.Local)
			out.WriteString("<" + name)
			for _, attribute := range token.Attr {
				writeAttribute(&out, attribute)
			}
			out.WriteByte('>')
			if isRaw(name) {
				raw++
			}
		case xml.EndElement:
			name := nameInHTML(token.Name.Local)
			if !isVoid(name) {
				out.WriteString("</" + name + ">")
			}
			if isRaw(name) {
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

// nameInHTML is the name of an element of any name space.
func nameInHTML(name string) string {
	if name == "plaintext" {
		return "pre" // the other has no end in HTML
	}
	return name
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

// isRaw reports whether HTML takes the text of an element as it is (WHATWG HTML,
// raw text elements).
func isRaw(name string) bool {
	switch name {
	case "script", "style", "xmp", "iframe", "noembed", "noframes", "noscript":
		return true
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
