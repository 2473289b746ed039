package fields

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/weftcrawl/weft/processors/parse/extract"
	"github.com/weftcrawl/weft/processors/parse/sitemap"
)

// kind is the type of a field.
type kind string

// Kinds of fields. The zero value is text.
const (
	text    kind = ""
	number  kind = "number"
	integer kind = "integer"
	date    kind = "date"
	link    kind = "url"
	money   kind = "money"
	exists  kind = "exists"
)

var kinds = []kind{"text", number, integer, date, link, money, exists}

// maxValue bounds a value in bytes.
const maxValue = 16 << 10

// raw is what a field has of a node before it gets its type, on one line.
func (f *field) raw(n *html.Node) (string, bool) {
	if f.attr != "" {
		for _, a := range n.Attr {
			if a.Key == f.attr {
				return extract.OneLine(a.Val, maxValue), true
			}
		}
		return "", false
	}
	var b strings.Builder
	collect(&b, n)
	return extract.OneLine(b.String(), maxValue), true
}

// collect adds the text in a node, with blanks where lines and cells are.
func collect(b *strings.Builder, root *html.Node) {
	for n := range root.Descendants() {
		switch {
		case b.Len() > 4*maxValue:
			return
		case n.Type == html.TextNode:
			switch n.Parent.DataAtom {
			case atom.Script, atom.Style, atom.Noscript, atom.Template:
				continue
			}
			b.WriteString(n.Data)
		case n.Type == html.ElementNode && !isInline(n.DataAtom):
			b.WriteByte(' ')
		}
		for m := n; n.FirstChild == nil && m != root && m.NextSibling == nil; m = m.Parent { // the ends of elements
			if p := m.Parent; p != root && !isInline(p.DataAtom) {
				b.WriteByte(' ')
			}
		}
	}
}

func isInline(a atom.Atom) bool {
	switch a {
	case atom.A, atom.Abbr, atom.B, atom.Bdi, atom.Bdo, atom.Big, atom.Cite, atom.Code, atom.Data, atom.Del, atom.Dfn, atom.Em, atom.Font,
		atom.I, atom.Ins, atom.Kbd, atom.Mark, atom.Q, atom.S, atom.Samp, atom.Small, atom.Span, atom.Strong, atom.Sub, atom.Sup, atom.Time,
		atom.Tt, atom.U, atom.Var, atom.Wbr, 0:
		return true
	}
	return false
}

// numberIn is the first number of a text.
var numberIn = regexp.MustCompile(`[-+−]?\d(?:[\d.,'’\x{00A0}\x{202F} ]*\d)?`)

// decimal writes the first number of a text as JSON does. mark is the decimal mark; 0: it is the
// last point or comma, unless it parts groups of three.
func decimal(text string, mark byte) (string, bool) {
	found := numberIn.FindString(text)
	if found == "" {
		return "", false
	}
	sign := ""
	switch {
	case strings.HasPrefix(found, "-"), strings.HasPrefix(found, "−"):
		sign = "-"
	}
	found = strings.TrimLeft(found, "+-−")
	if mark == 0 {
		mark = markOf(found)
	}
	whole, part := found, ""
	if at := strings.LastIndexByte(found, mark); mark != 0 && at >= 0 {
		whole, part = found[:at], found[at+1:]
	}
	whole = strings.TrimLeft(digits(whole), "0")
	if whole == "" {
		whole = "0"
	}
	if part = digits(part); part != "" {
		part = "." + part
	}
	if len(whole)+len(part) > 40 {
		return "", false
	}
	return sign + whole + part, true
}

// markOf is the decimal mark of a number; 0: it has none.
func markOf(number string) byte {
	point, comma := strings.LastIndexByte(number, '.'), strings.LastIndexByte(number, ',')
	mark := byte('.')
	if comma > point {
		mark = ','
	}
	at := max(point, comma)
	switch {
	case at < 0:
		return 0
	case point >= 0 && comma >= 0: // both: the last one
		return mark
	case strings.Count(number, string(mark)) > 1: // 1.234.567
		return 0
	case len(number)-at-1 == 3 && mark == ',' && at <= 3: // 1,234; but 1.234 is a fraction
		return 0
	}
	return mark
}

func digits(s string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, s)
}

// symbols are the currencies of symbols. Several countries use some of them: then it is the
// one with the most money.
var symbols = []struct{ symbol, code string }{
	{"US$", "USD"}, {"A$", "AUD"}, {"C$", "CAD"}, {"NZ$", "NZD"}, {"R$", "BRL"}, {"HK$", "HKD"}, {"S$", "SGD"}, {"€", "EUR"}, {"£", "GBP"},
	{"¥", "JPY"}, {"₹", "INR"}, {"₽", "RUB"}, {"₩", "KRW"}, {"₺", "TRY"}, {"₴", "UAH"}, {"₫", "VND"}, {"₪", "ILS"}, {"zł", "PLN"}, {"Kč", "CZK"},
	{"Ft", "HUF"}, {"$", "USD"},
}

var code = regexp.MustCompile(`\b[A-Z]{3}\b`)

func isCurrency(text string) bool { return len(text) == 3 && code.MatchString(text) }

// currencyIn is the currency that a text names, or else the one of the field.
func (f *field) currencyIn(text string) string {
	if found := code.FindString(text); found != "" {
		return found
	}
	for _, s := range symbols {
		if strings.Contains(text, s.symbol) {
			if s.symbol == "$" && f.currency != "" {
				return f.currency
			}
			return s.code
		}
	}
	return f.currency
}

// dateOf writes a date in the form of RFC 3339, without a time if the text has none.
func (f *field) dateOf(text string) (string, bool) {
	for _, format := range f.formats {
		t, err := time.Parse(format, text)
		if err != nil {
			continue
		}
		switch {
		case !strings.Contains(format, "15") && !strings.Contains(format, "03"):
			return t.Format(time.DateOnly), true
		case !strings.Contains(format, "07"):
			return t.Format("2006-01-02T15:04:05"), true
		}
		return t.Format(time.RFC3339), true
	}
	if len(f.formats) > 0 {
		return "", false
	}
	t := sitemap.Date(text)
	switch {
	case t.IsZero():
		return "", false
	case !strings.Contains(text, ":"):
		return t.Format(time.DateOnly), true
	}
	return t.Format(time.RFC3339), true
}

// parts of formats of dates, the longest first.
var parts = strings.NewReplacer(
	"YYYY", "2006", "YY", "06", "MMMM", "January", "MMM", "Jan", "MM", "01", "M", "1", "DDDD", "Monday", "DDD", "Mon", "DD", "02", "D", "2",
	"HH", "15", "hh", "03", "h", "3", "mm", "04", "ss", "05", "A", "PM", "Z", "Z07:00",
)

// layout makes a layout of package time of a format such as DD.MM.YYYY HH:mm.
func layout(format string) string { return parts.Replace(format) }

// typed writes a value as JSON. The error is empty, or says what is wrong.
func (f *field) typed(dst []byte, text string, resolve func(string) (string, bool)) ([]byte, string) {
	switch f.kind {
	case number, integer:
		n, ok := decimal(text, f.decimal)
		if _, fraction, found := strings.Cut(n, "."); !ok || f.kind == integer && found && strings.Trim(fraction, "0") != "" {
			return dst, "not_" + string(f.kind)
		}
		if f.kind == integer {
			n, _, _ = strings.Cut(n, ".")
		}
		return append(dst, n...), ""
	case date:
		d, ok := f.dateOf(text)
		if !ok {
			return dst, "not_date"
		}
		return strconv.AppendQuote(dst, d), ""
	case link:
		u, ok := resolve(text)
		if !ok {
			return dst, "not_url"
		}
		return appendText(dst, u), ""
	case money:
		amount, ok := decimal(text, f.decimal)
		currency := f.currencyIn(text)
		if !ok || currency == "" {
			return dst, "not_money"
		}
		// The amount is a text: a number of JSON is a binary fraction for most readers.
		return append(dst, `{"amount":"`+amount+`","currency":"`+currency+`"}`...), ""
	}
	return appendText(dst, text), ""
}
