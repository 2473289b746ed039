package document

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// TestPageDoesNotKeepBody holds pages of large bodies, and measures what stays in memory: a page
// has strings from every part of its body.
func TestPageDoesNotKeepBody(t *testing.T) {
	p := newParser(t, nil)
	body := []byte(`<html lang=de><base href=/b/><title>t</title><meta name=description content=d><meta property=og:a content=b>
		<meta name=robots content="unavailable_after: 2030-01-01"><link rel=canonical href=/c><meta http-equiv=content-language content=en>
		<h1>h</h1><script type=application/ld+json>{}</script><a href=/x rel=nofollow hreflang=fr>x</a><img src=/i alt=j><noscript><a href=/n>n</a></noscript>` +
		"<!--" + strings.Repeat("x", 512<<10) + "-->")
	const pages = 32
	var before, after runtime.MemStats
	held := make([]*Page, pages)
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range held {
		held[i] = p.Document(Input{URL: fmt.Sprint("http://a.example/", i), ContentType: "text/html; charset=utf-8", Body: body})
	}
	runtime.GC()
	runtime.GC() // empties the pool
	runtime.ReadMemStats(&after)
	if kept := int(after.HeapAlloc) - int(before.HeapAlloc); kept > len(body) {
		t.Errorf("%d pages keep %d bytes, more than the body of one", pages, kept)
	}
	if page := held[pages-1]; len(page.Links) < 4 || page.Base == "" || page.Language == "" || page.Robots.UnavailableAfter == "" {
		t.Errorf("got %+v", page)
	}
}
