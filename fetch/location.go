package fetch

import (
	"fmt"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/nlnwa/whatwg-url/url"
)

// redirectTarget returns the absolute target of a redirect: Location resolved
// against the URL of the request as browsers do it (WHATWG URL; RFC 9110
// section 10.2.2). Empty when resp is no redirect, or names no URL. The target
// may have any scheme.
func redirectTarget(resp *http.Response, base string) string {
	switch resp.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
	default:
		return ""
	}
	location := resp.Header.Get("Location")
	if location == "" {
		return ""
	}
	u, err := url.ParseRef(base, escapeBytes(location))
	if err != nil {
		return ""
	}
	return u.Href(false)
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
