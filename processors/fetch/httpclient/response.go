package httpclient

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/weftcrawl/weft/internal/mediatype"
	"github.com/weftcrawl/weft/internal/politeness"
	"github.com/weftcrawl/weft/internal/urls"
)

// maxHeaderFields bounds the fields of a response header. Each folded line counts as one.
// curl has the same bound. Small fields cost much more memory than their bytes.
const maxHeaderFields = 5000

var errTooManyFields = failf(ClassHeaderTooLarge, "more than %d header fields", maxHeaderFields)

// contradiction returns why the header of a response cannot be the answer to the request; nil
// if it can. Such a response is bad_response, and its body is not read:
//
//   - A version that is not the connection's.
//   - An invalid status. The caller should take a status from 600 to 999 for 5xx (RFC 9110
//     section 15).
//   - A final 1xx: the request did not ask to switch protocols.
//   - 206 that is not the whole, because the request did not ask for a part (section
//     15.3.7). Whether it is as long as it says is checked when it is read ([wrongLength]).
//   - 304 when the request had no condition (section 15.4.5).
//   - A header of HTTP/2 with a field of connections, or with an impossible length
//     ([malformed]).
//   - Several values of Location. It is unclear which one is meant. Browsers refuse that
//     too, since it is a way to split a response.
func contradiction(resp *http.Response, http1, conditional bool) error {
	switch status := resp.StatusCode; {
	case resp.ProtoMajor != 1 && resp.ProtoMajor != 2 || http1 && resp.ProtoMajor != 1:
		return failf(ClassBadResponse, "version %s in an exchange of another", resp.Proto)
	case status < 200 || !isStatus(status):
		return failf(ClassBadResponse, "status %d cannot end an exchange", status)
	case status == http.StatusPartialContent && !isWhole(resp.Header):
		return failf(ClassBadResponse, "part of a body, Content-Range %q, that was not asked for", resp.Header["Content-Range"])
	case status == http.StatusNotModified && !conditional:
		return failf(ClassBadResponse, "status 304 to a request without a condition")
	}
	if resp.ProtoMajor == 2 {
		if err := malformed(resp); err != nil {
			return err
		}
	}
	if list := resp.Header["Location"]; len(list) > 1 && slices.ContainsFunc(list, func(l string) bool { return l != list[0] }) {
		return failf(ClassBadResponse, "%d values of Location", len(list))
	}
	return nil
}

// malformed returns why a response of HTTP/2 is malformed although net/http accepts it. It has
// a field of connections (RFC 9113 section 8.2.2), which HTTP/1.1 would obey. Or its length
// is not a number, or there are several lengths, so that the frames cannot match (section
// 8.1.1).
func malformed(resp *http.Response) error {
	for _, name := range []string{"Connection", "Proxy-Connection", "Keep-Alive", "Transfer-Encoding", "Upgrade"} {
		if _, found := resp.Header[name]; found {
			return failf(ClassBadResponse, "field %s in HTTP/2", name)
		}
	}
	if lengths := resp.Header["Content-Length"]; len(lengths) > 0 && resp.ContentLength < 0 {
		return failf(ClassBadResponse, "Content-Length %q", lengths)
	}
	return nil
}

// isEmpty reports whether a response has no body, whatever its fields say (RFC 9110 section
// 6.4.1).
func isEmpty(status int) bool {
	return status == http.StatusNoContent || status == http.StatusNotModified
}

func isStatus(status int) bool { return status >= 100 && status <= 999 }

// isWhole reports whether the header of a 206 promises one part that is the whole. Several
// parts have a Content-Range each, in the body (RFC 9110 section 15.3.7.2).
func isWhole(h http.Header) bool {
	ranges := h["Content-Range"]
	return len(ranges) == 1 && wholeSize(ranges[0]) > 0 && mediaOf(h) != "multipart/byteranges"
}

// mediaOf returns the essence of the Content-Type. Several lines are one list (WHATWG Fetch,
// extract a MIME type).
func mediaOf(h http.Header) string {
	return mediatype.Of(strings.Join(h.Values("Content-Type"), ",")).Essence
}

// wholeSize returns the size of a Content-Range (RFC 9110 section 14.4) that is the whole: 100
// for "bytes 0-99/100". It is 0 for a part.
func wholeSize(contentRange string) int64 {
	unit, spec, _ := strings.Cut(contentRange, " ")
	bounds, size, ok := strings.Cut(spec, "/")
	first, last, _ := strings.Cut(bounds, "-")
	end, errEnd := strconv.ParseUint(last, 10, 63)
	whole, errWhole := strconv.ParseUint(size, 10, 63)
	if !ok || !strings.EqualFold(unit, "bytes") || first != "0" || errEnd != nil || errWhole != nil || end+1 != whole {
		return 0
	}
	return int64(whole)
}

// wrongLength returns why the body of resp, of n bytes before decoding, is not the whole body that
// a 206 promised. It is nil if the body is whole, or if there was no such promise.
func wrongLength(resp *http.Response, n int64) error {
	if resp.StatusCode != http.StatusPartialContent {
		return nil
	}
	switch size := wholeSize(resp.Header.Get("Content-Range")); {
	case n < size:
		return failf(ClassBodyTruncated, "%d bytes of a body of %d", n, size)
	case n > size:
		return failf(ClassBadResponse, "%d bytes of a body of %d", n, size)
	}
	return nil
}

// doubtful reports whether the framing of an HTTP/1.x response is given in two ways. A proxy
// may have followed the other one. The response is read as RFC 9112 section 6.3 says, and
// nothing more is read from its connection (section 6.1).
func doubtful(resp *http.Response, fields []Header) bool {
	if resp.ProtoMajor != 1 || resp.ProtoMinor > 0 && len(resp.TransferEncoding) == 0 {
		return false
	}
	return slices.ContainsFunc(fields, func(h Header) bool {
		if resp.ProtoMinor == 0 {
			return strings.EqualFold(h.Name, "Transfer-Encoding")
		}
		return strings.EqualFold(h.Name, "Content-Length")
	})
}

// redirectTarget is where a redirect leads: Location resolved against the URL of the request
// as browsers do it (WHATWG URL; RFC 9110 section 10.2.2), with its fragment. If its scheme
// is not http or https, or it is longer than any URL of a crawl, it is what the server wrote,
// so that the reason of its refusal can be named. It is empty when resp is not a redirect, or
// names no URL.
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

// escapeBytes makes ASCII of a value that is not UTF-8, and keeps its bytes: servers send
// paths in the encoding of their file names.
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

// retryAfter returns how long a Retry-After asks to wait (RFC 9110 section 10.2.3), between 0
// and politeness.MaxRetryAfter; 0 for one that is absent or not understood. A date counts from the response's
// Date if it has one, since the server's clock wrote both, and otherwise from now.
func retryAfter(value, date string, now time.Time) time.Duration {
	value = strings.TrimSpace(value)
	if value == "" {
		return 0
	}
	if strings.Trim(value, "0123456789") == "" {
		seconds, err := strconv.ParseInt(value, 10, 64)
		if err != nil || seconds > int64(politeness.MaxRetryAfter/time.Second) {
			return politeness.MaxRetryAfter
		}
		return time.Duration(seconds) * time.Second
	}
	until, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	if sent, err := http.ParseTime(date); err == nil {
		now = sent
	}
	return min(max(until.Sub(now), 0), politeness.MaxRetryAfter)
}
