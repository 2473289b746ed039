package traps

import "strings"

// kindOf is the placeholder of a segment, or of a value.
func kindOf(s string) string {
	var digits, letters, hexLetters, marks, changes int
	class := byte(0)
	for i := 0; i < len(s); i++ {
		c := s[i]
		now := byte('m')
		switch {
		case c == '%' && i+2 < len(s): // a letter of another alphabet, mostly
			letters++
			now = 'l'
			i += 2
		case '0' <= c && c <= '9':
			digits++
			now = 'd'
		case isLetter(c):
			letters++
			now = 'l'
			if c|0x20 <= 'f' {
				hexLetters++
			}
		default:
			marks++
		}
		if now != class && now != 'm' && class != 'm' && class != 0 {
			changes++ // between letters and digits
		}
		class = now
	}
	switch {
	case digits == 0:
		if letters >= 20 && marks == 0 && isRandom(s) {
			return hash
		}
		return word
	case letters == 0 && marks == 0:
		return numberKind(s)
	case letters == 0:
		if isDate(s) {
			return date
		}
		return number // 12.5, 1-2, 49,00
	case isHex(s, digits, hexLetters, letters), marks == 0 && changes >= 4 && len(s) >= 8, len(s) >= 24 && changes >= 4:
		return hash
	}
	return wordDigit
}

// numberKind tells years and dates from other numbers.
func numberKind(digits string) string {
	switch {
	case len(digits) == 4 && isYear(digits):
		return year
	case len(digits) == 8 && isYear(digits) && isMonth(digits[4:6]) && digits[6] <= '3':
		return date
	}
	return number
}

// isDate tells whether text of digits and marks is a date: 2024-05-01, 2024-5,
// 01.05.2024.
func isDate(s string) bool {
	parts := strings.FieldsFunc(s, func(r rune) bool { return r < '0' || r > '9' })
	if len(parts) < 2 || len(parts) > 3 {
		return false
	}
	first, last := parts[0], parts[len(parts)-1]
	for _, p := range parts[1 : len(parts)-1] {
		if len(p) > 2 {
			return false
		}
	}
	switch {
	case len(first) == 4:
		return isYear(first) && len(last) <= 2
	case len(last) == 4:
		return isYear(last) && len(first) <= 2
	}
	return false
}

func isYear(s string) bool { return s[:2] == "19" || s[:2] == "20" || s[:2] == "21" }

func isMonth(s string) bool { return s[0] == '0' && s[1] > '0' || s[0] == '1' && s[1] <= '2' }

// isHex tells whether s is an identifier in hexadecimal: eight digits and more,
// with hyphens as UUIDs have them.
func isHex(s string, digits, hexLetters, letters int) bool {
	return hexLetters == letters && digits+letters >= 8 && digits+letters+strings.Count(s, "-") == len(s)
}

// isRandom tells whether letters are not a word: upper and lower case alternate as no language
// does it.
func isRandom(s string) bool {
	changes := 0
	for i := 1; i < len(s); i++ {
		if s[i]&0x20 != s[i-1]&0x20 {
			changes++
		}
	}
	return changes*4 >= len(s)
}

func isLetter(c byte) bool {
	c |= 0x20
	return 'a' <= c && c <= 'z'
}

// pagers are the names by which sites number pages of a list, in paths and in
// queries.
var pagers = map[string]bool{
	"page": true, "p": true, "pg": true, "paged": true, "pageno": true, "pagenum": true, "seite": true, "pagina": true,
	"offset": true, "start": true, "from": true, "skip": true, "cursor": true, "after": true, "before": true,
}

// calendars are the names of dates.
var calendars = map[string]bool{
	"date": true, "day": true, "month": true, "year": true, "week": true, "time": true, "calendar": true, "cal": true,
	"events": true, "agenda": true, "kalender": true, "datum": true, "monat": true, "jahr": true,
}

// sessions are the names of parameters that tell visitors apart.
var sessions = map[string]bool{
	"sid": true, "session": true, "sessionid": true, "session_id": true, "phpsessid": true, "jsessionid": true,
	"aspsessionid": true, "cfid": true, "cftoken": true, "token": true, "visitor": true,
}

// pager is the name in front of the number of a page: "page" of page12 and page-12; empty if s
// does not have this form.
func pager(s string) string {
	i := strings.IndexAny(s, "0123456789")
	name := strings.TrimRight(s[:max(i, 0)], "-_")
	rest := strings.TrimLeft(s[max(i, 0):], "0123456789")
	if rest != "" || !pagers[strings.ToLower(name)] {
		return ""
	}
	return s[:i]
}
