package main

import (
	"slices"
	"testing"

	"github.com/weftcrawl/weft/internal/settings"
	"github.com/weftcrawl/weft/topics"
)

// TestRespect holds which uses --respect takes, and that they reach the stage parse.
func TestRespect(t *testing.T) {
	for use, want := range map[string]string{
		"ai-train=n": "train-ai", "train-ai=no": "train-ai", "TDM=n": "tdm", "search=y": "", "search": "", "a b=n": "", "": "",
	} {
		f := definitionFlags{Respect: []string{use}}
		if err := f.check(); (err == nil) != (want != "") {
			t.Errorf("--respect %q: %v", use, err)
			continue
		}
		d := f.over(newDefinition("test"))
		if want == "" {
			if settings.CheckDefinition(d) == nil {
				t.Errorf("a definition with %q is valid", use)
			}
			continue
		}
		if got := settings.ParseOptions(d).Respect; !slices.Equal(got, []string{want}) || settings.CheckDefinition(d) != nil {
			t.Errorf("--respect %q: %q", use, got)
		}
	}
	if d := (definitionFlags{}).over(topics.Definition{Respect: []string{"tdm=n"}}); !slices.Equal(d.Respect, []string{"tdm=n"}) {
		t.Errorf("without the flag the crawl respects %q", d.Respect)
	}
}

// --main-text and --markdown reach the stage parse.
func TestMainTextFlags(t *testing.T) {
	yes, no := true, false
	for _, c := range []struct{ text, markdown *bool }{{nil, nil}, {&yes, nil}, {nil, &yes}, {&no, &yes}} {
		was := topics.Definition{MainText: true}
		d := definitionFlags{MainText: c.text, Markdown: c.markdown}.over(was)
		got := settings.ArticleOptions(d)
		if want := c.text == nil || *c.text; got.Text != want || got.Markdown != (c.markdown != nil) || got.MaxBytes == 0 {
			t.Errorf("%v, %v: %+v", c.text, c.markdown, got)
		}
	}
}
