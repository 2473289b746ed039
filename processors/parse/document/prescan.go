package document

import (
	"bytes"
	"slices"
	"strings"
)

const (
	// sniffBytes is how much of a document is searched for a declaration of its encoding
	// (WHATWG HTML, determining the character encoding).
	sniffBytes = 1024
	// headBytes is how much of a head is searched for a declaration that comes later.
	headBytes = 64 << 10
)

// prescan returns the name of the encoding that the beginning of a document
// declares, or "" (WHATWG HTML, prescan a byte stream to determine its
// encoding). As a parser does, it sees nothing within comments, and no attributes within the
// values of other attributes.
func prescan(body []byte) string {
	if name := unmarkedUTF16(body); name != "" {
		return name
	}
	s := scanner{rest: body[:min(len(body), sniffBytes)]}
	if name := s.declaration(); name != "" {
		return name
	}
	return xmlEncoding(body)
}

// unmarkedUTF16 returns the name of the encoding of a body that begins with an XML
// declaration in UTF-16, or "".
func unmarkedUTF16(body []byte) string {
	switch {
	case bytes.HasPrefix(body, []byte("<\x00?\x00x\x00")):
		return "utf-16le"
	case bytes.HasPrefix(body, []byte("\x00<\x00?\x00x")):
		return "utf-16be"
	}
	return ""
}

// lateDeclaration returns the name of the encoding that a meta element anywhere in the head
// declares, or "" (WHATWG HTML, the "in head" insertion mode: a meta start tag while the
// confidence is tentative). Unlike prescan it ends with the head, and it sees no tags in
// scripts, styles and titles, as a parser does.
func lateDeclaration(body []byte) string {
	if len(body) <= sniffBytes {
		return ""
	}
	s := scanner{rest: body[:min(len(body), headBytes)], head: true}
	if !s.mayDeclare() {
		return ""
	}
	return s.declaration()
}

// mayDeclare looks quickly whether there is a meta tag with the word charset. It overlooks the
// word if a "<" is between it and the name of the tag.
func (s scanner) mayDeclare() bool {
	for s.seek('<') {
		meta := s.startsMeta()
		s.rest = s.rest[1:]
		if !meta {
			continue
		}
		tag, _, _ := bytes.Cut(s.rest, []byte("<"))
		if strings.Contains(lowerASCII(tag), "charset") {
			return true
		}
	}
	return false
}

// declaration returns the name of the encoding that a meta element declares, or "". Of several
// such elements the first counts.
func (s *scanner) declaration() string {
	for s.seek('<') {
		switch {
		case bytes.HasPrefix(s.rest, []byte("<!--")):
			// The dashes that begin a comment may also end it.
			s.rest = s.rest[2:]
			if end := bytes.Index(s.rest, []byte("-->")); end >= 0 {
				s.rest = s.rest[end+3:]
			} else {
				s.rest = nil
			}
		case s.startsMeta():
			s.rest = s.rest[len("<meta"):]
			if name := s.meta(); name != "" {
				return name
			}
		case s.head && s.endsHead():
			return ""
		case s.startsTag():
			name := shortName(s.rest[1:])
			s.tag()
			if s.head && isRawText(name) {
				s.seekEnd(name)
			}
		case len(s.rest) > 1 && (s.rest[1] == '!' || s.rest[1] == '/' || s.rest[1] == '?'):
			s.seek('>')
		default:
			s.rest = s.rest[1:]
		}
	}
	return ""
}

type scanner struct {
	rest []byte // what is not read yet
	head bool   // it ends with the head, and skips the text of scripts, styles and titles
}

// seek goes to the next c and reports whether there is one.
func (s *scanner) seek(c byte) bool {
	i := bytes.IndexByte(s.rest, c)
	if i < 0 {
		s.rest = nil
		return false
	}
	s.rest = s.rest[i:]
	return true
}

func (s *scanner) startsMeta() bool {
	const length = len("<meta")
	return hasPrefixFold(s.rest, "<meta") && len(s.rest) > length && (isSpace(s.rest[length]) || s.rest[length] == '/')
}

func (s *scanner) startsTag() bool {
	name := bytes.TrimPrefix(s.rest[1:], []byte("/"))
	return len(name) > 0 && isLetter(name[0])
}

func (s *scanner) endsHead() bool {
	if end, ok := bytes.CutPrefix(s.rest, []byte("</")); ok {
		return strings.EqualFold(string(shortName(end)), "head")
	}
	return strings.EqualFold(string(shortName(s.rest[1:])), "body")
}

// isRawText reports whether the elements of that name hold no tags (WHATWG HTML,
// raw text and escapable raw text elements, and noscript where scripts run).
func isRawText(name []byte) bool {
	lower := lowerASCII(name)
	return isRaw(lower, "") || lower == "title" || lower == "textarea" || lower == "noscript"
}

// seekEnd goes to the next end tag of that name, or to the end.
func (s *scanner) seekEnd(name []byte) {
	for s.seek('<') {
		if end, ok := bytes.CutPrefix(s.rest, []byte("</")); ok && bytes.EqualFold(shortName(end), name) {
			return
		}
		s.rest = s.rest[1:]
	}
}

// tag skips a tag and its attributes.
func (s *scanner) tag() {
	for len(s.rest) > 0 && !isSpace(s.rest[0]) && s.rest[0] != '>' {
		s.rest = s.rest[1:]
	}
	s.attributes()
}

// attributes skips the attributes of a tag, up to its ">", and counts them.
func (s *scanner) attributes() (n int) {
	for {
		if _, _, ok := s.next(); !ok {
			return n
		}
		n++
	}
}

// meta reads the attributes of a meta element, and returns the encoding that it declares, or "".
func (s *scanner) meta() string {
	var (
		seen      [3]string
		names     = seen[:0]
		pragma    bool
		label     string
		found     bool
		byContent bool
	)
	for {
		name, value, ok := s.attribute()
		if !ok {
			break
		}
		if slices.Contains(names, name) {
			continue
		}
		switch name {
		case "http-equiv":
			pragma = value == "content-type"
		case "content":
			if found {
				continue
			}
			if label = labelInContent(value); label != "" {
				if name := nameOfLabel(label); name != "" {
					found, byContent = true, true
				}
			}
		case "charset":
			label, found, byContent = value, true, false
		default:
			continue
		}
		names = append(names, name)
	}
	// A tag that does not end within the bytes that are searched declares nothing.
	if len(s.rest) == 0 || !found || byContent && !pragma {
		return ""
	}
	return declared(nameOfLabel(label))
}

// declared is the encoding in which to read a document that declares the encoding name. A
// declaration that could be read as ASCII shows that the document is not in UTF-16.
func declared(name string) string {
	switch name {
	case "utf-16be", "utf-16le":
		return nameUTF8
	case "x-user-defined":
		return nameWindows1252
	}
	return name
}

func (s *scanner) attribute() (name, value string, ok bool) {
	rawName, rawValue, ok := s.next()
	return lowerASCII(rawName), lowerASCII(rawValue), ok
}

// next returns the next attribute of a tag (WHATWG HTML, get an attribute when sniffing the
// encoding). ok is false at the tag's end.
func (s *scanner) next() (name, value []byte, ok bool) {
	i := 0
	for i < len(s.rest) && (s.rest[i] == '/' || isSpace(s.rest[i])) {
		i++
	}
	s.rest = s.rest[i:]
	if len(s.rest) == 0 || s.rest[0] == '>' {
		return nil, nil, false
	}
	i = 0
	for i < len(s.rest) && tagByte[s.rest[i]]&endsName == 0 && (s.rest[i] != '=' || i == 0) {
		i++
	}
	name, s.rest = s.rest[:i], s.rest[i:]
	s.spaces()
	if len(s.rest) == 0 || s.rest[0] != '=' {
		return name, nil, len(s.rest) > 0
	}
	s.rest = s.rest[1:]
	s.spaces()
	if len(s.rest) == 0 {
		return nil, nil, false
	}
	if quote := s.rest[0]; quote == '"' || quote == '\'' {
		end := bytes.IndexByte(s.rest[1:], quote)
		if end < 0 {
			value, s.rest = s.rest[1:], nil
			return name, value, false
		}
		value, s.rest = s.rest[1:1+end], s.rest[end+2:]
		return name, value, true
	}
	i = 0
	for i < len(s.rest) && tagByte[s.rest[i]]&endsValue == 0 {
		i++
	}
	value, s.rest = s.rest[:i], s.rest[i:]
	return name, value, len(s.rest) > 0
}

func (s *scanner) spaces() {
	i := 0
	for i < len(s.rest) && isSpace(s.rest[i]) {
		i++
	}
	s.rest = s.rest[i:]
}

// labelInContent returns the label in the content of a pragma such as
// "text/html; charset=koi8-r", or "" (WHATWG HTML, extracting a character
// encoding from a meta element). content is in lower case.
func labelInContent(content string) string {
	for {
		_, rest, ok := strings.Cut(content, "charset")
		if !ok {
			return ""
		}
		content = trimLeftSpace(rest)
		rest, ok = strings.CutPrefix(content, "=")
		if !ok {
			continue
		}
		rest = trimLeftSpace(rest)
		if rest == "" {
			return ""
		}
		if rest[0] == '"' || rest[0] == '\'' {
			label, _, closed := strings.Cut(rest[1:], rest[:1])
			if !closed {
				return ""
			}
			return label
		}
		end := strings.IndexAny(rest, "; \t\n\f\r")
		if end < 0 {
			end = len(rest)
		}
		return rest[:end]
	}
}

// xmlEncoding returns the name of the encoding of an XML declaration at the
// start of the body, or "" (WHATWG HTML, get an XML encoding).
func xmlEncoding(body []byte) string {
	head, ok := bytes.CutPrefix(body[:min(len(body), sniffBytes)], []byte("<?xml"))
	if !ok {
		return ""
	}
	head, _, ok = bytes.Cut(head, []byte(">"))
	if !ok {
		return ""
	}
	_, rest, ok := bytes.Cut(head, []byte("encoding"))
	if !ok {
		return ""
	}
	blank := func(r rune) bool { return r <= ' ' } // the algorithm takes every control for white space
	rest, ok = bytes.CutPrefix(bytes.TrimLeftFunc(rest, blank), []byte("="))
	rest = bytes.TrimLeftFunc(rest, blank)
	if !ok || len(rest) < 2 || rest[0] != '"' && rest[0] != '\'' {
		return ""
	}
	label, _, ok := bytes.Cut(rest[1:], rest[:1])
	if !ok || bytes.ContainsFunc(label, blank) {
		return ""
	}
	name := nameOfLabel(string(label))
	if name == "x-user-defined" { // it counts here, and not in meta elements
		return name
	}
	return declared(name)
}

// hasPrefixFold reports whether b begins with prefix, without case.
func hasPrefixFold(b []byte, prefix string) bool {
	return len(b) >= len(prefix) && strings.EqualFold(string(b[:len(prefix)]), prefix)
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func lowerASCII(b []byte) string {
	for _, c := range b {
		if 'A' <= c && c <= 'Z' {
			lower := bytes.Clone(b)
			for i, c := range lower {
				if 'A' <= c && c <= 'Z' {
					lower[i] = c + 0x20
				}
			}
			return string(lower)
		}
	}
	return string(b)
}
