package fields

import (
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/html"

	"github.com/weftcrawl/weft/processors/parse/dates"
	"github.com/weftcrawl/weft/processors/parse/extract"
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
	text, _ := extract.TextOf(n, 4*maxValue)
	return extract.OneLine(text, maxValue), true
}

// dateOf writes a date in the form of RFC 3339, without a time if the format has none.
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
	date := dates.Format(text)
	return date, date != ""
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
		n, ok := extract.Decimal(text, f.decimal)
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
		amount, ok := extract.Decimal(text, f.decimal)
		currency := extract.Currency(text, f.currency)
		if !ok || currency == "" {
			return dst, "not_money"
		}
		// The amount is a text: a number of JSON is a binary fraction for most readers.
		return append(dst, `{"amount":"`+amount+`","currency":"`+currency+`"}`...), ""
	}
	return appendText(dst, text), ""
}
