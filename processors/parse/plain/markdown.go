package plain

import "strings"

// Output takes the contents of a text, in their order.
type Output interface {
	// Field is a field of the front matter, such as the title.
	Field(name, value string)
	// Block begins a line of its own. Fold adds text to it, Verbatim text with its white space.
	Block()
	Fold(text string)
	Verbatim(text string)
	Heading(level int, text string)
	// Link is a link to a page, or an image.
	Link(url, text string, image bool)
}

// ReadMarkdown reads CommonMark with the tables, links and strikethrough of GitHub. It gives out
// what a browser would show. It recognises blocks by their lines, without a tree. Nesting matters
// only if it makes code of an indented line.
func ReadMarkdown(text string, out Output) {
	m := markdown{out: out, inline: inline{out: out}}
	lines := strings.SplitAfter(text, "\n")
	lines = m.frontMatter(lines)
	m.inline.refs = definitions(lines)
	for i, line := range lines {
		next := ""
		if i+1 < len(lines) {
			next = lines[i+1]
		}
		m.line(strings.TrimRight(line, "\r\n"), next)
	}
	m.flush()
}

type markdown struct {
	out    Output
	inline inline
	// paragraph are the lines of the open paragraph.
	paragraph []string
	// fence is the fence of the open code block; empty: no code block is open. inQuote: the block
	// is in a quote.
	fence   string
	inQuote bool
	// hidden is the text that ends the open comment or script; empty: none is open.
	hidden string
	// blank: the last line was empty. list is the column where the text of the open list item
	// begins; 0: none is open.
	blank bool
	list  int
	// quoted: the last line was in a quote.
	quoted bool
	// table: the lines are rows of a table.
	table bool
}

// maxMarkers bounds the quotes and list items that begin in one line.
const maxMarkers = 64

func (m *markdown) line(line, next string) {
	if m.hidden != "" {
		if strings.Contains(strings.ToLower(line), m.hidden) {
			m.hidden = ""
		}
		return
	}
	column, body := indentation(line, 0)
	if m.fence != "" && m.inQuote {
		var ok bool
		if body, ok = strings.CutPrefix(body, ">"); !ok {
			m.fence = "" // the quote ends, and the code with it
		}
		line = strings.TrimPrefix(body, " ")
		column, body = indentation(body, column)
	}
	if m.fence != "" {
		m.inFence(body, line)
		return
	}
	if body == "" {
		m.flush()
		m.blank, m.table = true, false
		return
	}
	if column == 0 && m.blank && !startsItem(body) {
		m.list = 0
	}
	if len(m.paragraph) == 0 && column >= m.list+4 && !m.table {
		m.code(line)
		return
	}
	wasQuoted := m.quoted && !m.blank
	m.quoted = false
	for range maxMarkers {
		quote, width := marker(body)
		if width == 0 || m.rule(body) {
			break
		}
		if m.quoted = m.quoted || quote; !quote || !wasQuoted {
			m.flush()
		}
		from := column
		column, body = indentation(body[width:], column+width)
		if !quote {
			if column > from+width+4 {
				column = from + width + 1
			}
			m.list = column
		}
	}
	m.blank = false
	if body == "" { // a quote's empty line
		m.flush()
		return
	}
	m.block(body, next)
}

// block takes a line without the marks in front of it.
func (m *markdown) block(body, next string) {
	level, title := heading(body)
	switch {
	case level > 0:
		m.flush()
		m.heading(level, title)
	case isFence(body) != "":
		m.flush()
		m.fence, m.inQuote = isFence(body), m.quoted
		m.out.Block()
	case len(m.paragraph) > 0 && underline(body) > 0:
		title := strings.Join(m.paragraph, " ")
		m.paragraph = m.paragraph[:0]
		m.heading(underline(body), title)
	case m.rule(body), definition(body) != nil && len(m.paragraph) == 0:
		m.flush()
	case strings.HasPrefix(body, "<") && m.hides(body):
		m.flush()
	case m.table:
		if !isDelimiters(body) {
			m.row(body)
		}
	case strings.Contains(body, "|") && isDelimiters(strings.TrimLeft(next, "> \t")):
		m.flush()
		m.table = true
		m.row(body)
	default:
		m.paragraph = append(m.paragraph, body)
	}
}

// flush ends the open paragraph.
func (m *markdown) flush() {
	if len(m.paragraph) == 0 {
		return
	}
	text := strings.Join(m.paragraph, "\n")
	m.paragraph = m.paragraph[:0]
	m.out.Block()
	m.inline.read(text)
	m.out.Block()
}

func (m *markdown) heading(level int, text string) {
	m.out.Block()
	m.out.Heading(level, m.inline.read(text))
	m.out.Block()
}

// code takes a line of indented code.
func (m *markdown) code(line string) {
	m.out.Block()
	m.out.Verbatim(strings.TrimSpace(line))
	m.out.Block()
}

func (m *markdown) inFence(body, line string) {
	if f := isFence(body); f != "" && f[0] == m.fence[0] && len(f) >= len(m.fence) && strings.Trim(body, f[:1]+" \t") == "" {
		m.fence = ""
		m.out.Block()
		return
	}
	m.out.Verbatim(line + "\n")
}

// row takes a row of a table.
func (m *markdown) row(body string) {
	m.out.Block()
	for _, cell := range cells(body) {
		m.inline.read(strings.TrimSpace(cell))
		m.out.Fold(" ")
	}
	m.out.Block()
}

// hides tells whether a line begins a comment, a script or a style that continues in the next
// lines.
func (m *markdown) hides(body string) bool {
	lower := strings.ToLower(body[:min(len(body), 16)])
	for start, end := range map[string]string{"<!--": "-->", "<script": "</script", "<style": "</style", "<?": "?>"} {
		if strings.HasPrefix(lower, start) {
			if at := strings.Index(strings.ToLower(body), end); at >= 0 {
				return strings.TrimSpace(strings.TrimPrefix(body[at+len(end):], ">")) == ""
			}
			m.hidden = end
			return true
		}
	}
	return false
}

// rule tells whether a line is a thematic break.
func (m *markdown) rule(body string) bool {
	if body == "" || strings.IndexByte("*-_", body[0]) < 0 {
		return false
	}
	marks := strings.Count(body, body[:1])
	return marks >= 3 && strings.Trim(body, body[:1]+" \t") == ""
}

// frontMatter reads the fields in front of a text, between lines of "---", as in Jekyll and similar
// programs. It returns the lines behind them.
func (m *markdown) frontMatter(lines []string) []string {
	if len(lines) == 0 || strings.TrimRight(lines[0], " \t\r\n") != "---" {
		return lines
	}
	for i, line := range lines[1:min(len(lines), 200)] {
		if line = strings.TrimRight(line, " \t\r\n"); line == "---" || line == "..." {
			for _, field := range lines[1 : i+1] {
				name, value, ok := strings.Cut(field, ":")
				if value = strings.Trim(strings.TrimSpace(value), `"'`); ok && value != "" {
					m.out.Field(name, value)
				}
			}
			return lines[i+2:]
		}
	}
	return lines
}

// indentation removes the white space in front of a text that begins in a column, and returns the
// column behind it.
func indentation(s string, column int) (int, string) {
	for i := range len(s) {
		switch s[i] {
		case ' ':
			column++
		case '\t':
			column += 4 - column%4
		default:
			return column, s[i:]
		}
	}
	return column, ""
}

// marker returns the width of the mark of a quote or a list item in front of a text; 0: there is no
// mark.
func marker(s string) (quote bool, width int) {
	if s == "" {
		return false, 0
	}
	switch s[0] {
	case '>':
		return true, 1
	case '-', '*', '+':
		width = 1
	default:
		for width < len(s) && width < 9 && '0' <= s[width] && s[width] <= '9' {
			width++
		}
		if width == 0 || width == len(s) || s[width] != '.' && s[width] != ')' {
			return false, 0
		}
		width++
	}
	if width < len(s) && s[width] != ' ' && s[width] != '\t' {
		return false, 0
	}
	return false, width
}

func startsItem(s string) bool {
	quote, width := marker(s)
	return width > 0 && !quote
}

// heading reads "## Title ##".
func heading(s string) (level int, title string) {
	for level < len(s) && s[level] == '#' {
		level++
	}
	if level == 0 || level > 6 || level < len(s) && s[level] != ' ' && s[level] != '\t' {
		return 0, ""
	}
	title = strings.TrimSpace(s[level:])
	if bare := strings.TrimRight(title, "#"); bare == "" || strings.HasSuffix(bare, " ") || strings.HasSuffix(bare, "\t") {
		title = bare
	}
	return level, strings.TrimSpace(title)
}

// underline returns the level of the heading that a line makes of the paragraph above it; 0: it
// makes no heading.
func underline(s string) int {
	s = strings.TrimRight(s, " \t")
	switch {
	case s == "":
	case strings.Trim(s, "=") == "":
		return 1
	case strings.Trim(s, "-") == "":
		return 2
	}
	return 0
}

// isFence returns the fence if a line begins or ends a block of code; empty: it does not.
func isFence(s string) string {
	if s == "" || s[0] != '`' && s[0] != '~' {
		return ""
	}
	n := 0
	for n < len(s) && s[n] == s[0] {
		n++
	}
	if n < 3 || s[0] == '`' && strings.IndexByte(s[n:], '`') >= 0 {
		return ""
	}
	return s[:n]
}

// isDelimiters tells whether a line separates the head of a table from its rows: "|---|:-:|".
func isDelimiters(s string) bool {
	s = strings.TrimSpace(s)
	return strings.Contains(s, "-") && strings.Contains(s, "|") && strings.Trim(s, "|:- \t") == ""
}

// cells splits a row at bars that are not escaped.
func cells(s string) (cells []string) {
	s = strings.TrimPrefix(strings.TrimSuffix(strings.TrimSpace(s), "|"), "|")
	from := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '|':
			cells = append(cells, s[from:i])
			from = i + 1
		}
	}
	return append(cells, s[from:])
}
