// Package dates reads dates as pages, feeds and sitemaps write them.
package dates

import (
	"strconv"
	"strings"
	"time"
)

// layouts are the forms of dates: W3C (NOTE-datetime), RSS (RFC 822), and forms that are often
// written instead.
var layouts = []string{
	time.RFC3339Nano, "2006-01-02T15:04Z07:00", "2006-01-02", "2006-01", "2006",
	"2006-01-02T15:04:05.999999999", "2006-01-02T15:04", "2006-01-02T15:04:05.999999999Z0700", "2006-01-02T15:04:05.999999999 Z0700",
	"2006-01-02T15:04:05.999999999 Z07:00", "2006-01-02T15Z07:00", "2006-01-02T15",
	"2006-01-02 15:04:05.999999999", "2006-01-02 15:04:05.999999999Z07:00", "2006-01-02 15:04:05.999999999 Z07:00",
	"2006-01-02 15:04:05.999999999 Z0700", "2006-01-02 15:04:05.999999999Z0700", "2006-01-02 15:04:05 MST", "2006-01-02 15:04",
	"2006-01-02Z07:00", "2006-1-2", "2006/01/02", "2006/1/2", "2006/01/02 15:04:05", "20060102", "20060102T150405Z07:00", "20060102150405",
	"2.1.2006", "2.1.2006 15:04", "2.1.2006 15:04:05",
	time.RFC1123Z, time.RFC1123, "Mon, 2 Jan 2006 15:04:05 -0700", "Mon, 2 Jan 2006 15:04:05 MST", "Mon, 2 Jan 2006 15:04 MST",
	"Mon, 2 Jan 2006 15:04 -0700", "2 Jan 2006 15:04:05 -0700", "2 Jan 2006 15:04:05 MST", "2 Jan 2006", "Mon, 2 Jan 2006",
	time.ANSIC, time.UnixDate, time.RFC850, "January 2, 2006", "Jan 2, 2006", "2 January 2006",
	"Mon Jan 2 2006 15:04:05 GMT-0700", // Date.prototype.toString of JavaScript
}

// years are the years that count. The web began in 1990. Pages that never change often have dates
// far ahead, which do not count.
const (
	firstYear = 1990
	lastYear  = 2100
)

// zones are how far the zones with a name are ahead of UTC (RFC 822 section 5.1, and those of Central Europe).
// Go knows only the names of one place, by default of the machine's own, and takes all others for UTC.
var zones = map[string]time.Duration{
	"EST": -5 * time.Hour, "EDT": -4 * time.Hour, "CST": -6 * time.Hour, "CDT": -5 * time.Hour,
	"MST": -7 * time.Hour, "MDT": -6 * time.Hour, "PST": -8 * time.Hour, "PDT": -7 * time.Hour,
	"CET": time.Hour, "CEST": 2 * time.Hour,
}

// Parse reads a date in a W3C form, or in one of the usual wrong forms. A date without a zone is
// in UTC, and so is a date with a zone that is not known. Parse returns the zero time if the text is not a date.
func Parse(text string) time.Time {
	text = uncommented(text)
	if text == "" || len(text) > 64 {
		return time.Time{}
	}
	if t := unix(text); !t.IsZero() {
		return t
	}
	switch {
	case len(text) > 10 && text[10] == 't':
		text = text[:10] + "T" + text[11:]
	case len(text) > 11 && text[10] == ' ' && text[11] == 'T':
		text = text[:10] + text[11:]
	}
	if strings.HasSuffix(text, "z") {
		text = text[:len(text)-1] + "Z"
	}
	for _, layout := range layouts {
		if t, err := time.ParseInLocation(layout, text, time.UTC); err == nil && t.Year() >= firstYear && t.Year() <= lastYear {
			zone, _ := t.Zone()
			return t.Add(-zones[zone]).UTC()
		}
	}
	// A date with a time that makes no sense is still a date.
	if len(text) > 10 && text[10] != ' ' || len(text) > 11 {
		if t, err := time.Parse("2006-01-02", text[:10]); err == nil && t.Year() >= firstYear && t.Year() <= lastYear {
			return t
		}
	}
	return time.Time{}
}

// uncommented returns a text without a comment at its end (RFC 822 section 3.1.4), and with single spaces.
func uncommented(text string) string {
	text, _, _ = strings.Cut(strings.Join(strings.Fields(text), " "), " (")
	return text
}

// unix reads seconds or milliseconds since 1970.
func unix(text string) time.Time {
	if len(text) != 10 && len(text) != 13 {
		return time.Time{}
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return time.Time{}
	}
	if len(text) == 10 {
		n *= 1000
	}
	t := time.UnixMilli(n).UTC()
	if t.Year() < firstYear || t.Year() > lastYear {
		return time.Time{}
	}
	return t
}

// Format writes a date in the form of RFC 3339. If the text has only a day, a month or a year, so has
// the result. It is empty if the text is not a date.
func Format(text string) string {
	text = uncommented(text)
	t := Parse(text)
	digits := 0
	for _, c := range []byte(text) {
		if '0' <= c && c <= '9' {
			digits++
		}
	}
	switch {
	case t.IsZero():
		return ""
	case len(text) == len("2006"):
		return text
	case len(text) == len("2006-01") && digits == 6:
		return t.Format("2006-01")
	case strings.Contains(text, ":") || digits > len("20060102"):
		return t.Format(time.RFC3339)
	}
	return t.Format(time.DateOnly)
}
