package parse

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/weftcrawl/weft/codecs"
	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/urls"
	"github.com/weftcrawl/weft/processors/parse/document"
	"github.com/weftcrawl/weft/processors/parse/language"
)

// exchange is one of a seed two links away from where it began.
func exchange() *weftpb.Fetched {
	return &weftpb.Fetched{
		Id: "page-1",
		Request: &weftpb.Request{Target: &weftpb.Target{
			Url: "https://www.example.org/dir/page", Depth: 2, Via: weftpb.Via_VIA_SEED, ScopeRoot: "https://www.example.org/dir/",
		}},
		Outcome: &weftpb.Outcome{Status: 200, StartedMs: 1_790_000_000_123, BodyBytes: 77, Truncated: true},
		Headers: []*weftpb.Header{
			{Name: "content-type", Value: "text/html; charset=utf-8"}, {Name: "Content-Type", Value: "text/plain"},
			{Name: "X-Robots-Tag", Value: "noindex"}, {Name: "x-robots-tag", Value: "other: nofollow"},
			{Name: "Content-Language", Value: "de"},
		},
		Body: []byte("<p>body"),
	}
}

func TestInputOfTheParser(t *testing.T) {
	want := document.Input{
		URL: "https://www.example.org/dir/page", ContentType: "text/html; charset=utf-8, text/plain", ContentLanguage: "de",
		RobotsTags: []string{"noindex", "other: nofollow"}, Body: []byte("<p>body"), Truncated: true,
	}
	if diff := cmp.Diff(want, input(exchange())); diff != "" {
		t.Error(diff)
	}
}

func TestJoinedFields(t *testing.T) {
	for _, tc := range []struct {
		want   string
		values []string
	}{
		{"", nil},
		{"", []string{"", ""}},
		{"a", []string{"a"}},
		{"a, b", []string{"", "a", "b"}},
		{"a, , b", []string{"a", "", "b"}},
	} {
		if got := joined(tc.values); got != tc.want {
			t.Errorf("%q: %q, want %q", tc.values, got, tc.want)
		}
	}
}

// A field costs no copy of the earlier fields with its name.
func TestJoinedFieldsCostTheirBytes(t *testing.T) {
	f := &weftpb.Fetched{Request: &weftpb.Request{Target: &weftpb.Target{}}, Outcome: &weftpb.Outcome{}}
	for range 5000 {
		f.Headers = append(f.Headers, &weftpb.Header{Name: "Content-Type", Value: "text/html"},
			&weftpb.Header{Name: "Content-Language", Value: "de"})
	}
	if allocs := testing.AllocsPerRun(10, func() { input(f) }); allocs > 100 {
		t.Errorf("%v allocations for 10,000 fields", allocs)
	}
}

func TestRedirectIsDiscovered(t *testing.T) {
	f := exchange()
	f.Location = "../elsewhere"
	want := &weftpb.Discovered{
		Source: "https://www.example.org/dir/page", Depth: 2, Via: weftpb.Via_VIA_REDIRECT, SourceVia: weftpb.Via_VIA_SEED,
		ScopeRoot: "https://www.example.org/dir/", Links: []*weftpb.Link{{Url: "../elsewhere"}},
	}
	if diff := cmp.Diff(want, redirected(f), protocmp.Transform()); diff != "" {
		t.Error(diff)
	}
}

func TestLinksAreDiscovered(t *testing.T) {
	open, closed := document.Link{URL: "a", Text: "on", Follow: true}, document.Link{URL: "b", Rel: "nofollow"}
	want := &weftpb.Discovered{
		Source: "https://www.example.org/dir/page", Base: "/base/", Depth: 2, Via: weftpb.Via_VIA_LINK,
		SourceVia: weftpb.Via_VIA_SEED, ScopeRoot: "https://www.example.org/dir/", Links: []*weftpb.Link{{Url: "a", Text: "on"}},
	}
	page := &document.Page{Base: "/base/", Links: []document.Link{open, closed}}
	if diff := cmp.Diff([]*weftpb.Discovered{want}, discovered(exchange(), page), protocmp.Transform()); diff != "" {
		t.Error(diff)
	}
	page.Robots.NoFollow = true
	if got := discovered(exchange(), page)[0]; len(got.Links) > 0 {
		t.Errorf("a page that asks for nofollow names %v", got.Links)
	}
}

func TestPageRecord(t *testing.T) {
	source, _ := urls.Parse("https://www.example.org/dir/page")
	page := &document.Page{
		MediaType: "text/html", Charset: "utf-8", Title: "A title", Language: "de", Base: "/base/", Canonical: "page",
		Text: "A heading\nand a text that is long enough to show its language", Direction: language.RightToLeft, Headings: []document.Heading{{Level: 1, Text: "A heading"}},
		Keywords: "a, b", Author: "An author", Date: "2026-01-02", CanonicalConflict: true,
		OpenGraph: []document.Property{{Name: "og:title", Content: "A title"}}, JSONLD: []string{"{}"}, JSONLDOmitted: 1,
		Links: []document.Link{
			{URL: "next#part", Text: "on", Rel: "next", Kind: document.KindNext, Language: "de"}, {URL: "mailto:x@example.org"},
		},
		Skipped: document.Skipped{Many: 3}, Robots: document.Robots{NoIndex: true},
	}
	want := codecs.Parsed{
		ID: "page-1", URL: "https://www.example.org/dir/page", Domain: "example.org", Crawl: "test",
		Status: 200, FetchedAt: time.UnixMilli(1_790_000_000_123).UTC(), Depth: 2,
		ContentType: "text/html", Charset: "utf-8", BodyBytes: 77, Truncated: true,
		Language: "de", Detected: "en", Confidence: 0.99, Script: "Latn", Direction: "rtl", Title: "A title", Canonical: "https://www.example.org/base/page",
		Robots:   codecs.ParsedRobots{NoIndex: true},
		Headings: []codecs.ParsedHeading{{Level: 1, Text: "A heading"}}, Text: page.Text,
		Links: []codecs.ParsedLink{
			{URL: "https://www.example.org/base/next", Text: "on", Rel: "next", Kind: "next", Language: "de"}, {URL: "mailto:x@example.org"},
		},
		LinksOmitted: 3,
		Keywords:     "a, b", Author: "An author", Date: "2026-01-02", CanonicalConflict: true,
		OpenGraph: []codecs.ParsedProperty{{Name: "og:title", Content: "A title"}}, JSONLD: []string{"{}"}, JSONLDOmitted: 1,
	}
	base := (*urls.Form)(nil).Document(source, page.Base, page.Charset)
	if diff := cmp.Diff(want, parsed(exchange(), page, source, base, "example.org", "test")); diff != "" {
		t.Error(diff)
	}
}

// Every part of what a page names says in which encoding its links are.
func TestEncodingTravels(t *testing.T) {
	long := strings.Repeat("x", maxDiscoveredBytes/2)
	page := &document.Page{Charset: "windows-1251", Links: []document.Link{{URL: "?д" + long, Follow: true}, {URL: "?д" + long, Follow: true}}}
	parts := discovered(exchange(), page)
	if len(parts) != 2 || parts[0].Charset != page.Charset || parts[1].Charset != page.Charset {
		t.Errorf("%d parts, %q", len(parts), parts)
	}
	if page.Charset = "utf-8"; discovered(exchange(), page)[0].Charset != "" {
		t.Error("UTF-8 is said")
	}
}
