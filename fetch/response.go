package fetch

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/weftcrawl/weft/mediatype"
)

// maxHeaderFields bounds the fields of a response header, each folded line
// counted as one; curl has the same bound. Small fields cost much more memory
// than their bytes.
const maxHeaderFields = 5000

var errTooManyFields = failf(ClassHeaderTooLarge, "more than %d header fields", maxHeaderFields)

// contradiction returns why the header of a response cannot be the answer to
// what was asked, nil if it can. Such a response is bad_response, and its body
// is not read:
//
//   - A version that is not the connection's.
//   - A status that is none. Those from 600 to 999 are left to the caller, who
//     should take them for 5xx (RFC 9110 section 15).
//   - A final 1xx: nobody asked to switch protocols.
//   - 206 that is not the whole, for nobody asked for a part (section 15.3.7).
//     Whether it is as long as it says is seen when it is read ([wrongLength]).
//   - 304 when the request had no condition (section 15.4.5).
//   - A header of HTTP/2 that is about a connection, or names no length that
//     could be true ([malformed]).
//   - Several values of Location, of which any may be meant; browsers refuse
//     that too, since it is how a response is split.
func contradiction(resp *http.Response, http1, conditional bool) error {
	switch status := resp.StatusCode; {
	case resp.ProtoMajor != 1 && resp.ProtoMajor != 2 || http1 && resp.ProtoMajor != 1:
		return failf(ClassBadResponse, "version %s in an exchange of another", resp.Proto)
	case status < 200 || !isStatus(status):
		return failf(ClassBadResponse, "status %d cannot end an exchange", status)
	case status == http.StatusPartialContent && !isWhole(resp.Header):
		return failf(ClassBadResponse, "part of a body, Content-Range %q, that nobody asked for", resp.Header["Content-Range"])
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

// malformed returns why a response of HTTP/2 is malformed although net/http does
// not say so: it has a field of connections (RFC 9113 section 8.2.2), which
// HTTP/1.1 would obey, or a length that is no number, or several, with which
// the frames cannot agree (section 8.1.1).
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

// isEmpty reports whether a response has no body whatever its fields say (RFC
// 9110 section 6.4.1).
func isEmpty(status int) bool {
	return status == http.StatusNoContent || status == http.StatusNotModified
}

// isStatus reports whether a status has the three digits of one.
func isStatus(status int) bool { return status >= 100 && status <= 999 }

// isWhole reports whether the header of a 206 promises one part that is all
// that there is. Several parts have a Content-Range each, in the body (RFC 9110
// section 15.3.7.2).
func isWhole(h http.Header) bool {
	ranges := h["Content-Range"]
	return len(ranges) == 1 && wholeSize(ranges[0]) > 0 && mediaOf(h) != "multipart/byteranges"
}

// mediaOf returns the essence of the Content-Type. Several lines are one list (WHATWG
// Fetch, extract a MIME type).
func mediaOf(h http.Header) string {
	return mediatype.Of(strings.Join(h.Values("Content-Type"), ",")).Essence
}

// wholeSize returns the size of what a Content-Range (RFC 9110 section 14.4)
// says is all that there is: 100 of "bytes 0-99/100". It is 0 of a part.
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

// wrongLength returns why the body of resp, of n bytes before decoding, is not
// the whole that a 206 promised; nil if it is, or there was no such promise.
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

// doubtful reports whether the framing of an HTTP/1.x response is said in two
// ways, of which a recipient in between may have believed the other: the
// response is read as RFC 9112 section 6.3 says, and nothing more is read from
// its connection (section 6.1).
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
