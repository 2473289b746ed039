package robots

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/weftcrawl/weft/internal/httpfield"
)

const (
	// TTL is how long rules hold at most, and if the response does not say (RFC 9309 section 2.4).
	TTL = 24 * time.Hour
	// MinTTL is how long they hold at least, whatever the response says: no
	// server wants its robots.txt to be its most requested page.
	MinTTL = time.Hour
)

// Lifetime is how long the rules of a response hold by its Cache-Control, or by its Expires and
// Date if Cache-Control names no time (RFC 9111 section 4.2.1). It gets the values of a header by
// name. It is between MinTTL and TTL.
func Lifetime(values func(name string) []string) time.Duration {
	fresh, ok := maxAge(strings.Join(values("Cache-Control"), ","))
	if !ok {
		fresh, ok = untilExpiry(first(values("Date")), first(values("Expires")))
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
		directive, cacheControl, _ = httpfield.Cut(cacheControl)
		name, value, _ := strings.Cut(strings.TrimSpace(directive), "=")
		switch strings.ToLower(name) {
		case "no-store", "no-cache":
			return 0, true
		case "max-age":
			value = strings.Trim(value, `"`)
			seconds, err := strconv.ParseUint(value, 10, 31)
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

// first is the value that counts of a header that has one, and may have been
// written twice.
func first(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[0]
}

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// untilExpiry is the time between two dates, each in one of the three forms of RFC 9110 section
// 5.6.7. An Expires that is not a date, such as 0, has passed (RFC 9111 section 5.3).
func untilExpiry(date, expires string) (fresh time.Duration, ok bool) {
	if expires == "" {
		return 0, false
	}
	end, err := http.ParseTime(expires)
	if err != nil {
		return 0, true
	}
	from, err := http.ParseTime(date)
	if err != nil {
		return 0, false // our clock is not the server's
	}
	return end.Sub(from), true
}
