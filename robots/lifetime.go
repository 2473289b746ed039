package robots

import (
	"strconv"
	"strings"
	"time"
)

const (
	// TTL is how long rules hold at most, and when the response says nothing of
	// it (RFC 9309 section 2.4).
	TTL = 24 * time.Hour
	// MinTTL is how long they hold at least, whatever the response says: no
	// server wants its robots.txt to be its most requested page.
	MinTTL = time.Hour
)

// Lifetime is how long the rules of a response hold by its Cache-Control, or its
// Expires and Date when that names no time (RFC 9111 section 4.2.1), given a
// header's first value by name. It is between MinTTL and TTL.
func Lifetime(header func(name string) string) time.Duration {
	fresh, ok := maxAge(header("Cache-Control"))
	if !ok {
		fresh, ok = untilExpiry(header("Date"), header("Expires"))
	}
	if !ok {
		return TTL
	}
	return min(max(fresh, MinTTL), TTL)
}

// maxAge is the time that a Cache-Control gives; no-store and no-cache give
// none. Private caches do not heed s-maxage.
func maxAge(cacheControl string) (age time.Duration, ok bool) {
	for cacheControl != "" {
		var directive string
		directive, cacheControl, _ = strings.Cut(cacheControl, ",")
		name, value, _ := strings.Cut(strings.TrimSpace(directive), "=")
		switch strings.ToLower(name) {
		case "no-store", "no-cache":
			return 0, true
		case "max-age":
			seconds, err := strconv.ParseUint(strings.Trim(value, `"`), 10, 31)
			switch {
			case ok: // the first one counts
			case err == nil:
				age, ok = time.Duration(seconds)*time.Second, true
			case isNumber(value):
				age, ok = TTL, true // more than can be told
			}
		}
	}
	return age, ok
}

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// untilExpiry is the time between two dates. An Expires that is no date, such as
// 0, is over (RFC 9111 section 5.3).
func untilExpiry(date, expires string) (fresh time.Duration, ok bool) {
	if expires == "" {
		return 0, false
	}
	end, err := time.Parse(httpDate, expires)
	if err != nil {
		return 0, true
	}
	from, err := time.Parse(httpDate, date)
	if err != nil {
		return 0, false // our clock is not the server's
	}
	return end.Sub(from), true
}

// httpDate is the form in which dates are sent (RFC 9110 section 5.6.7).
const httpDate = "Mon, 02 Jan 2006 15:04:05 GMT"
