package pdf

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// hyphen is what PDFium writes instead of a hyphen that cuts a word at the end of a line.
const hyphen = '\x02'

// lines folds the text of a page: one space between words, no empty lines, and no words that a line
// cuts.
type lines struct {
	text []byte
	from int // where the page begins
	most int
	full bool

	due    byte // ' ' or '\n': what is due in front of the next letter
	hyphen bool // the last character cuts a word
}

func (l *lines) add(runes []rune) {
	for _, r := range runes {
		switch {
		case r == hyphen:
			l.hyphen = true
			continue
		case r == '\n' || r == '\r':
			if !l.hyphen {
				l.due = '\n'
			}
			continue
		case unicode.IsSpace(r):
			if l.due == 0 && !l.hyphen {
				l.due = ' '
			}
			continue
		case r < ' ' || r == 0xfffe || r == 0xffff || r == utf8.RuneError || r == 0xad || r == 0xfeff:
			continue
		}
		if l.due != 0 && len(l.text) > l.from {
			l.put(rune(l.due))
		}
		l.due, l.hyphen = 0, false
		l.put(r)
	}
}

func (l *lines) put(r rune) {
	if l.full || len(l.text)+utf8.RuneLen(r) > l.most {
		l.full = true
		return
	}
	l.text = utf8.AppendRune(l.text, r)
}

func (l *lines) end() []byte { return l.text }

var pdfDate = regexp.MustCompile(`^D:(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?(Z|[+-])?(\d\d)?'?(\d\d)?'?`)

// date writes a date of PDF (ISO 32000-1, section 7.9.4), D:20240201102030+01'00', in the form of
// RFC 3339, with the parts that it has. Other dates stay as they are.
func date(written string) string {
	m := pdfDate.FindStringSubmatch(written)
	if m == nil {
		return written
	}
	var b strings.Builder
	for i, part := range m[1:7] {
		if part == "" {
			break
		}
		if i > 0 {
			b.WriteByte("--T::"[i-1])
		}
		b.WriteString(part)
	}
	switch {
	case m[5] == "":
	case m[7] == "Z" || m[7] != "" && m[8] == "":
		b.WriteByte('Z')
	case m[7] != "":
		b.WriteString(m[7] + m[8] + ":" + max(m[9], "00"))
	}
	return b.String()
}
