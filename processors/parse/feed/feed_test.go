package feed

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Feeds as the programs of the wild write them.
func TestFeeds(t *testing.T) {
	for name, c := range map[string]struct {
		body string
		want Feed
	}{
		"RSS 2.0": {`<?xml version="1.0" encoding="UTF-8"?><rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:dc="http://purl.org/dc/elements/1.1/"
 xmlns:atom="http://www.w3.org/2005/Atom"><channel><title>News &amp; more</title><atom:link href="https://h/feed/" rel="self" type="application/rss+xml"/>
<atom:link rel="hub" href="https://hub.example/"/><link>https://h</link><description>All <b>of</b> it</description><lastBuildDate>Thu, 01 Feb 2024 03:04:05 +0000</lastBuildDate>
<language>en-US</language><image><url>https://h/i.png</url><title>not this</title><link>https://no</link></image>
<item><title><![CDATA[One <i>& only</i>]]></title><link>https://h/1?a=1&amp;b=2</link><dc:creator><![CDATA[Ann]]></dc:creator><pubDate>Thu, 01 Feb 2024 03:00:00 +0000</pubDate>
<category>x</category><guid isPermaLink="false">tag:1</guid><description>&lt;p&gt;Short &amp;amp; sweet&lt;/p&gt;&lt;script&gt;no()&lt;/script&gt;</description><content:encoded><![CDATA[<p>Long</p>]]></content:encoded>
<enclosure url="https://h/1.mp3" length="1" type="audio/mpeg"/></item>
<item><guid>https://h/2</guid><description>Two</description></item></channel></rss>`, Feed{
			Kind: RSS, Title: "News & more", Link: "https://h", Self: "https://h/feed/", Hubs: []string{"https://hub.example/"}, Description: "All of it",
			Language: "en-US", Date: "Thu, 01 Feb 2024 03:04:05 +0000", Entries: []Entry{
				{ID: "tag:1", Link: "https://h/1?a=1&b=2", Title: "One & only", Author: "Ann", Date: "Thu, 01 Feb 2024 03:00:00 +0000", Summary: "Short & sweet", Enclosure: "https://h/1.mp3"},
				{ID: "https://h/2", Link: "https://h/2", Summary: "Two"},
			},
		}},
		"Atom 1.0": {`<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="de"><title type="text">T</title><subtitle>S</subtitle><link href="/" /><link rel="self" href="/feed.atom"/>
<link rel="next" href="/feed.atom?page=2"/><updated>2024-02-01T00:00:00Z</updated><author><name>Ann</name><uri>https://no</uri></author><id>urn:1</id>
<entry><title type="html">A &lt;em&gt;b&lt;/em&gt;</title><link rel="edit" href="/edit"/><link href="/a"/><link rel="enclosure" href="/a.mp3"/><id>urn:2</id><updated>2024-01-02T00:00:00Z</updated>
<author><name>Bob</name></author><content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>Text <b>in</b> XHTML</p><title>x</title></div></content>
<source><title>other</title><link href="https://other/"/></source></entry><entry><title>C</title><link href="/c"/><published>2024-01-03</published><updated>2024-01-04</updated><summary>s</summary></entry></feed>`,
			Feed{Kind: Atom, Title: "T", Description: "S", Link: "/", Self: "/feed.atom", Next: "/feed.atom?page=2", Date: "2024-02-01T00:00:00Z", Author: "Ann", Language: "de", Entries: []Entry{
				{ID: "urn:2", Link: "/a", Title: "A b", Author: "Bob", Date: "2024-01-02T00:00:00Z", Summary: "Text in XHTML x", Enclosure: "/a.mp3"},
				{Link: "/c", Title: "C", Date: "2024-01-03", Summary: "s"},
			}}},
		"Atom 0.3": {`<feed version="0.3" xmlns="http://purl.org/atom/ns#"><title>T</title><tagline>S</tagline><link rel="alternate" href="https://h/"/><modified>2004-01-01T00:00:00Z</modified>
<entry><title>A</title><link rel="alternate" type="text/html" href="https://h/a"/><issued>2004-01-02T00:00:00Z</issued><modified>2004-01-03T00:00:00Z</modified></entry></feed>`,
			Feed{Kind: Atom, Title: "T", Description: "S", Link: "https://h/", Date: "2004-01-01T00:00:00Z", Entries: []Entry{{Link: "https://h/a", Title: "A", Date: "2004-01-02T00:00:00Z"}}}},
		"RSS 1.0": {`<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"><channel rdf:about="https://h/f"><title>T</title><link>https://h/</link>
<items><rdf:Seq><rdf:li rdf:resource="https://h/a"/></rdf:Seq></items></channel><item rdf:about="https://h/a"><title>A</title><dc:date>2004-01-01</dc:date></item></rdf:RDF>`,
			Feed{Kind: RSS, Title: "T", Link: "https://h/", Entries: []Entry{{ID: "https://h/a", Link: "https://h/a", Title: "A", Date: "2004-01-01"}}}},
		"JSON Feed": {`{"version":"https://jsonfeed.org/version/1.1","title":"T","home_page_url":"https://h/","feed_url":"https://h/f.json","hubs":[{"type":"WebSub","url":"https://hub/"}],"authors":[{"name":"Ann"}],
"items":[{"id":1,"url":"https://h/a","title":"A","content_html":"<p>B &amp; c</p>","date_published":"2024-01-01"},"no item",{"id":"x","external_url":"https://o/","content_text":"D","author":{"name":"Bob"},"attachments":[{"url":"https://h/p.mp3"}]}]}`,
			Feed{Kind: JSON, Title: "T", Link: "https://h/", Self: "https://h/f.json", Hubs: []string{"https://hub/"}, Author: "Ann", Entries: []Entry{
				{Link: "https://h/a", Title: "A", Summary: "B & c", Date: "2024-01-01"}, {}, {ID: "x", Link: "https://o/", Summary: "D", Author: "Bob", Enclosure: "https://h/p.mp3"},
			}}},
		"JSON Feed of PHP, with a byte order mark": {"\ufeff\n" + `{"version":"https:\/\/jsonfeed.org\/version\/1","items":[{"url":"https:\/\/h\/a"}]}`,
			Feed{Kind: JSON, Entries: []Entry{{Link: "https://h/a"}}}},
		"references in texts that are HTML": {`<rss><channel><title>A &amp;amp; B</title><item><title>It&amp;#8217;s</title><description><![CDATA[more [&#8230;]]]></description></item></channel></rss>`,
			Feed{Kind: RSS, Title: "A & B", Entries: []Entry{{Title: "It’s", Summary: "more […]"}}}},
		"references in texts of a type": {`<feed><title>&amp;amp;</title><author><name>A &amp;amp;</name></author><entry><title type="html">&amp;lt;b></title><summary type="text">&amp;lt;</summary></entry></feed>`,
			Feed{Kind: Atom, Title: "&amp;", Author: "A &amp;", Entries: []Entry{{Title: "<b>", Summary: "&lt;"}}}},
		"xml:base": {`<feed xml:base="https://h/x/"><link href="."/><entry xml:base="y/"><link href="a"/></entry><entry><link href="b"/><link rel="enclosure" href="/c"/></entry></feed>`,
			Feed{Kind: Atom, Link: "https://h/x/", Entries: []Entry{{Link: "https://h/x/y/a"}, {Link: "https://h/x/b", Enclosure: "https://h/c"}}}},
		"Media RSS": {`<rss><channel><item><media:content url="/i.png"><media:title>admin</media:title></media:content><content:encoded>All of it</content:encoded></item>
<item><description>The entry</description><media:description>A picture</media:description></item><item><media:description>A picture</media:description></item></channel></rss>`,
			Feed{Kind: RSS, Entries: []Entry{{Summary: "All of it"}, {Summary: "The entry"}, {Summary: "A picture"}}}},
		"xml:base of RSS": {`<rss xml:base="https://h/x/"><channel><link>.</link><item><link> a </link></item><item><link>https://o/b|c</link></item></channel></rss>`,
			Feed{Kind: RSS, Link: "https://h/x/", Entries: []Entry{{Link: "https://h/x/a"}, {Link: "https://o/b|c"}}}},
		"xml:base without a host": {`<feed xml:base="/x/"><link href="."/><entry xml:base="y/"><link href="a"/></entry><entry><link href="https://o/b"/></entry></feed>`,
			Feed{Kind: Atom, Link: "/x/", Entries: []Entry{{Link: "/x/y/a"}, {Link: "https://o/b"}}}},
		"xml:base that is relative to the feed": {`<feed xml:base="x/"><entry xml:base="y/"><link href="a"/></entry><entry xml:base="/z/"><link href="b"/></entry></feed>`,
			Feed{Kind: Atom, Entries: []Entry{{Link: "a"}, {Link: "/z/b"}}}},
		"a feed that is cut": {`<rss><channel><title>T</title><item><title>A</title><link>https://h/a</link></item><item><title>B`,
			Feed{Kind: RSS, Title: "T", Entries: []Entry{{Title: "A", Link: "https://h/a"}, {Title: "B"}}}},
		"items that are not closed": {`<rss><channel><item><title>A<item><title>B</title></channel></rss>`,
			Feed{Kind: RSS, Entries: []Entry{{Title: "A"}, {Title: "B"}}}},
		"an ampersand": {`<rss><channel><item><title>A & B</title><link>https://h/?a=1&b=2</link></item></channel></rss>`,
			Feed{Kind: RSS, Entries: []Entry{{Title: "A & B", Link: "https://h/?a=1&b=2"}}}},
		"latin 1":  {`<?xml version="1.0" encoding="iso-8859-1"?><rss><channel><title>` + "Stra\xdfe" + `</title></channel></rss>`, Feed{Kind: RSS, Title: "Straße"}},
		"HTML":     {`<html><rss></rss></html>`, Feed{}},
		"JSON":     {`{"items":[]}`, Feed{}},
		"nothing":  {"", Feed{}},
		"a number": {"{}", Feed{}},
	} {
		if diff := cmp.Diff(c.want, *Read([]byte(c.body), DefaultOptions())); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestLooks(t *testing.T) {
	for body, want := range map[string]bool{
		"<?xml version='1.0'?><rss>": true, "<rdf:RDF>": true, "<feed>": true, `{"version":"https://jsonfeed.org/version/1"}`: true,
		`{"version":"https:\/\/jsonfeed.org\/version\/1"}`: true, "\ufeff {\"version\":\"https://jsonfeed.org/version/1\"}": true,
		"<urlset>": false, "<html>": false, `{"a":1}`: false, "": false, "<": false,
	} {
		if Looks([]byte(body)) != want {
			t.Errorf("%q: want %v", body, want)
		}
	}
}

// Feeds that are made to do harm: what is kept of them is bounded, and so is the memory.
func TestHostileFeeds(t *testing.T) {
	for name, c := range map[string]struct {
		body             string
		entries, omitted int
	}{
		"a million entries":           {"<rss><channel>" + strings.Repeat("<item/>", 1_000_000), 1000, 999_000},
		"a million entries of JSON":   {`{"version":"https://jsonfeed.org/version/1","items":[` + strings.Repeat("{},", 999_999) + "{}]}", 1000, 999_000},
		"a million open elements":     {"<rss><channel><item><description>" + strings.Repeat("<a>", 1_000_000), 1, 0},
		"open elements of Atom":       {"<feed><entry><author>" + strings.Repeat("<name>", 1_000_000), 1, 0},
		"brackets of JSON":            {`{"version":"https://jsonfeed.org/version/1","items":` + strings.Repeat("[", 1_000_000), 0, 0},
		"a title of ten megabytes":    {"<rss><channel><item><title>" + strings.Repeat("x ", 5<<20), 1, 0},
		"entities of entities":        {`<!DOCTYPE r [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]><rss><channel><item><title>&b;</title></item>`, 1, 0},
		"an entity outside":           {`<!DOCTYPE r [<!ENTITY a SYSTEM "file:///etc/passwd">]><rss><channel><item><title>&a;</title></item>`, 1, 0},
		"hubs without end":            {"<rss><channel>" + strings.Repeat(`<atom:link rel="hub" href="x"/>`, 100_000), 0, 0},
		"HTML in a text without end":  {"<rss><channel><item><description>" + strings.Repeat("&lt;b", 1<<20), 1, 0},
		"bytes that are no UTF-8":     {"<rss><channel><item><title>\xff\xfe\x80</title></item>", 1, 0},
		"a link of a megabyte":        {"<rss><channel><item><link>https://h/" + strings.Repeat("a", 1<<20), 1, 0},
		"a document type without end": {"<!DOCTYPE " + strings.Repeat("[<", 1<<20), 0, 0},
	} {
		var before, after runtime.MemStats
		body := []byte(c.body)
		runtime.GC()
		runtime.ReadMemStats(&before)
		f := Read(body, DefaultOptions())
		runtime.GC()
		runtime.ReadMemStats(&after)
		if len(f.Entries) != c.entries || f.Omitted != c.omitted || len(f.Hubs) > MaxHubs {
			t.Errorf("%s: %d entries, %d omitted, %d hubs", name, len(f.Entries), f.Omitted, len(f.Hubs))
		}
		if kept := int64(after.HeapAlloc) - int64(before.HeapAlloc); kept > 8<<20 {
			t.Errorf("%s: %d bytes are kept", name, kept)
		}
		for _, e := range f.Entries {
			if len(e.Title) > 1024 || len(e.Summary) > 1024 || len(e.Link) > maxURLBytes || strings.Contains(e.Title, "aaaa") || strings.Contains(e.Title, "root:") {
				t.Errorf("%s: %.80s", name, fmt.Sprint(e))
			}
		}
		runtime.KeepAlive(body)
	}
}

// Bytes that are not UTF-8 keep their letters, also in JSON.
func TestBytesThatAreNotUTF8(t *testing.T) {
	for _, body := range []string{
		"<rss><channel><item><title>Caf\xe9</title><link>https://h/caf\xe9</link></item></channel></rss>",
		"<feed><entry><title>Caf\xe9</title><link href='https://h/caf\xe9'/></entry></feed>",
		`{"version":"https://jsonfeed.org/version/1","items":[{"title":"Caf` + "\xe9" + `","url":"https://h/caf` + "\xe9" + `"}]}`,
	} {
		if f := Read([]byte(body), DefaultOptions()); len(f.Entries) != 1 || f.Entries[0].Title != "Café" || f.Entries[0].Link != "https://h/café" {
			t.Errorf("%q: %+v", body, f.Entries)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	body := []byte("<rss><channel>" + strings.Repeat("<item><title>A title</title><link>https://h/a</link><description>&lt;p&gt;Some text&lt;/p&gt;</description></item>", 100))
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		Read(body, DefaultOptions())
	}
}
