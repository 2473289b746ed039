package sitemap

import (
	"testing"
	"unicode/utf8"

	"github.com/weftcrawl/weft/processors/parse/markup"
)

// Whatever the bytes are, the reading ends, within its bounds, and what it finds is text.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		`<?xml version="1.0" encoding="UTF-8"?><urlset><url><loc>http://h/a&amp;b</loc><lastmod>2020-01-02</lastmod><priority>0.5</priority></url></urlset>`,
		`<sitemapindex><sitemap><loc>http://h/</loc></sitemap>`, "http://h/a\nhttp://h/b", `<rss><item><link>http://h/</link><guid>x</guid></item>`,
		`<feed><entry><link href="http://h/"/><updated>2020-01-01T00:00:00Z</updated></entry></feed>`,
		`<urlset><url><xhtml:link rel="alternate" hreflang="de" href="x"/><image:image><image:loc>i</image:loc></image:image><loc><![CDATA[a]]></loc></url>`,
		"<!DOCTYPE a [<!ENTITY x 'y'>]><!-- --><urlset a='>' b=c><url><loc>&#x10ffff;&#0;&x;", "\xff\xfe<\x00?\x00", "\x1f\x8b\x08\x00",
		string(packed(`<urlset><url><loc>http://h/</loc></url></urlset>`)),
	} {
		f.Add([]byte(seed), true, 100)
	}
	f.Fuzz(func(t *testing.T, body []byte, lists bool, most int) {
		o := Options{MaxBytes: 1 << 20, MaxEntries: most % 1000, Lists: lists}
		longest := markup.MaxTagBytes
		if !utf8.Valid(body) {
			longest *= 3 // a byte of windows-1252 is up to three of UTF-8
		}
		n := 0
		result := Read(body, o, func(e *Entry) {
			n++
			if e.Loc == "" || len(e.Loc) > longest || !utf8.ValidString(e.Loc) || e.Priority > 1 || len(e.Alternates)+len(e.Images)+len(e.Videos) > maxReferences {
				t.Fatalf("%+v", e)
			}
			for _, a := range e.Alternates {
				if !utf8.ValidString(a.Loc + a.Language) {
					t.Fatalf("%q", a)
				}
			}
		})
		if n != result.Entries || n > max(o.MaxEntries, 0) || (result.Kind == None) != (result.Outcome == NoSitemap) {
			t.Fatalf("%d entries, %+v", n, result)
		}
		Looks(body)
	})
}
