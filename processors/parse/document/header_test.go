package document

import (
	"fmt"
	"strings"
	"testing"
)

// TestHeaderLinks reads Link fields, the examples of RFC 8288 section 3.5 and of
// RFC 6596 among them.
func TestHeaderLinks(t *testing.T) {
	for field, want := range map[string]string{
		`<http://example.com/TheBook/chapter2>; rel="previous"; title="previous chapter"`: "http://example.com/TheBook/chapter2|previous|previous chapter",
		`</>; rel="http://example.net/foo"`:                                               "/|http://example.net/foo|",
		`</terms>; rel="copyright"; anchor="#foo"`:                                        "/terms|copyright||#foo",
		`</TheBook/chapter2>; rel="previous"; title*=UTF-8'de'letztes%20Kapitel, </TheBook/chapter4>; rel="next"; title*=UTF-8'de'n%c3%a4chstes%20Kapitel`: "/TheBook/chapter2|previous| /TheBook/chapter4|next|",
		`<http://example.org/>; rel="start http://example.net/relation/other"`:                                                                             "http://example.org/|start http://example.net/relation/other|",
		`<https://example.org/>; rel=start, <https://example.org/index>; rel=index`:                                                                        "https://example.org/|start| https://example.org/index|index|",
		`<a>;rel=next;rel=prev`:                     "a|next|",
		`<a> ; REL = next ; x`:                      "a|next|",
		`<a,b;c>;rel="ne\xt"`:                       "a,b;c|next|",
		`<a>;title="x, <b>; rel=next";rel=prev,<c>`: "a|prev|x, <b>; rel=next c||",
		`<a>;title="open, <b>;rel=next`:             "a||open, <b>;rel=next",
		`<a>junk;rel=next,<b>;rel=prev`:             "a|next| b|prev|",
		`rel=next`:                                  "",
		`<a`:                                        "",
		`, , <a>;rel=next,,`:                        "a|next|",
		`< a >;rel=next`:                            "a|next|",
		`<a>;hreflang=de;hreflang=fr;rel=alternate`: "a|alternate||de",
	} {
		var got []string
		headerLinks(field, func(l headerLink) {
			s := l.target + "|" + l.rel + "|" + l.title
			if l.anchor != "" || l.language != "" {
				s += "|" + l.anchor + l.language
			}
			got = append(got, s)
		})
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%s\ngot  %s\nwant %s", field, s, want)
		}
	}
	many := 0
	headerLinks(strings.Repeat("<a>;rel=next,", 1000), func(headerLink) { many++ })
	if many != maxHeaderLinks {
		t.Errorf("%d links of one field", many)
	}
}

// TestResponseHeader checks what links of the header become beside the links of the document: they
// ignore its base, and stand for other documents too.
func TestResponseHeader(t *testing.T) {
	p := newParser(t, nil)
	in := Input{
		URL: "https://www.example.org/dir/page", ContentType: "text/html",
		LinkFields: []string{
			`</canonical>; rel=canonical, <2>; rel="next"`, `<x>; rel=preload`, `<other>; rel=next; anchor="/elsewhere"`,
			`</de>; rel=alternate; hreflang=de; title="Deutsch"; anchor="#top"`,
		},
		Refresh: "5; url=/moved",
		Body:    []byte(`<base href="/base/"><link rel=canonical href="https://www.example.org/canonical"><a href="3">three</a>`),
	}
	want := "https://www.example.org/canonical canonical,https://www.example.org/dir/2 next,https://www.example.org/de alternate de Deutsch," +
		"https://www.example.org/moved refresh,3 a three"
	list := func(page *Page) string {
		var all []string
		for _, l := range page.Links {
			all = append(all, strings.Join(strings.Fields(fmt.Sprint(l.URL, " ", l.Kind, " ", l.Language, " ", l.Text)), " "))
		}
		return strings.Join(all, ",")
	}
	page := p.Document(in)
	if got := list(page); got != want || page.Canonical != "https://www.example.org/canonical" || page.CanonicalConflict {
		t.Errorf("got  %s\nwant %s\ncanonical %q, conflict %v", got, want, page.Canonical, page.CanonicalConflict)
	}
	in.ContentType = "application/pdf"
	if page = p.Document(in); page.Canonical != "https://www.example.org/canonical" || len(page.Links) != 4 || page.Unparsed != UnsupportedType {
		t.Errorf("a PDF: canonical %q, %d links", page.Canonical, len(page.Links))
	}
}

// TestCanonical holds which of several statements counts.
func TestCanonical(t *testing.T) {
	p := newParser(t, nil)
	for _, test := range []struct {
		name, field, body, want string
		conflict                bool
	}{
		{name: "none", body: "<p>x"},
		{name: "tag", body: "<link rel=canonical href=' /a '>", want: "/a"},
		{name: "header", field: "</a>; rel=canonical", want: "https://www.example.org/a"},
		{name: "both the same", field: "</a>; rel=canonical", body: "<link rel=canonical href=/a>", want: "https://www.example.org/a"},
		{name: "both, against the base", field: "</a/b>; rel=canonical", body: "<base href=/a/><link rel=canonical href=b>", want: "https://www.example.org/a/b"},
		{name: "header against tag", field: "</a>; rel=canonical", body: "<link rel=canonical href=/b>", conflict: true},
		{name: "tag against tag", body: "<link rel=canonical href=/a><link rel=canonical href=/a><link rel=canonical href=/b>", conflict: true},
		{name: "one of them no URL", body: "<link rel=canonical href=/a><link rel=canonical href='http://['>", conflict: true},
		{name: "an empty one", body: "<link rel=canonical href><link rel=canonical href=/b>", want: "/b"},
	} {
		t.Run(test.name, func(t *testing.T) {
			in := Input{URL: "https://www.example.org/page", ContentType: "text/html", Body: []byte(test.body)}
			if test.field != "" {
				in.LinkFields = []string{test.field}
			}
			if page := p.Document(in); page.Canonical != test.want || page.CanonicalConflict != test.conflict {
				t.Errorf("got %q, conflict %v", page.Canonical, page.CanonicalConflict)
			}
		})
	}
}

// TestBase checks that the first base element with an href counts, even if it is useless (WHATWG
// HTML, the base element).
func TestBase(t *testing.T) {
	p := newParser(t, nil)
	for body, want := range map[string]string{
		`<base href="/a/"><base href="/b/">`:                  "/a/",
		`<base target=_top><base href="/b/">`:                 "/b/",
		`<base href=""><base href="/b/">`:                     "",
		`<base href="data:text/plain,x"><base href="/b/">`:    "",
		`<base href="javascript:void(0)"><base href="/b/">`:   "",
		`<base href=" https://other.example/x ">`:             "https://other.example/x",
		`<template><base href="/a/"></template><base href=b>`: "b",
		`<svg><base href="/a/"></svg><base href=b>`:           "b",
		`<body><p>late<base href=/late/>`:                     "/late/",
	} {
		if page := p.Document(Input{ContentType: "text/html", Body: []byte(body)}); page.Base != want {
			t.Errorf("%s: got %q, want %q", body, page.Base, want)
		}
	}
}

// TestEmptyReferences checks that on a page with another base only empty references of anchors lead
// there (WHATWG HTML).
func TestEmptyReferences(t *testing.T) {
	p := newParser(t, nil)
	for body, want := range map[string]int{
		`<a href="">x</a>`: 1, `<a href="#x">x</a>`: 1, `<map><area href=""></map>`: 1,
		`<iframe src=""></iframe>`: 0, `<form action=""></form>`: 0, `<img src="">`: 0,
		`<link rel=next href="">`: 0, `<link rel=canonical href="">`: 0, `<link rel=stylesheet href="">`: 0,
		`<a href="#` + strings.Repeat("x", DefaultOptions().MaxHrefBytes) + `">x</a>`: 0,
	} {
		page := p.Document(Input{ContentType: "text/html", Body: []byte(`<base href="/other/">` + body)})
		if len(page.Links) != want || page.Canonical != "" {
			t.Errorf("%.80s: got %v, canonical %q, want %d links", body, page.Links, page.Canonical, want)
		}
	}
}
