package plain

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
)

// inline reads the text of a paragraph: links, images, code, emphasis, escapes and tags
// (CommonMark 0.31, chapter 6). It makes one pass; each look back is bounded.
type inline struct {
	out Output
	// refs are the URLs of "[label]: URL".
	refs map[string]string

	src string
	// text is what a reader sees so far. marks are the places in it of characters that may be
	// emphasis. At the end, the characters that are emphasis are removed.
	text  []byte
	marks []mark
	// open are the places of opening brackets. The first dead of them contain a link, so they
	// cannot begin a link.
	open []bracket
	dead int
	// ticks are the lengths of runs of backticks that do not occur again behind a place.
	ticks map[int]bool
	// anchor is the href of the open tag a, anchorAt where its text begins.
	anchor   string
	anchorAt int
	// level is the level of the open heading tag; 0: no heading is open. headingAt is where it
	// begins.
	level, headingAt int
}

// mark is a run of characters that may be emphasis.
type mark struct {
	at, n int
	// used is how many of them are emphasis.
	used int
}

type bracket struct {
	// at is where the text behind it begins, src the place in the source.
	at, src int
	image   bool
	// alt is the text of the images in it.
	alt string
}

const (
	maxLabel    = 999 // CommonMark 6.3
	maxBrackets = 32
	maxTitle    = 1024
	maxTag      = 4 << 10
)

// read reads a text, and gives its links and the text to out. It returns the text.
func (p *inline) read(src string) string {
	*p = inline{out: p.out, refs: p.refs, src: src, text: p.text[:0], marks: p.marks[:0], open: p.open[:0]}
	var openers [3][]int // open runs of *, _ and ~ in marks
	for i := 0; i < len(src); {
		switch c := src[i]; c {
		case '\\':
			if i+1 < len(src) && isPunctuation(src[i+1]) {
				p.text = append(p.text, src[i+1])
				i += 2
				continue
			}
		case '`':
			i = p.code(i)
			continue
		case '<':
			i = p.angle(i)
			continue
		case '&':
			end := strings.IndexByte(src[i:min(len(src), i+40)], ';')
			if end > 0 {
				p.text = append(p.text, html.UnescapeString(src[i:i+end+1])...)
				i += end + 1
				continue
			}
		case '!':
			if strings.HasPrefix(src[i:], "![") {
				p.open = append(p.open, bracket{at: len(p.text), src: i + 2, image: true})
				i += 2
				continue
			}
		case '[':
			p.open = append(p.open, bracket{at: len(p.text), src: i + 1})
			p.text = append(p.text, '[')
			i++
			continue
		case ']':
			i = p.closing(i)
			continue
		case '*', '_', '~':
			i = p.emphasis(i, &openers)
			continue
		case 'h', 'H', 'w', 'W':
			if end := p.bare(i); end > i {
				i = end
				continue
			}
		}
		_, size := utf8.DecodeRuneInString(src[i:])
		p.text = append(p.text, src[i:i+size]...)
		i += size
	}
	if p.anchor != "" {
		p.out.Link(p.anchor, p.shown(min(p.anchorAt, len(p.text))), false)
	}
	text := p.shown(0)
	p.out.Fold(text)
	return text
}

// shown is the text from a place on, without the marks of emphasis.
func (p *inline) shown(from int) string {
	var b strings.Builder
	first := len(p.marks)
	for first > 0 && p.marks[first-1].at >= from {
		first--
	}
	for _, m := range p.marks[first:] {
		if m.used > 0 {
			b.Write(p.text[from:m.at])
			from = m.at + m.used
		}
	}
	b.Write(p.text[from:])
	return b.String()
}

// code reads a code span (6.1).
func (p *inline) code(i int) int {
	n := run(p.src, i)
	if !p.ticks[n] {
		for at := i + n; at < len(p.src); {
			next := strings.IndexByte(p.src[at:], '`')
			if next < 0 {
				break
			}
			at += next
			k := run(p.src, at)
			if k == n {
				p.text = append(p.text, strings.ReplaceAll(p.src[i+n:at], "\n", " ")...)
				return at + n
			}
			at += k
		}
		if p.ticks == nil {
			p.ticks = map[int]bool{}
		}
		p.ticks[n] = true
	}
	p.text = append(p.text, p.src[i:i+n]...)
	return i + n
}

// run is the length of the run of one character.
func run(s string, i int) int {
	n := 1
	for i+n < len(s) && s[i+n] == s[i] {
		n++
	}
	return n
}

// angle reads an autolink (6.5) or a tag (6.6).
func (p *inline) angle(i int) int {
	end := strings.IndexByte(p.src[i:min(len(p.src), i+maxTag)], '>')
	if strings.HasPrefix(p.src[i:], "<!--") {
		if stop := strings.Index(p.src[i:min(len(p.src), i+maxTag)], "-->"); stop > 0 {
			return i + stop + len("-->")
		}
	}
	if end < 2 {
		p.text = append(p.text, '<')
		return i + 1
	}
	inside := p.src[i+1 : i+end]
	switch {
	case isAutolink(inside):
		p.out.Link(inside, inside, false)
		p.text = append(p.text, inside...)
	case isMail(inside):
		p.text = append(p.text, inside...)
	case inside[0] == '/' || inside[0]|0x20 >= 'a' && inside[0]|0x20 <= 'z':
		p.tag(p.src[i : i+end+1])
	default:
		p.text = append(p.text, '<')
		return i + 1
	}
	return i + end + 1
}

// tag reads a tag. Links, images, headings and tags that separate words count.
func (p *inline) tag(tag string) {
	z := html.NewTokenizer(strings.NewReader(tag))
	z.Next()
	t := z.Token()
	attribute := func(name string) string {
		for _, a := range t.Attr {
			if a.Key == name {
				return a.Val
			}
		}
		return ""
	}
	switch t.Data {
	case "a":
		if p.anchor != "" {
			p.out.Link(p.anchor, p.shown(min(p.anchorAt, len(p.text))), false)
		}
		p.anchor, p.anchorAt = "", len(p.text)
		if t.Type == html.StartTagToken {
			p.anchor = attribute("href")
		}
	case "img":
		if src := attribute("src"); src != "" {
			p.out.Link(src, attribute("alt"), true)
		}
	case "h1", "h2", "h3", "h4", "h5", "h6":
		if p.level > 0 && t.Type == html.EndTagToken {
			p.out.Heading(p.level, p.shown(min(p.headingAt, len(p.text))))
		}
		p.level, p.headingAt = 0, len(p.text)
		if t.Type == html.StartTagToken {
			p.level = int(t.Data[1] - '0')
		}
	case "br", "p", "div", "li", "td", "th", "tr":
		p.text = append(p.text, ' ')
	}
}

// closing reads a closing bracket, and the link or image that it ends (6.3, 6.4).
func (p *inline) closing(i int) int {
	last := len(p.open) - 1
	if last < 0 {
		p.text = append(p.text, ']')
		return i + 1
	}
	b := p.open[last]
	p.open = p.open[:last]
	dead := last < p.dead && !b.image
	p.dead = min(p.dead, last)
	url, end := "", 0
	if !dead {
		url, end = p.target(b, i)
	}
	if end == 0 {
		p.text = append(p.text, ']')
		return i + 1
	}
	from := b.at
	if !b.image {
		from++ // its bracket
	}
	text := p.shown(from)
	label := text
	if label == "" {
		label = b.alt
	}
	p.out.Link(url, label, b.image)
	p.cut(b, text)
	switch {
	case !b.image:
		p.dead = last // no links in links
	case last > 0 && len(p.open[last-1].alt) < maxTitle:
		p.open[last-1].alt += text
	}
	return end
}

// cut replaces the text of a link or an image. The text of a link is shown without its bracket. The
// text of an image is not shown.
func (p *inline) cut(b bracket, text string) {
	for len(p.marks) > 0 && p.marks[len(p.marks)-1].at >= b.at {
		p.marks = p.marks[:len(p.marks)-1]
	}
	p.text = p.text[:b.at]
	if !b.image {
		p.text = append(p.text, text...)
	}
}

// target returns the URL of the link whose text ends at a place, and where the link ends; 0: it is
// not a link.
func (p *inline) target(b bracket, i int) (url string, end int) {
	rest := p.src[i+1:]
	if strings.HasPrefix(rest, "(") {
		if url, n := destination(rest[1:]); n > 0 {
			return url, i + 2 + n
		}
	}
	label, end := p.src[b.src:i], i+1
	if strings.HasPrefix(rest, "[") {
		if n := strings.IndexByte(rest[:min(len(rest), maxLabel)], ']'); n > 0 {
			if n > 1 {
				label = rest[1:n]
			}
			end = i + 2 + n
		}
	}
	if len(p.refs) == 0 || len(label) > maxLabel || label == "" || strings.IndexByte(label, '[') >= 0 {
		return "", 0
	}
	if url, ok := p.refs[labelKey(label)]; ok {
		return url, end
	}
	return "", 0
}

// emphasis reads a run of *, _ or ~ (6.2), which may end an open run and may begin one.
func (p *inline) emphasis(i int, openers *[3][]int) int {
	n := run(p.src, i)
	c := p.src[i]
	before, _ := utf8.DecodeLastRuneInString(p.src[:i])
	after, _ := utf8.DecodeRuneInString(p.src[i+n:])
	if i == 0 {
		before = ' '
	}
	if i+n == len(p.src) {
		after = ' '
	}
	left := !unicode.IsSpace(after) && (!isPunct(after) || unicode.IsSpace(before) || isPunct(before))
	right := !unicode.IsSpace(before) && (!isPunct(before) || unicode.IsSpace(after) || isPunct(after))
	opens, closes := left, right
	switch c {
	case '_':
		opens, closes = left && (!right || isPunct(before)), right && (!left || isPunct(after))
	case '~':
		if n > 2 {
			opens, closes = false, false
		}
	}
	this := mark{at: len(p.text), n: n}
	p.text = append(p.text, p.src[i:i+n]...)
	stack := &openers[strings.IndexByte("*_~", c)]
	for closes && this.used < n && len(*stack) > 0 {
		k := (*stack)[len(*stack)-1]
		if k >= len(p.marks) || p.marks[k].at >= this.at || c == '~' && p.marks[k].n != n {
			*stack = (*stack)[:len(*stack)-1] // it was within a link
			continue
		}
		pair := min(n-this.used, p.marks[k].n-p.marks[k].used)
		this.used += pair
		if p.marks[k].used += pair; p.marks[k].used == p.marks[k].n {
			*stack = (*stack)[:len(*stack)-1]
		}
	}
	p.marks = append(p.marks, this)
	if opens && this.used < n {
		*stack = append(*stack, len(p.marks)-1)
	}
	return i + n
}

// bare reads a URL that is not marked as a link (GitHub's autolinks), and returns its end, or i.
func (p *inline) bare(i int) int {
	if i > 0 && (isWord(p.src[i-1]) || p.src[i-1] == '/') || p.anchor != "" {
		return i
	}
	head := strings.ToLower(p.src[i:min(len(p.src), i+8)])
	var prefix string
	var host int
	switch {
	case strings.HasPrefix(head, "https://"):
		host = len("https://")
	case strings.HasPrefix(head, "http://"):
		host = len("http://")
	case strings.HasPrefix(head, "www."):
		prefix, host = "http://", len("www.")
	default:
		return i
	}
	end := urlEnd(p.src, i+host)
	if end == i+host || end-i > maxURLBytes {
		return i
	}
	url := p.src[i:end]
	p.text = append(p.text, url...)
	if n := len(p.open); n == 0 || p.open[n-1].image || n <= p.dead || !p.linked(p.open[n-1]) {
		p.out.Link(prefix+url, url, false)
	}
	return end
}

const maxRefs = 10_000
