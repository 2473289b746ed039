package fetch

import (
	"fmt"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/weftcrawl/weft/urls"
)

// redirectTarget is where a redirect leads: Location resolved against the URL of
// the request as browsers do it (WHATWG URL; RFC 9110 section 10.2.2), with its
// fragment. Of another scheme, or longer than any URL of a crawl, it is what the
// server wrote, for whoever refuses it to name the reason. Empty when resp is no
// redirect, or names no URL.
func redirectTarget(resp *http.Response, base string) string {
	switch resp.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
	default:
		return ""
	}
	location := escapeBytes(resp.Header.Get("Location"))
	if location == "" {
		return ""
	}
	from, _ := urls.Parse(base)
	to, refusal := urls.NewBase(from).Resolve(location)
	switch {
	case refusal == urls.Accepted:
		if hash := strings.IndexByte(location, '#'); hash >= 0 {
			return to.String() + location[hash:]
		}
		return to.String()
	case refusal == urls.TooLong, refusal.NotCrawlable():
		return location
	default:
		return ""
	}
}

// escapeBytes makes ASCII of a value that is not UTF-8, keeping its bytes:
// servers send paths in whatever encoding their files are named.
func escapeBytes(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for i := range len(s) {
		if s[i] < utf8.RuneSelf {
			b.WriteByte(s[i])
		} else {
			fmt.Fprintf(&b, "%%%02X", s[i])
		}
	}
	return b.String()
}
