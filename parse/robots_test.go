package parse

import "testing"

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
		{"date with a colon", []string{"unavailable_after: 25 Jun 2030 15:00:00 PST, noindex"}, Robots{NoIndex: true}},
		{"snippet", []string{"max-snippet: 20, max-image-preview:large, nofollow"}, Robots{NoFollow: true}},
		{"longer words", []string{"noindexes, nonever"}, all},
		{"spaces within", []string{"otherbot : noindex, weft : noindex"}, Robots{NoIndex: true}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := robotsOfTags(test.values, "weft"); got != test.want {
				t.Errorf("%q: got %+v, want %+v", test.values, got, test.want)
			}
		})
	}
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
