package document

import (
	"cmp"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestRobotsOfTags(t *testing.T) {
	none, all := Robots{NoIndex: true, NoFollow: true}, Robots{}
	for _, test := range []struct {
		name   string
		values []string
		want   Robots
	}{
		{"no header", nil, all},
		{"empty", []string{"", " , ,"}, all},
		{"one", []string{"noindex"}, Robots{NoIndex: true}},
		{"list", []string{" NoIndex ,NOFOLLOW"}, none},
		{"none", []string{"none"}, none},
		{"several fields", []string{"noindex", "nofollow"}, none},
		{"permissions do not undo", []string{"noindex", "all, index, follow"}, Robots{NoIndex: true}},
		{"ours", []string{"Weft: nofollow"}, Robots{NoFollow: true}},
		{"another's", []string{"otherbot: noindex, nofollow"}, all},
		{"another's, then ours", []string{"otherbot: noindex, weft: nofollow"}, Robots{NoFollow: true}},
		{"another's ends with its field", []string{"otherbot: noindex", "nofollow"}, Robots{NoFollow: true}},
		{"named everybody", []string{"*: noindex, robots: nofollow"}, none},
		{"date with a colon", []string{"unavailable_after: 25 Jun 2030 15:00:00 PST, noindex"}, Robots{NoIndex: true, UnavailableAfter: "25 Jun 2030 15:00:00 PST"}},
		{"snippet", []string{"max-snippet: 20, max-image-preview:large, nofollow"}, Robots{NoFollow: true}},
		{"all of them", []string{"noindex,nofollow,noarchive,nosnippet"}, Robots{NoIndex: true, NoFollow: true, NoArchive: true, NoSnippet: true}},
		{"no cache", []string{"NoCache"}, Robots{NoArchive: true}},
		{"RFC 850 date", []string{"unavailable_after: Wednesday, 25-Jun-30 15:00:00 PST, nofollow"},
			Robots{NoFollow: true, UnavailableAfter: "Wednesday, 25-Jun-30 15:00:00 PST"}},
		{"RFC 822 date", []string{"noindex, Unavailable_After:Wed, 25 Jun 2030 15:00:00 GMT"},
			Robots{NoIndex: true, UnavailableAfter: "Wed, 25 Jun 2030 15:00:00 GMT"}},
		{"ISO 8601 date", []string{"unavailable_after: 2030-06-25T15:00:00+01:00"}, Robots{UnavailableAfter: "2030-06-25T15:00:00+01:00"}},
		{"our date", []string{"weft: unavailable_after: 25 Jun 2030 15:00:00 PST"}, Robots{UnavailableAfter: "25 Jun 2030 15:00:00 PST"}},
		{"another's date", []string{"otherbot: unavailable_after: 25 Jun 2030 15:00:00 PST, noindex"}, all},
		{"another's date with a comma", []string{"otherbot: unavailable_after: Wed, 25 Jun 2030 15:00:00 GMT, noindex, weft: nofollow"}, Robots{NoFollow: true}},
		{"a weekday and a date without a comma", []string{"unavailable_after: Sun Jun 25 2030, nofollow"},
			Robots{NoFollow: true, UnavailableAfter: "Sun Jun 25 2030"}},
		{"a weekday alone", []string{"unavailable_after: Sunday, noindex", "unavailable_after: Fri"}, Robots{NoIndex: true, UnavailableAfter: "Sunday"}},
		{"a weekday that is no date", []string{"max-snippet: sun, noindex", "category: sat, 25 things, nofollow"}, none},
		{"words that start like a weekday", []string{"category: sunset, noindex", "foo: monitor, nofollow"}, none},
		{"first date", []string{"unavailable_after: a", "unavailable_after: b"}, Robots{UnavailableAfter: "a"}},
		{"long date", []string{"unavailable_after: " + strings.Repeat("9", 1000)}, Robots{UnavailableAfter: strings.Repeat("9", 64)}},
		{"a word with a value that nobody knows", []string{"max-colours: 3, noindex"}, Robots{NoIndex: true}},
		{"an agent alone", []string{"otherbot:, noindex"}, all},
		{"an agent and a permission", []string{"otherbot: all, noindex"}, all},
		{"an agent that starts like ours", []string{"weft-news: noindex"}, all},
		{"longer words", []string{"noindexes, nonever"}, all},
		{"spaces within", []string{"otherbot : noindex, weft : noindex"}, Robots{NoIndex: true}},
		{"no commas", []string{"NoIndex nofollow"}, none},
		{"semicolons", []string{"noindex; nofollow;"}, none},
		{"no commas, with a value", []string{"max-snippet:-1 noindex unavailable_after:2030-06-25"}, Robots{NoIndex: true, UnavailableAfter: "2030-06-25"}},
		{"no commas, for us and another", []string{"otherbot: nosnippet nofollow, weft: noindex nofollow"}, none},
		{"words among others", []string{"please noindex this", "unavailable_after: noindex never"}, Robots{UnavailableAfter: "noindex never"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := robotsOfTags(test.values, "weft"); got != test.want {
				t.Errorf("%q: got %+v, want %+v", test.values, got, test.want)
			}
		})
	}
}

// TestRobotsOfMeta checks what differs between the two places: a meta element has
// one addressee, its name.
func TestRobotsOfMeta(t *testing.T) {
	for _, test := range []struct {
		head string
		want Robots
	}{
		{`<meta name=robots content="noindex,nofollow">`, Robots{NoIndex: true, NoFollow: true}},
		{`<META NAME=" ROBOTS " CONTENT=" None ">`, Robots{NoIndex: true, NoFollow: true}},
		{`<meta name=robots content=noindex><meta name=robots content=noarchive>`, Robots{NoIndex: true, NoArchive: true}},
		{`<meta name=robots content=index><meta name=weft content=noindex>`, Robots{NoIndex: true}},
		{`<meta name=robots content=noindex><meta name=weft content="index, follow">`, Robots{NoIndex: true}},
		{`<meta name=robots content="noindex nofollow">`, Robots{NoIndex: true, NoFollow: true}},
		{`<meta name=otherbot content=none><meta name=weft-news content=none>`, Robots{}},
		{`<meta name=robots content="weft: noindex">`, Robots{}},
		{`<meta name=robots content="unavailable_after: Wed, 25 Jun 2030 15:00:00 GMT, nosnippet">`,
			Robots{NoSnippet: true, UnavailableAfter: "Wed, 25 Jun 2030 15:00:00 GMT"}},
		{`<meta name=robots content="unavailable_after: Sunday 25 June 2030, noindex">`,
			Robots{NoIndex: true, UnavailableAfter: "Sunday 25 June 2030"}},
		{`<meta name=robots>`, Robots{}},
		{`<meta property=robots content=noindex>`, Robots{}},
	} {
		page := newParser(t, nil).Document(Input{ContentType: "text/html", Body: []byte(test.head + "<p>text")})
		if page.Robots != test.want {
			t.Errorf("%s: got %+v, want %+v", test.head, page.Robots, test.want)
		}
	}
}

// FuzzRobotsTags feeds two header fields: directives for us are united, whatever
// else is there, and what is kept is bounded text.
func FuzzRobotsTags(f *testing.F) {
	for _, value := range []string{
		"noindex, weft: none", "otherbot: unavailable_after: Wed, 25 Jun 2030 15:00:00 GMT, weft: noindex", "a:b:c,,:", "unavailable_after:mon,\xff", "weft: noindex; nofollow otherbot: none",
	} {
		f.Add(value, "nofollow")
	}
	f.Fuzz(func(t *testing.T, one, other string) {
		both := robotsOfTags([]string{one, other}, "weft")
		if !utf8.ValidString(both.UnavailableAfter) || len(both.UnavailableAfter) > maxDateBytes {
			t.Errorf("%q", both.UnavailableAfter)
		}
		a, b := robotsOfTags([]string{one}, "weft"), robotsOfTags([]string{other}, "weft")
		united := Robots{
			NoIndex: a.NoIndex || b.NoIndex, NoFollow: a.NoFollow || b.NoFollow, NoArchive: a.NoArchive || b.NoArchive,
			NoSnippet: a.NoSnippet || b.NoSnippet, UnavailableAfter: cmp.Or(a.UnavailableAfter, b.UnavailableAfter),
		}
		if both != united {
			t.Errorf("%+v together, %+v and %+v apart", both, a, b)
		}
		if ours := robotsOfTags([]string{"weft: noindex, " + one}, "weft"); !ours.NoIndex {
			t.Error("what is addressed to us is not heard")
		}
		if theirs := robotsOfTags([]string{"otherbot: noindex"}, "weft"); theirs != (Robots{}) {
			t.Errorf("what is addressed to another is heard: %+v", theirs)
		}
		var meta Robots
		meta.add(one)
	})
}

func TestOmitNoIndex(t *testing.T) {
	in := Input{
		ContentType: "text/html", RobotsTags: []string{"noindex"},
		Body: []byte(`<title>T</title><meta name=description content=D><h1>H</h1><a href=/a>a</a>`),
	}
	kept := newParser(t, nil).Document(in)
	if kept.Text != "H\na" || kept.Unparsed != "" || !kept.Robots.NoIndex {
		t.Errorf("by default: %+v", kept)
	}
	omitted := newParser(t, func(o *Options) { o.OmitNoIndex = true }).Document(in)
	if omitted.Text != "" || omitted.Headings != nil || omitted.Description != "" || omitted.Unparsed != NoIndex {
		t.Errorf("omitted: %+v", omitted)
	}
	if omitted.Title != "T" || len(omitted.Links) != 1 {
		t.Errorf("title and links must stay: %+v", omitted)
	}
}
