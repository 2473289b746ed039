package document

import "unicode/utf8"

// gap is what separates two pieces of prose; the wider one wins.
type gap uint8

const (
	noGap gap = iota
	wordGap
	lineGap
)

// prose collects text: white space folded, lines parted by one "\n", nothing
// before the first character or after the last. It stops at limit bytes, on a
// rune boundary.
type prose struct {
	buf   []byte
	limit int
	// pending is written before the next character, so that gaps at the end or next to each
	// other do not count.
	pending gap
	// oneLine makes line gaps word gaps.
	oneLine bool
	full    bool
}

func (p *prose) reset() {
	p.buf = p.buf[:0]
	p.pending = noGap
	p.full = false
}

func (p *prose) space() {
	if p.pending == noGap {
		p.pending = wordGap
	}
}

func (p *prose) line() {
	if p.oneLine {
		p.space()
		return
	}
	p.pending = lineGap
}

// Classes of bytes in prose.
const (
	inWord    = iota
	isBlank   // white space (HTML, ASCII whitespace)
	isDropped // NUL, which the parser drops from some places only
	isC2      // perhaps the first byte of U+00A0
)

var proseClass = [256]uint8{
	' ': isBlank, '\t': isBlank, '\n': isBlank, '\f': isBlank, '\r': isBlank,
	0: isDropped, 0xC2: isC2,
}

// fold appends s. Runs of words with single spaces between them, which prose
// mostly is, are copied in one piece.
func (p *prose) fold(s string) {
	for i := 0; i < len(s) && !p.full; {
		switch proseClass[s[i]] {
		case isBlank:
			p.space()
			i++
			continue
		case isDropped:
			i++
			continue
		case isC2:
			if i+1 < len(s) && s[i+1] == 0xA0 {
				p.space()
				i += 2
				continue
			}
		}
		j := i + 1
		for j < len(s) {
			if class := proseClass[s[j]]; class != inWord {
				if s[j] != ' ' || j+1 == len(s) || proseClass[s[j+1]] != inWord {
					break
				}
			}
			j++
		}
		p.put(s[i:j])
		i = j
	}
}

// verbatim appends preformatted text: its white space stays, "\r\n" and "\r"
// become "\n", NUL is dropped.
func (p *prose) verbatim(s string) {
	for i := 0; i < len(s) && !p.full; {
		if c := s[i]; c == '\r' {
			if i+1 == len(s) || s[i+1] != '\n' {
				p.put("\n")
			}
			i++
			continue
		} else if c == 0 {
			i++
			continue
		}
		j := i + 1
		for j < len(s) && s[j] != '\r' && s[j] != 0 {
			j++
		}
		p.put(s[i:j])
		i = j
	}
}

func (p *prose) put(s string) {
	if p.pending != noGap {
		if len(p.buf) > 0 && len(p.buf) < p.limit {
			c := byte(' ')
			if p.pending == lineGap {
				c = '\n'
			}
			p.buf = append(p.buf, c)
		}
		p.pending = noGap
	}
	if room := p.limit - len(p.buf); len(s) > room {
		s = cut(s, room)
		p.full = true
	}
	p.buf = append(p.buf, s...)
}

// trim drops white space that verbatim text left at the end.
func (p *prose) trim() {
	n := len(p.buf)
	for n > 0 && proseClass[p.buf[n-1]] == isBlank {
		n--
	}
	p.buf = p.buf[:n]
}

// String returns the text without what white space is left at its end.
func (p *prose) String() string {
	p.trim()
	return string(p.buf)
}

// cut returns at most limit bytes of s, whole characters only.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}
