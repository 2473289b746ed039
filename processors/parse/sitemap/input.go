package sitemap

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"regexp"
)

// unpacked removes the gzip around a body, twice at most, because some servers pack a packed
// file. most is the largest size after the first step.
func unpacked(body []byte, most int64) io.Reader {
	r := bufio.NewReader(bytes.NewReader(body))
	for range 2 {
		if head, _ := r.Peek(2); len(head) < 2 || head[0] != 0x1f || head[1] != 0x8b {
			break
		}
		inner, err := gzip.NewReader(r)
		if err != nil {
			return failing{err}
		}
		r = bufio.NewReader(io.LimitReader(inner, most+1))
	}
	return r
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// limited is a reader with an end.
type limited struct {
	r    io.Reader
	left int64
	over bool
	err  error // except io.EOF
}

func (l *limited) Read(p []byte) (int, error) {
	if l.left <= 0 {
		var more [1]byte
		n, _ := l.r.Read(more[:])
		l.over = l.over || n > 0
		return 0, io.EOF
	}
	n, err := l.r.Read(p[:min(int64(len(p)), l.left)])
	l.left -= int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		l.err, err = err, io.EOF // what was read counts
	}
	return n, err
}

// root is the beginning of a sitemap of sitemaps.org, with any prefix.
var root = regexp.MustCompile(`(?i)<([\w.-]+:)?(urlset|sitemapindex)[\s>]`)

// skipToRoot skips what stands in front of the root of a sitemap, such as a warning of the program
// that made it.
func skipToRoot(text *bufio.Reader) {
	head, _ := text.Peek(text.Size())
	if at := root.FindIndex(head); at != nil {
		_, _ = text.Discard(at[0])
	}
}

// isMarkup skips the white space in front of a text, and tells whether the text begins with a tag.
func isMarkup(text *bufio.Reader) bool {
	for {
		c, err := text.ReadByte()
		if err != nil {
			return false
		}
		if c > ' ' && c != 0xef && c != 0xbb && c != 0xbf { // a second byte order mark
			_ = text.UnreadByte()
			return c == '<'
		}
	}
}
