package httpclient

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// framingServers say the length of a body in ways of their own (RFC 9112
// section 6.3).
func framingServers() []hostile {
	const chunked = "Transfer-Encoding: chunked\r\n"
	length := func(values ...string) string {
		var b strings.Builder
		for _, value := range values {
			b.WriteString("Content-Length: " + value + "\r\n")
		}
		return b.String()
	}
	right := fmt.Sprint(len(text))
	return []hostile{
		{"Content-Length above the length of the body", says(ok + length("1000") + "\r\n" + text), nil},
		{"Content-Length below the length of the body", says(ok + length("10") + "\r\n" + text), nil},
		{"no Content-Length, closes at the end", says(ok + "\r\n" + text), nil},
		{"two different Content-Lengths", says(ok + length(right, "10") + "\r\n" + text), nil},
		{"two equal Content-Lengths", says(ok + length(right, right) + "\r\n" + text), nil},
		{"Content-Length is a list of equal numbers", says(ok + length(right+", "+right) + "\r\n" + text), nil},
		{"negative Content-Length", says(ok + length("-1") + "\r\n" + text), nil},
		{"Content-Length with a plus sign", says(ok + length("+"+right) + "\r\n" + text), nil},
		{"hexadecimal Content-Length", says(ok + length("0x10") + "\r\n" + text), nil},
		{"Content-Length of 20 digits", says(ok + length("99999999999999999999") + "\r\n" + text), nil},
		{"empty Content-Length", says(ok + length("") + "\r\n" + text), nil},
		{"Content-Length and chunks", says(ok + length("10") + chunked + "\r\n38\r\n" + text + "\r\n0\r\n\r\n"), nil},
		{"Content-Length, announces chunks, sends a plain body", says(ok + length(right) + chunked + "\r\n" + text), nil},
		{"announces chunks in HTTP/1.0", says("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n" + length("10") + chunked + "\r\n" + text), nil},
		{"transfer coding identity", says(ok + "Transfer-Encoding: identity\r\n\r\n" + text), nil},
		{"transfer coding identity, and Content-Length", says(ok + "transfer-encoding:Identity\r\n" + length(right) + "\r\n" + text), nil},
		{"transfer codings identity and chunked, in two fields", says(ok + "Transfer-Encoding: identity\r\n" + chunked + "\r\n38\r\n" + text + "\r\n0\r\n\r\n"), nil},
		{"transfer codings identity, chunked", says(ok + "Transfer-Encoding: identity, chunked\r\n\r\n38\r\n" + text + "\r\n0\r\n\r\n"), nil},
		{"transfer coding gzip", says(ok + "Transfer-Encoding: gzip\r\n\r\n" + text), nil},
		{"transfer codings gzip, chunked", says(ok + "Transfer-Encoding: gzip, chunked\r\n\r\n" + text), nil},
		{"transfer coding chunked twice", says(ok + "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n"), nil},
		{"transfer coding chunked in two fields", says(ok + chunked + "transfer-encoding:Chunked\r\n\r\n38\r\n" + text + "\r\n0\r\n\r\n"), nil},
		{"transfer coding with a vertical tab", says(ok + "Transfer-Encoding: \vchunked\r\n\r\n0\r\n\r\n"), nil},
		{"space before the colon of Content-Length", says(ok + "Content-Length : 10\r\n\r\n" + text), nil},
		{"closes inside a chunk", says(ok + chunked + "\r\n38\r\n" + text[:20]), nil},
		{"closes before the last chunk", says(ok + chunked + "\r\n38\r\n" + text + "\r\n"), nil},
		{"closes before the end of the trailer", says(ok + chunked + "\r\n38\r\n" + text + "\r\n0\r\n"), nil},
		{"chunk size that is not a number", says(ok + chunked + "\r\nxyz\r\n" + text), nil},
		{"negative chunk size", says(ok + chunked + "\r\n-38\r\n" + text + "\r\n0\r\n\r\n"), nil},
		{"chunk size above 2^64", says(ok + chunked + "\r\n10000000000000038\r\n" + text + "\r\n0\r\n\r\n"), nil},
		{"chunk longer than its size", says(ok + chunked + "\r\n10\r\n" + text + "\r\n0\r\n\r\n"), nil},
		{"chunk without a line end", says(ok + chunked + "\r\n38\r\n" + text + "0\r\n\r\n"), nil},
		{"chunks with extensions", says(ok + chunked + "\r\n38;a=b\r\n" + text + "\r\n0;c\r\n\r\n"), nil},
		{"chunk lines that end in LF", says(ok + chunked + "\r\n38\n" + text + "\n0\n\n"), nil},
	}
}

func headerServers() []hostile {
	return []hostile{
		{"HTTP/0.9", says(text), nil},
		{"another protocol", says("SSH-2.0-OpenSSH_9.9\r\n"), nil},
		{"HTTP/2.0 in a status line", says("HTTP/2.0 200 OK\r\n\r\n" + text), nil},
		{"HTTP/3.7", says("HTTP/3.7 200 OK\r\n\r\n" + text), nil},
		{"ICY 200 OK", says("ICY 200 OK\r\n\r\n" + text), nil},
		{"empty line before the status", says("\r\n" + ok + "\r\n" + text), nil},
		{"lines that end in LF", says("HTTP/1.1 200 OK\nContent-Type: text/html\n\n" + text), nil},
		{"CR inside a field", says(ok + "X: a\rb\r\n\r\n" + text), nil},
		{"NUL inside a field", says(ok + "X: a\x00b\r\n\r\n" + text), nil},
		{"NUL inside a field name", says(ok + "X\x00: a\r\n\r\n" + text), nil},
		{"control characters inside a field", says(ok + "X: a\x01\x7fb\r\n\r\n" + text), nil},
		{"Latin-1 inside a field", says(ok + "X: caf\xe9\r\n\r\n" + text), nil},
		{"folded line", says(ok + "X: a\r\n b\r\n\r\n" + text), nil},
		{"folded line before the first field", says("HTTP/1.1 200 OK\r\n X: a\r\n\r\n" + text), nil},
		{"line without a colon", says(ok + "nothing\r\n\r\n" + text), nil},
		{"field without a name", says(ok + ": a\r\n\r\n" + text), nil},
		{"space inside a field name", says(ok + "X Y: a\r\n\r\n" + text), nil},
		{"quotation marks inside a field name", says(ok + "\"X-Y\": a\r\n\r\n" + text), nil},
		{"Latin-1 inside a field name", says(ok + "X-\xe4: a\r\n\r\n" + text), nil},
		{"cookies", says(ok + strings.Repeat("Set-Cookie: a=b\r\n", 100) + "\r\n" + text), nil},
	}
}

func statusServers() []hostile {
	status := func(line string, more ...string) func(t *testing.T) string {
		return says("HTTP/1.1 " + line + "\r\n" + strings.Join(more, "") + "\r\n")
	}
	body := fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(text), text)
	return []hostile{
		{"status 0", status("0 None"), nil},
		{"status 000", status("000 None"), nil},
		{"status 99", status("99 Low"), nil},
		{"status 099", status("099 Low"), nil},
		{"status -200", status("-200 Low"), nil},
		{"status 408", status("408 Request Timeout", "Connection: close\r\n"), nil},
		{"status 421", status("421 Misdirected Request", body), nil},
		{"status 425", status("425 Too Early", body), nil},
		{"status 600", status("600 High", body), nil},
		{"status 999", status("999 Denied", body), nil},
		{"status 1000", status("1000 High"), nil},
		{"status that is not a number", status("abc OK"), nil},
		{"no status", status(""), nil},
		{"no reason phrase", status("200", body), nil},
		{"status 101 without an Upgrade request", status("101 Switching Protocols", "Upgrade: x\r\nConnection: upgrade\r\n", body), nil},
		{"status 204 with a body", status("204 No Content", body), nil},
		{"status 205 with a body", status("205 Reset Content", body), nil},
		{"status 206 with a part of the page", status("206 Partial Content", "Content-Range: bytes 0-55/1000\r\n", body), nil},
		{"status 206 without Content-Range", status("206 Partial Content", body), nil},
		{"status 206 with the whole page", status("206 Partial Content", "Content-Range: bytes 0-55/56\r\n", body), nil},
		{"status 206 with less than its Content-Range", status("206 Partial Content", "Content-Range: bytes 0-99/100\r\n", body), nil},
		{"status 206 with more than its Content-Range", status("206 Partial Content", "Content-Range: bytes 0-9/10\r\n", body), nil},
		{"status 206 with two Content-Ranges", status("206 Partial Content", "Content-Range: bytes 0-55/56\r\nContent-Range: bytes 0-55/1000\r\n", body), nil},
		{"status 206 with several parts", status("206 Partial Content", "Content-Type: multipart/byteranges; boundary=x\r\nContent-Range: bytes 0-55/56\r\n", body), nil},
		{"status 304 to an unconditional request", status("304 Not Modified"), nil},
		{"status 304 with a body", status("304 Not Modified", body), nil},
	}
}

func codingServers() []hostile {
	coded := func(announced, applied string, body []byte) func(t *testing.T) string {
		return func(t *testing.T) string {
			if applied != "" {
				body = compress(t, applied, body)
			}
			return says(fmt.Sprintf("%sContent-Encoding: %s\r\nContent-Length: %d\r\n\r\n%s", ok, announced, len(body), body))(t)
		}
	}
	var list []hostile
	zeros := make([]byte, 16<<20)
	for _, coding := range []string{"gzip", "deflate", "br", "zstd"} {
		list = append(list, hostile{coding + " bomb", coded(coding, coding, zeros), small})
	}
	plain := []byte(text)
	for _, coding := range []string{"gzip", "deflate", "br", "zstd"} {
		list = append(list, hostile{"announces " + coding + ", sends plain text", coded(coding, "", plain), nil})
	}
	// member serves a member of gzip, where another may follow, and its length.
	member := func(serve func(response string) func(t *testing.T) string, format string) func(t *testing.T) string {
		return func(t *testing.T) string {
			gz := compress(t, "gzip", plain)
			return serve(fmt.Sprintf(ok+"Content-Encoding: gzip\r\n"+format, len(gz), gz))(t)
		}
	}
	// decodedLength serves a coded body without its last bytes. The Content-Length is that of the
	// decoded body, and more.
	decodedLength := func(coding string, more, missing int) func(t *testing.T) string {
		return func(t *testing.T) string {
			page := bytes.Repeat(plain, 20)
			packed := compress(t, coding, page)
			return says(fmt.Sprintf(ok+"Content-Encoding: %s\r\nContent-Length: %d\r\n\r\n%s", coding, len(page)+more, packed[:len(packed)-missing]))(t)
		}
	}
	return append(list,
		hostile{"gzip bomb, nested twice", coded("gzip, gzip", "gzip,gzip", zeros), small},
		hostile{"br bomb in gzip", coded("br, gzip", "br,gzip", zeros), small},
		hostile{"gzip bomb, nested three times", coded("gzip, gzip, gzip", "gzip,gzip,gzip", zeros), small},
		hostile{"gzip of endless empty members", coded("gzip", "", bytes.Repeat([]byte("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff\x01\x00\x00\xff\xff\x00\x00\x00\x00\x00\x00\x00\x00"), 1<<16)), small},
		hostile{"announces identity, sends gzip", coded("identity", "gzip", plain), nil},
		hostile{"announces gzip, sends zstd", coded("gzip", "zstd", plain), nil},
		hostile{"announces br, sends gzip", coded("br", "gzip", plain), nil},
		hostile{"unknown coding", coded("rot13", "", plain), nil},
		hostile{"unsupported coding", coded("compress", "", plain), nil},
		hostile{"a thousand codings", coded(strings.Repeat("gzip,", 1000), "gzip", plain), nil},
		hostile{"incomplete gzip", coded("gzip", "", []byte("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff")), nil},
		hostile{"closes after a gzip member, before the end", member(says, "Content-Length: %d0\r\n\r\n%s"), nil},
		hostile{"gzip, Content-Length of the decoded body", decodedLength("gzip", 0, 0), nil},
		hostile{"br, Content-Length of the decoded body", decodedLength("br", 0, 0), nil},
		hostile{"gzip, Content-Length above that of the decoded body", decodedLength("gzip", 1, 0), nil},
		hostile{"incomplete gzip, Content-Length of the decoded body", decodedLength("gzip", 0, 20), nil},
		hostile{"incomplete br, Content-Length of the decoded body", decodedLength("br", 0, 20), nil},
		hostile{"stops after a gzip member", member(holds, "Content-Length: %d0\r\n\r\n%s"), hastyBody},
		hostile{"gzip without the last chunk", member(says, "Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n"), nil},
		hostile{"gzip, and a chunk size that is not a number", member(says, "Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\nxyz\r\n"), nil},
	)
}

func redirectServers() []hostile {
	to := func(locations ...string) func(t *testing.T) string {
		var b strings.Builder
		for _, location := range locations {
			b.WriteString("Location: " + location + "\r\n")
		}
		return says("HTTP/1.1 302 Found\r\n" + b.String() + "Content-Length: 0\r\n\r\n")
	}
	return []hostile{
		{"redirect", to("/to"), nil},
		{"redirect in Latin-1", to("/to/caf\xe9"), nil},
		{"redirect in UTF-8", to("/to/caf\xc3\xa9"), nil},
		{"redirect with escapes", to("/to/caf%C3%A9%zz%"), nil},
		{"redirect with white space and backslashes", to(" \\to\\a b\t"), nil},
		{"redirect without Location", to(), nil},
		{"redirect with an empty Location", to(""), nil},
		{"redirect to an invalid URL", to("http://["), nil},
		{"two different Locations", to("/to", "/too"), nil},
		{"two equal Locations", to("/to", "/to"), nil},
		{"redirect that announces br and sends plain text", says("HTTP/1.1 302 Found\r\nLocation: /to\r\nContent-Encoding: br\r\nContent-Length: 56\r\n\r\n" + text), nil},
	}
}

// patienceServers ask for time (RFC 9110 section 10.2.3).
func patienceServers() []hostile {
	asks := func(status int, retryAfter, date string) func(t *testing.T) string {
		if date != "" {
			date = "Date: " + date + "\r\n"
		}
		return says(fmt.Sprintf("HTTP/1.1 %d No\r\n%sRetry-After: %s\r\nContent-Length: 0\r\n\r\n", status, date, retryAfter))
	}
	fails := func(status, rest string) func(t *testing.T) string {
		return says("HTTP/1.1 " + status + " No\r\n" + rest)
	}
	const date = "Sun, 06 Nov 1994 08:49:37 GMT"
	return []hostile{
		{"429, Retry-After of 7 s", asks(429, "7", ""), nil},
		{"503, Retry-After with a date", asks(503, "Sun, 06 Nov 1994 08:51:37 GMT", date), nil},
		{"503, Retry-After with a date of RFC 850", asks(503, "Sunday, 06-Nov-94 08:51:37 GMT", date), nil},
		{"503, Retry-After with a past date", asks(503, date, ""), nil},
		{"503, Retry-After with a date in the year 9999", asks(503, "Fri, 31 Dec 9999 23:59:59 GMT", ""), nil},
		{"429, negative Retry-After", asks(429, "-7", ""), nil},
		{"429, Retry-After of 10^30 s", asks(429, "1"+strings.Repeat("0", 30), ""), nil},
		{"429, Retry-After of 1.5 s", asks(429, "1.5", ""), nil},
		{"429, Retry-After in words", asks(429, "soon", ""), nil},
		{"503, Retry-After of an hour, announces br, sends plain text", fails("503", "Retry-After: 3600\r\nContent-Encoding: br\r\n\r\n"+text), nil},
		{"429, Retry-After of an hour, unsupported coding", fails("429", "Retry-After: 3600\r\nContent-Encoding: compress\r\n\r\n"+text), nil},
		{"503, Retry-After of an hour, Content-Length above the length of the body", fails("503", "Retry-After: 3600\r\nContent-Length: 1000\r\n\r\n"+text), nil},
		{"404, announces br, sends plain text", fails("404", "Content-Encoding: br\r\n\r\n"+text), nil},
		{"404, Content-Length above the length of the body", fails("404", "Content-Length: 1000\r\n\r\n"+text), nil},
		{"404, stops inside the body", holds("HTTP/1.1 404 No\r\nContent-Length: 1000\r\n\r\n" + text), hastyBody},
		{"200 with Retry-After", says(ok + "Retry-After: 100\r\n\r\n" + text), nil},
	}
}
