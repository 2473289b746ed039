package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/internal/settings"
	"github.com/weftcrawl/weft/topics"
)

// TestRespect holds which uses --respect takes, and that they reach the stage parse.
func TestRespect(t *testing.T) {
	for use, want := range map[string]string{
		"ai-train=n": "train-ai", "train-ai=no": "train-ai", "TDM=n": "tdm", "search=y": "", "search": "", "a b=n": "", "": "",
	} {
		f := definitionFlags{parseFlags: parseFlags{Respect: []string{use}}}
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
		d := parseFlags{MainText: c.text, Markdown: c.markdown}.over(was)
		got := settings.ArticleOptions(d)
		if want := c.text == nil || *c.text; got.Text != want || got.Markdown != (c.markdown != nil) || got.MaxBytes == 0 {
			t.Errorf("%v, %v: %+v", c.text, c.markdown, got)
		}
	}
}

// --structured-data reaches the definition, and stays there.
func TestStructuredDataFlag(t *testing.T) {
	off := topics.NoStructuredData
	d := parseFlags{StructuredData: &off}.over(topics.Definition{})
	if d = (definitionFlags{}).over(d); d.StructuredData != topics.NoStructuredData {
		t.Errorf("the crawl has structured data %q", d.StructuredData)
	}
}

// --rules reads a file or a folder into the definition of the crawl, and none ends them.
func TestRulesFlag(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	shop := write("shop.yaml", "fields: {title: h1}")
	write("blog.yml", "fields: {title: h2}")
	write("README.md", "not a rule")
	for path, want := range map[string][]string{shop: {"shop.yaml"}, dir: {"blog.yml", "shop.yaml"}, noRules: nil} {
		var f definitionFlags
		if err := f.Rules.UnmarshalText([]byte(path)); err != nil {
			t.Fatal(err)
		}
		if err := f.check(); err != nil {
			t.Error(err)
		}
		var names []string
		for _, r := range f.over(topics.Definition{Rules: []topics.RuleFile{{Name: "old.yaml"}}}).Rules {
			names = append(names, r.Name)
		}
		if !slices.Equal(names, want) {
			t.Errorf("--rules %s: %q", path, names)
		}
	}
	bad := definitionFlags{parseFlags: parseFlags{Rules: ruleFiles{{Name: "bad.yaml", Text: "fields:\n  a: '['"}}}}
	if err := bad.check(); err == nil || !strings.Contains(err.Error(), "--rules: bad.yaml:2: field a: selector") {
		t.Error(err)
	}
	if err := settings.CheckDefinition(bad.over(newDefinition("test"))); err == nil {
		t.Error("a definition with a bad rule is valid")
	}
	for _, path := range []string{filepath.Join(dir, "none.yaml"), t.TempDir()} {
		if err := new(ruleFiles).UnmarshalText([]byte(path)); err == nil {
			t.Errorf("--rules %s is taken", path)
		}
	}
}
