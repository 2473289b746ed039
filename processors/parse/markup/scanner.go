// Package markup cuts XML into tags and texts, even if the XML is broken. It keeps one tag or
// text in memory at a time.
//
// There is no tree and no grammar: the caller keeps track of the elements that are open. Entities
// that a document type defines are not expanded, and nothing outside of the text is read. So a
// text costs only the time to read it, however deep, long or broken it is.
package markup

import (
	"bufio"
	"bytes"
	"html"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"
)

// Token is a piece of markup.
type Token struct {
	Kind Kind
	// Name of a tag without its prefix, in lower case.
	Name string
	// Prefix of the name, in lower case.
	Prefix string
	// attrs is what follows the name of a start tag, as written.
	attrs string
	// Empty: the start tag also ends the element ("/>").
	Empty bool
}

// Kind is what a Token is.
type Kind uint8

// Kinds of tokens.
const (
	End Kind = iota
	Start
	Close
	Text
)

const (
	// MaxTagBytes is the number of bytes of a tag that count.
	MaxTagBytes = 16 << 10
	// MaxTextBytes is the number of bytes of a text that count. A URL has at most 2,048 bytes,
	// and each may be escaped.
	MaxTextBytes = 8 << 10
)

// Scanner cuts XML into tags and texts. It keeps only one of them.
type Scanner struct {
	r *bufio.Reader
	// open: the "<" of the next tag was read already.
	open bool
	tag  []byte
	text []byte // of Text, with CDATA sections, entities resolved
}

// NewScanner returns the Scanner of a text in UTF-8.
func NewScanner(r io.Reader) *Scanner { return &Scanner{r: bufio.NewReaderSize(r, 64<<10)} }

// Next returns the next tag, or the text in front of it. It skips comments, processing
// instructions and document types.
func (s *Scanner) Next() Token {
	s.text = s.text[:0]
	had := false
	for {
		from, found := len(s.text), s.open
		if !found {
			found = s.readTo('<', &s.text, MaxTextBytes)
		}
		s.open = false
		if len(s.text) > from {
			had = true
			s.text = unescape(s.text, from)
		}
		if !found {
			if had {
				return Token{Kind: Text}
			}
			return Token{Kind: End}
		}
		head, _ := s.r.Peek(len("![CDATA["))
		switch {
		case bytes.HasPrefix(head, []byte("![CDATA[")):
			s.discard(len("![CDATA["))
			s.until("]]>", &s.text, MaxTextBytes)
			s.text = s.text[:min(len(s.text), MaxTextBytes)]
			had = true
			continue
		case bytes.HasPrefix(head, []byte("!--")):
			s.discard(len("!--"))
			s.until("-->", nil, 0)
			continue
		case len(head) > 0 && head[0] == '?':
			s.until("?>", nil, 0)
			continue
		case len(head) > 0 && head[0] == '!':
			s.doctype()
			continue
		case len(head) == 0 || !isNameByte(head[0]) && head[0] != '/':
			if len(s.text) < MaxTextBytes { // this "<" does not begin a tag
				s.text = append(s.text, '<')
			}
			had = true
			continue
		}
		if had {
			s.open = true
			return Token{Kind: Text}
		}
		return s.readTag()
	}
}

// Value is the text of a Token of kind Text, trimmed.
func (s *Scanner) Value() string { return Valid(string(bytes.TrimSpace(s.text))) }

func isNameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == ':' || c >= utf8.RuneSelf
}

func (s *Scanner) discard(n int) { _, _ = s.r.Discard(n) }

// readTo reads up to a byte and removes the byte, too. It appends the text before the byte to
// kept, which gets at most most bytes. It returns false at the end of the text.
func (s *Scanner) readTo(end byte, kept *[]byte, most int) bool {
	for {
		part, err := s.r.ReadSlice(end)
		rest := part
		if err == nil {
			rest = part[:len(part)-1]
		}
		*kept = append(*kept, rest[:min(len(rest), max(most-len(*kept), 0))]...)
		switch err {
		case nil:
			return true
		case bufio.ErrBufferFull:
			continue
		}
		return false
	}
}

// until skips the text up to end, and end. If kept is not nil, the skipped text is appended to it.
func (s *Scanner) until(end string, kept *[]byte, most int) {
	last := end[len(end)-1]
	tail := make([]byte, 0, 2*len(end))
	for {
		part, err := s.r.ReadSlice(last)
		if kept != nil {
			*kept = append(*kept, part[:min(len(part), max(most+len(end)-len(*kept), 0))]...)
		}
		tail = append(tail, part[max(len(part)-len(end), 0):]...)
		tail = tail[max(len(tail)-len(end), 0):]
		if string(tail) == end {
			if kept != nil {
				*kept = bytes.TrimSuffix(*kept, []byte(end))
			}
			return
		}
		if err != nil && err != bufio.ErrBufferFull {
			return
		}
	}
}

// doctype skips a declaration, with the subset that it may have in brackets.
func (s *Scanner) doctype() {
	depth := 0
	for {
		c, err := s.r.ReadByte()
		switch {
		case err != nil, c == '>' && depth <= 0:
			return
		case c == '[':
			depth++
		case c == ']':
			depth--
		}
	}
}

// readTag reads a tag whose "<" was read already. A quoted ">" does not end the tag. A "<"
// outside of quotes ends it, because then the tag was never closed.
func (s *Scanner) readTag() Token {
	s.tag = s.tag[:0]
	quote := byte(0)
	for read := 0; ; read++ {
		c, err := s.r.ReadByte()
		if err != nil {
			break
		}
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0 && read > MaxTagBytes && (c == '>' || c == '<'):
			quote = 0 // the quote was never closed
		case quote == 0 && (c == '"' || c == '\'') && len(s.tag) > 0 && bytes.IndexByte(s.tag, '=') >= 0:
			quote = c
		}
		if quote == 0 && c == '>' {
			break
		}
		if quote == 0 && c == '<' {
			s.open = true
			break
		}
		if len(s.tag) < MaxTagBytes {
			s.tag = append(s.tag, c)
		}
	}
	tag := s.tag
	t := Token{Kind: Start}
	if len(tag) > 0 && tag[0] == '/' {
		t.Kind, tag = Close, tag[1:]
	}
	if len(tag) > 0 && tag[len(tag)-1] == '/' {
		t.Empty, tag = true, tag[:len(tag)-1]
	}
	name, attrs := tag, []byte(nil)
	if end := bytes.IndexAny(tag, " \t\r\n/"); end >= 0 {
		name, attrs = tag[:end], tag[end:]
	}
	if colon := bytes.LastIndexByte(name, ':'); colon >= 0 {
		t.Prefix, name = strings.ToLower(string(name[:colon])), name[colon+1:]
	}
	t.Name, t.attrs = strings.ToLower(string(name)), string(attrs)
	return t
}

// Attr returns the value of an attribute, by its local name.
func (t Token) Attr(name string) string {
	rest := t.attrs
	for rest != "" {
		rest = strings.TrimLeft(rest, " \t\r\n/")
		end := strings.IndexAny(rest, "= \t\r\n")
		if end < 0 {
			return ""
		}
		key := rest[:end]
		rest = strings.TrimLeft(rest[end:], " \t\r\n")
		if !strings.HasPrefix(rest, "=") {
			continue
		}
		rest = strings.TrimLeft(rest[1:], " \t\r\n")
		var value string
		if rest != "" && (rest[0] == '"' || rest[0] == '\'') {
			value, rest, _ = strings.Cut(rest[1:], rest[:1])
		} else if end = strings.IndexAny(rest, " \t\r\n"); end >= 0 {
			value, rest = rest[:end], rest[end:]
		} else {
			value, rest = rest, ""
		}
		if colon := strings.LastIndexByte(key, ':'); colon >= 0 {
			key = key[colon+1:]
		}
		if strings.EqualFold(key, name) {
			return Valid(strings.TrimSpace(unescaped(value)))
		}
	}
	return ""
}

// unescape resolves the entities in text[from:].
func unescape(text []byte, from int) []byte {
	if bytes.IndexByte(text[from:], '&') < 0 {
		return text
	}
	return append(text[:from], unescaped(string(text[from:]))...)
}

// unescaped resolves entities, also those that only HTML has. XML has no entity without a semicolon: what looks
// like one is a parameter of a URL that was written without escapes, such as &currency=.
func unescaped(text string) string {
	if strings.IndexByte(text, '&') < 0 {
		return text
	}
	return entity.ReplaceAllStringFunc(text, html.UnescapeString)
}

var entity = regexp.MustCompile(`&#?[0-9A-Za-z]{1,32};`)
