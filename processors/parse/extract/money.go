package extract

import (
	"regexp"
	"strings"
)

// numberIn is the first number of a text.
var numberIn = regexp.MustCompile(`[-+−]?\d(?:[\d.,'’\x{00A0}\x{202F} ]*\d)?`)

// Decimal writes the first number of a text as JSON does. mark is the decimal mark; 0: it is the
// last point or comma, unless it parts groups of three.
func Decimal(text string, mark byte) (string, bool) {
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

// IsCurrency tells whether a text has the form of a code of ISO 4217.
func IsCurrency(text string) bool { return len(text) == 3 && code.MatchString(text) }

// Currency returns the code of the currency that a text names. Without one it is preferred, and so it is
// for a dollar sign, if it is not empty.
func Currency(text, preferred string) string {
	if found := code.FindString(text); found != "" {
		return found
	}
	for _, s := range symbols {
		if strings.Contains(text, s.symbol) {
			if s.symbol == "$" && preferred != "" {
				return preferred
			}
			return s.code
		}
	}
	return preferred
}
