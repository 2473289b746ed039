package feed

import (
	"testing"
	"unicode/utf8"
)

// Whatever the bytes are, the reading ends, within its bounds, and what it finds is text.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		`<rss><channel><title>T</title><atom:link rel="hub" href="x"/><item><title>A</title><link>https://h/</link><guid>x</guid><description>&lt;p>a</description></item></channel></rss>`,
		`<feed xml:lang="de"><author><name>A</name></author><entry><link href="/a"/><content type="xhtml"><div>x</div></content><source><link href="y"/></source></entry></feed>`,
		`{"version":"https://jsonfeed.org/version/1","items":[{"id":1,"content_html":"<p>a"},{"authors":[{"name":"A"}]}],"hubs":[{"url":"x"}]}`,
		`<rdf:RDF><item rdf:about="x"><dc:date>2020</dc:date></item>`, `<?xml version="1.0" encoding="utf-16"?><rss>`, "\xff\xfe<\x00r\x00",
	} {
		f.Add([]byte(seed), 3, 64)
	}
	f.Fuzz(func(t *testing.T, body []byte, entries, bytes int) {
		o := Options{MaxEntries: max(entries%100, 0), MaxFieldBytes: max(bytes%2000, 0)}
		feed := Read(body, o)
		if len(feed.Entries) > o.MaxEntries || len(feed.Hubs) > MaxHubs || feed.Kind == None && len(feed.Entries) > 0 {
			t.Fatalf("%+v", feed)
		}
		texts := []string{feed.Title, feed.Description, feed.Language, feed.Author, feed.Date}
		for _, e := range feed.Entries {
			texts = append(texts, e.ID, e.Title, e.Author, e.Summary, e.Date)
			if !utf8.ValidString(e.Link+e.Enclosure) || len(e.Link) > maxURLBytes {
				t.Fatalf("%q", e)
			}
		}
		for _, text := range texts {
			if len(text) > o.MaxFieldBytes || !utf8.ValidString(text) {
				t.Fatalf("%q is longer than %d, or no text", text, o.MaxFieldBytes)
			}
		}
		Looks(body)
	})
}
