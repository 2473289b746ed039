package robots

import (
	"bytes"
	"encoding/binary"
	"strings"
	"time"

	"github.com/jimsmart/grobotstxt"
	"github.com/zeebo/xxh3"
	"golang.org/x/text/encoding/unicode"

	"github.com/weftcrawl/weft/codecs/weftpb"
)

const (
	// MaxBytes is how much of a robots.txt is read (RFC 9309 section 2.5), and
	// how long rules and sitemaps of a record are together at most.
	MaxBytes = 500 << 10
	// MaxCrawlDelay is the longest Crawl-delay that is honoured.
	MaxCrawlDelay = 300 * time.Second

	maxSitemaps     = 1000
	maxSitemapBytes = 2048
)

// Parse says what a fetch of an origin's /robots.txt means for an agent, given
// as a product token or as a whole User-Agent. The status is that of the last
// response after redirects, 0 when there was none.
//
// A 2xx gives rules. 5xx, no response, and 429, which asks for less and not for
// everything, disallow all for now. Other statuses mean that there are no
// rules (RFC 9309 section 2.3.1). How soon to ask again after disallow-all is
// for the caller's back-off to say: its ttl_ms is 0, and TTL otherwise.
func Parse(status int, body []byte, agent string) *weftpb.Robots {
	r := &weftpb.Robots{Status: uint32(max(status, 0)), TtlMs: TTL.Milliseconds()}
	switch {
	case 200 <= status && status < 300:
		r.Access = weftpb.Robots_ACCESS_RULES
		read(r, body, ProductToken(agent))
	case 300 <= status && status < 500 && status != 429:
		r.Access = weftpb.Robots_ACCESS_ALLOW_ALL
	default:
		r.Access = weftpb.Robots_ACCESS_DISALLOW_ALL
		r.TtlMs = 0
	}
	r.Hash = contentHash(r)
	return r
}

// read fills in what a file says.
func read(r *weftpb.Robots, body []byte, token string) {
	file := file{token: token}
	grobotstxt.Parse(ascii(breakable(cutAtLine(decode(body)))), &file)
	group := file.forAgent()
	r.Rules = writeRules(group.rules)
	r.CrawlDelayMs = uint32(group.crawlDelay.Milliseconds())
	r.Sitemaps = boundSitemaps(file.sitemaps, MaxBytes-len(r.Rules))
}

// decode returns a body without its byte order mark. A file with the mark of UTF-16
// is written as UTF-8, which RFC 9309 section 2.3 asks for and some editors do not
// write. Of the mark of UTF-8 a part is dropped too, as Google's parser does.
func decode(body []byte) []byte {
	if text, err := unicode.UTF16(unicode.BigEndian, unicode.ExpectBOM).NewDecoder().Bytes(body); err == nil {
		return text
	}
	for _, mark := range []byte("\ufeff") {
		if len(body) == 0 || body[0] != mark {
			break
		}
		body = body[1:]
	}
	return body
}

// WholeLines returns the lines, in UTF-8, of a body of which the end is missing, but
// not the last: half a rule is another rule.
func WholeLines(body []byte) []byte { return wholeLines(decode(body)) }

func wholeLines(text []byte) []byte { return text[:bytes.LastIndexAny(text, "\r\n")+1] }

// cutAtLine cuts a text that is too long after a line.
func cutAtLine(text []byte) []byte {
	if len(text) <= MaxBytes {
		return text
	}
	return wholeLines(text[:MaxBytes])
}

// ascii escapes what is not ASCII and writes the digits of escapes in upper
// case, so that the line reader, which would do the same, has nothing to do:
// grobotstxt v1.0.3 breaks every digit of an escape that it touches ("%e3%83"
// becomes "%E\x13%\x18\x13").
func ascii(body []byte) string {
	b := make([]byte, 0, len(body)+len(body)/16)
	for i := 0; i < len(body); i++ {
		c := body[i]
		switch {
		case c >= 0x80:
			b = append(b, '%', hexDigits[c>>4], hexDigits[c&15])
		case c == '%' && i+2 < len(body) && isHex(body[i+1]) && isHex(body[i+2]):
			b = append(b, '%', hexDigits[unhex(body[i+1])], hexDigits[unhex(body[i+2])])
			i += 2
		default:
			b = append(b, c)
		}
	}
	return string(b)
}

// breakable makes the no-break spaces of files that were pasted from a web page
// spaces, where those mean nothing.
func breakable(body []byte) []byte {
	if !bytes.Contains(body, []byte(noBreak)) {
		return body
	}
	b := make([]byte, 0, len(body))
	for {
		end := bytes.IndexAny(body, "\r\n")
		if end < 0 {
			return append(b, breakableLine(string(body))...)
		}
		b = append(append(b, breakableLine(string(body[:end]))...), body[end])
		body = body[end+1:]
	}
}

const (
	noBreak = "\u00a0"
	blank   = " \t\v\f" + noBreak
)

// breakableLine is breakable for a line, whose comment it drops. In a value, which
// begins after the first colon or, without one, the first space, a no-break space
// is a part of it.
func breakableLine(line string) string {
	line, _, _ = strings.Cut(line, "#")
	line = strings.Trim(line, blank)
	start := strings.IndexByte(line, ':') + 1
	if start == 0 {
		start = max(strings.IndexAny(line, blank), 0)
	}
	value := strings.TrimLeft(line[start:], blank)
	return strings.ReplaceAll(strings.TrimSuffix(line, value), noBreak, " ") + value
}

// boundSitemaps keeps the sitemaps, each once, as long as they fit into a number
// of bytes.
func boundSitemaps(all []string, bytes int) (kept []string) {
	seen := make(map[string]bool, len(all))
	for _, sitemap := range all {
		switch {
		case seen[sitemap] || sitemap == "" || len(sitemap) > maxSitemapBytes:
			continue
		case len(kept) == maxSitemaps || len(sitemap) > bytes:
			return kept
		}
		seen[sitemap] = true
		bytes -= len(sitemap)
		kept = append(kept, sitemap)
	}
	return kept
}

// contentHash is equal for records that mean the same: the 128-bit XXH3 of
// access, Crawl-delay, rules and sitemaps, each ended so that they cannot run
// into each other.
func contentHash(r *weftpb.Robots) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(r.GetAccess()))
	b = binary.BigEndian.AppendUint32(b, r.GetCrawlDelayMs())
	b = append(append(b, r.GetRules()...), 0)
	for _, sitemap := range r.GetSitemaps() {
		b = append(append(b, sitemap...), 0)
	}
	hash := xxh3.Hash128(b).Bytes()
	return hash[:]
}
