package plain

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/weftcrawl/weft/internal/urls"
)

// What is wrong with a text, by name. Empty: nothing is.
const (
	// BadSyntax: from some place on the text breaks the rules of its format.
	BadSyntax = "bad_syntax"
	// Cut: the text ends too early.
	Cut = "cut"
	// TooDeep: values are nested more than maxDepth deep.
	TooDeep = "too_deep"
	// Uneven: rows of a table have more or fewer cells than its first one.
	Uneven = "uneven"
)

// maxDepth is how deep values may be nested. encoding/json reads 10,000 levels.
const maxDepth = 1000

// ReadJSON reads one value or, for Lines, many. It calls found with each string in them that is a
// URL. It returns how many values it read on the top level, and what is wrong.
func ReadJSON(text string, found func(url string)) (values int, wrong string) {
	d := json.NewDecoder(strings.NewReader(strings.ReplaceAll(text, "\x1e", " "))) // RFC 7464
	depth := 0
	for {
		t, err := d.Token()
		switch {
		case errors.Is(err, io.EOF) && depth == 0:
			return values, ""
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return values, Cut
		case err != nil:
			return values, BadSyntax
		}
		switch v := t.(type) {
		case json.Delim:
			if v == '{' || v == '[' {
				if depth++; depth > maxDepth {
					return values, TooDeep
				}
				continue
			}
			depth--
		case string:
			if isURL(v) {
				found(v)
			}
		}
		if depth == 0 {
			values++
		}
	}
}

// ReadLines reads one JSON value from each line. It skips a line that is not a JSON value.
func ReadLines(text string, found func(url string)) (values int, wrong string) {
	for line := range strings.Lines(text) {
		if line = strings.Trim(line, "\x1e \t\r\n"); line == "" {
			continue
		}
		n, bad := ReadJSON(line, found)
		if bad != "" && (wrong == "" || bad == BadSyntax) {
			wrong = bad
		}
		if bad == "" {
			values += n
		}
	}
	return values, wrong
}

// isURL tells whether the whole string is a URL that a crawl can fetch.
func isURL(s string) bool {
	return urls.IsAbsolute(s) && len(s) <= maxURLBytes && !strings.ContainsAny(s, " \t\r\n<>\"")
}

const maxURLBytes = 6 << 10

// Table describes a CSV file.
type Table struct {
	// Columns are the cells of the first row, the header in most files.
	Columns []string
	// Rows is the number of rows, the first one included.
	Rows  int
	Wrong string
}

// maxColumns bounds Table.Columns.
const maxColumns = 256

// ReadCSV reads a table (RFC 4180). Commas, semicolons, tabs or bars separate its cells: the one
// that is most frequent in the first line. It calls found with each cell that is a URL.
func ReadCSV(text string, found func(url string)) Table {
	r := csv.NewReader(strings.NewReader(strings.TrimPrefix(text, "\ufeff")))
	r.Comma, r.LazyQuotes, r.FieldsPerRecord, r.ReuseRecord = separator(text), true, -1, true
	var t Table
	cells := 0
	for {
		row, err := r.Read()
		switch {
		case errors.Is(err, io.EOF):
			return t
		case err != nil:
			t.Wrong = BadSyntax
			return t
		}
		if t.Rows++; t.Rows == 1 {
			cells = len(row)
			for _, cell := range row[:min(len(row), maxColumns)] {
				t.Columns = append(t.Columns, strings.TrimSpace(cell))
			}
		} else if len(row) != cells {
			t.Wrong = Uneven
		}
		for _, cell := range row {
			if cell = strings.TrimSpace(cell); isURL(cell) {
				found(cell)
			}
		}
	}
}

func separator(text string) rune {
	line, _, _ := strings.Cut(text[:min(len(text), 64<<10)], "\n")
	best, most := ',', 0
	for _, c := range ",;\t|" {
		if n := strings.Count(line, string(c)); n > most {
			best, most = c, n
		}
	}
	return best
}

// URLs calls found with each URL in a text. A URL begins with http:// or https://, not directly
// behind a letter. It ends at white space or at a delimiter of URLs (RFC 3986, appendix C). Letters beyond
// ASCII belong to it, but not those of languages that may write a word directly behind it. Punctuation and
// brackets at its end do not belong to it.
func URLs(text string, found func(url string)) {
	for at := 0; ; {
		i := strings.Index(text[at:], "://")
		if i < 0 {
			return
		}
		from, rest := at+i, at+i+3
		at = rest
		switch {
		case strings.HasSuffix(text[:from], "http"):
			from -= 4
		case strings.HasSuffix(text[:from], "https"):
			from -= 5
		default:
			continue
		}
		if from > 0 && isWord(text[from-1]) {
			continue
		}
		end := urlEnd(text, rest)
		if end > rest && end-from <= maxURLBytes {
			found(text[from:end])
		}
		at = end
	}
}

func isWord(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9'
}

// urlEnd returns where a URL ends whose host begins at a place.
func urlEnd(text string, from int) int {
	end := from
	open := 0 // brackets that are open in the URL
	for end < len(text) && end-from <= maxURLBytes {
		size := urlRune(text[end:])
		if size == 0 {
			break
		}
		switch text[end] {
		case '(':
			open++
		case ')':
			if open--; open < 0 {
				return trimmed(text, from, end)
			}
		}
		end += size
	}
	return trimmed(text, from, end)
}

// urlRune returns how many bytes the character has at the beginning of a text; 0: it does not belong to a URL.
func urlRune(text string) int {
	if c := text[0]; c < utf8.RuneSelf {
		if c <= ' ' || c == 0x7f || strings.IndexByte("<>\"`\\^{}|[]", c) >= 0 {
			return 0
		}
		return 1
	}
	r, size := utf8.DecodeRuneInString(text)
	if !unicode.In(r, unicode.L, unicode.M, unicode.Nd) || unicode.In(r, withoutSpaces...) {
		return 0
	}
	return size
}

// withoutSpaces are the scripts in which words need no space around a URL.
var withoutSpaces = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Bopomofo, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tibetan,
}

// trimmed is the end of text[from:end] without punctuation.
func trimmed(text string, from, end int) int {
	for end > from && strings.IndexByte(".,;:!?'*_~", text[end-1]) >= 0 {
		end--
	}
	return end
}
