package document

import (
	"fmt"
	"strings"
	"testing"
)

func TestBounds(t *testing.T) {
	var b strings.Builder
	b.WriteString("<title>" + strings.Repeat("é ", 20) + "</title><meta name=description content='" + strings.Repeat("日本", 20) + "'>")
	for i := range 10 {
		fmt.Fprintf(&b, "<h2>%s</h2><a href=/%d>%s</a>", strings.Repeat("ö", 20), i, strings.Repeat("ä", 20))
	}
	fmt.Fprintf(&b, "<a href=/%s>long</a>", strings.Repeat("x", 50))
	tight := func(o *Options) {
		o.MaxTextBytes, o.MaxLinks, o.MaxHrefBytes, o.MaxAnchorBytes, o.MaxHeadings, o.MaxFieldBytes = 101, 3, 20, 5, 2, 11
	}
	for _, treeBytes := range []int{1 << 20, 0} {
		p := newParser(t, func(o *Options) { tight(o); o.MaxTreeBytes = treeBytes })
		page := p.Document(Input{ContentType: "text/html; charset=utf-8", Body: []byte(b.String())})
		if page.Title != "é é é é" {
			// The twelfth byte would be the first half of the next letter.
			t.Errorf("title %q", page.Title)
		}
		if page.Description != "日本日" {
			t.Errorf("description %q", page.Description)
		}
		if len(page.Headings) != 2 || page.Headings[0].Text != "ööööö" {
			t.Errorf("headings %+v", page.Headings)
		}
		if len(page.Links) != 3 || page.Links[0].Text != "ää" {
			t.Errorf("links %v", page.Links)
		}
		if want := (Skipped{Many: 7, Long: 1}); page.Skipped != want {
			t.Errorf("skipped %+v, want %+v", page.Skipped, want)
		}
		if !page.TextTruncated || len(page.Text) > 101 || len(page.Text) < 99 {
			t.Errorf("%d bytes of text, truncated %v", len(page.Text), page.TextTruncated)
		}
		if large := page.Fallback == TooLarge; large != (treeBytes == 0) {
			t.Errorf("fallback %q at %d", page.Fallback, treeBytes)
		}
	}
}

// TestNothingIsLeftOver reads documents one after another with the same buffers.
func TestNothingIsLeftOver(t *testing.T) {
	p := newParser(t, nil)
	clean := p.Document(Input{ContentType: "text/html", Body: []byte("<p>x")})
	for _, dirty := range []string{
		"<title>left", "<h1>left", "<a href=/left>left", "<pre>  left ", "<svg><title>left", "<base href=/left>", "<p>left ",
	} {
		p.Document(Input{ContentType: "text/html", Body: []byte(dirty)})
		if diff := differences(clean, p.Document(Input{ContentType: "text/html", Body: []byte("<p>x")})); diff != "" {
			t.Errorf("after %q: %s", dirty, diff)
		}
	}
}

func TestPlainText(t *testing.T) {
	p := newParser(t, func(o *Options) { o.MaxTextBytes = 6 })
	for body, want := range map[string]string{
		"":             "",
		"a\r\n b\r":    "a\n b",
		"é漢 ":          "é漢",
		"abcdéf":       "abcdé",
		"abcdeéf":      "abcde",
		"\x00a\x00b\n": "ab",
	} {
		page := p.Document(Input{ContentType: "text/plain; charset=utf-8", Body: []byte(body)})
		if page.Text != want || page.Links != nil {
			t.Errorf("%q: got %q and links %v, want %q", body, page.Text, page.Links, want)
		}
	}
}

func TestOptionsValidate(t *testing.T) {
	if _, err := New(Options{}); err == nil || !strings.Contains(err.Error(), "agent is empty") {
		t.Errorf("the zero value: %v", err)
	}
	opts := DefaultOptions()
	opts.MaxLinks, opts.MaxTextBytes = -1, -2
	if err := opts.Validate(); err == nil || !strings.Contains(err.Error(), "max links is -1") || !strings.Contains(err.Error(), "max text bytes is -2") {
		t.Errorf("two negative bounds: %v", err)
	}
}

// TestPlainTextDeclaresNothing: what looks like markup in it is text.
func TestPlainTextDeclaresNothing(t *testing.T) {
	for _, text := range []string{"é <meta charset=koi8-r>", "<?xml version='1.0' encoding='koi8-r'?> é"} {
		page := newParser(t, nil).Document(Input{ContentType: "text/plain", Body: []byte(text)})
		if page.Text != text || page.Charset != "utf-8" {
			t.Errorf("%q: got %q in %s", text, page.Text, page.Charset)
		}
	}
}
