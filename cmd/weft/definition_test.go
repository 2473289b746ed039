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
