package robots

import (
	"bytes"
	"encoding/binary"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jimsmart/grobotstxt"
	"github.com/zeebo/xxh3"
	"golang.org/x/text/encoding/unicode"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/urls"
)

const (
	// MaxBytes is how much of a robots.txt is read (RFC 9309 section 2.5). It also
	// bounds the rules and sitemaps of a record together.
	MaxBytes = 500 << 10
	// MaxCrawlDelay is the longest Crawl-delay that a record has. It is politeness.MaxCrawlDelay: the two
	// packages do not know each other, and TestMaxCrawlDelay of the frontier compares them.
	MaxCrawlDelay = 300 * time.Second

	maxSitemaps     = 1000
	maxSitemapBytes = 2048
)

// Parse says what a fetch of an origin's /robots.txt means for an agent, given as a product
// token or as a whole User-Agent. The status is the status of the last response after
// redirects, 0 without a response.
//
// A 2xx gives rules. 5xx, 429 and no response disallow all for now. Other statuses
// mean that there are no rules (RFC 9309 section 2.3.1). After disallow-all the
// caller decides when to ask again: ttl_ms is 0 then, and TTL otherwise.
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

func read(r *weftpb.Robots, body []byte, token string) {
	text := decode(body)
	if len(text) > MaxBytes {
		text = wholeLines(text[:MaxBytes])
	}
	file := file{token: token}
	grobotstxt.Parse(ascii(breakable(string(text))), &file)
	group := file.forAgent()
	r.Rules = writeRules(group.rules)
	r.Usage = writeUsage(group.usage)
	r.CrawlDelayMs = uint32(group.crawlDelay.Milliseconds())
	r.Sitemaps = boundSitemaps(file.sitemaps, MaxBytes-len(r.Rules))
}

// decode returns a body without its byte order mark. A file with the mark of UTF-16 is
// converted to UTF-8, because some editors do not write the UTF-8 that RFC 9309
// section 2.3 asks for. Part of a UTF-8 mark is dropped too, as Google's parser does.
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

// WholeLines returns the lines, in UTF-8, of a body whose end is missing. It leaves out
// the last line, because half a rule is another rule.
func WholeLines(body []byte) []byte { return wholeLines(decode(body)) }

func wholeLines(text []byte) []byte { return text[:bytes.LastIndexAny(text, "\r\n")+1] }

// ascii escapes what is not ASCII and writes the digits of escapes in upper case. The
// line reader would do the same, but grobotstxt v1.0.3 breaks every digit of an escape
// that it changes ("%e3%83" becomes "%E\x13%\x18\x13").
func ascii(body string) string {
	b := make([]byte, 0, len(body)+len(body)/16)
	for i := 0; i < len(body); i++ {
		octet, escaped := urls.Unescape(body[i:])
		switch {
		case escaped:
			b = urls.AppendEscape(b, octet)
			i += len("%XX") - 1
		case body[i] >= utf8.RuneSelf:
			b = urls.AppendEscape(b, body[i])
		default:
			b = append(b, body[i])
		}
	}
	return string(b)
}

// breakable makes spaces of no-break spaces, wherever a space means nothing. Files that were pasted
// from a web page have no-break spaces.
func breakable(text string) string {
	if !strings.Contains(text, noBreak) {
		return text
	}
	return lines.ReplaceAllStringFunc(text, breakableLine)
}

var lines = regexp.MustCompile(`[^\r\n]+`)

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

// boundSitemaps keeps each sitemap once, as long as they fit into a number of bytes.
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

// contentHash is equal for records that mean the same: the 128-bit XXH3 of access,
// Crawl-delay, rules and sitemaps, with an end after each, and preferences.
func contentHash(r *weftpb.Robots) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(r.GetAccess()))
	b = binary.BigEndian.AppendUint32(b, r.GetCrawlDelayMs())
	b = append(append(b, r.GetRules()...), 0)
	for _, sitemap := range r.GetSitemaps() {
		b = append(append(b, sitemap...), 0)
	}
	b = append(b, r.GetUsage()...)
	hash := xxh3.Hash128(b).Bytes()
	return hash[:]
}
