package settings

import (
	"testing"

	"github.com/weftcrawl/weft/processors/fetch/httpclient"
	"github.com/weftcrawl/weft/topics"
)

// Bodies are fetched if they may have text, if their type is accepted, or if links to them are
// followed.
func TestAcceptedTypes(t *testing.T) {
	for _, c := range []struct {
		name         string
		d            topics.Definition
		wanted, left []string
	}{
		{"as it is", topics.Definition{}, []string{"text/html", "application/pdf", ""}, []string{"image/png", "audio/ogg", "font/woff2"}},
		{"accepted", topics.Definition{Accept: []string{"audio/*", "application/zip"}}, []string{"text/html", "audio/ogg", "application/zip"}, []string{"image/png", "application/wasm"}},
		{"everything", topics.Definition{Accept: []string{"*/*"}}, []string{"image/png", "application/wasm"}, nil},
		{"images are followed", topics.Definition{FollowLinks: []string{"a", "image"}}, []string{"image/png", "image/svg+xml"}, []string{"video/mp4"}},
		{"media are followed", topics.Definition{FollowLinks: []string{"media"}}, []string{"video/mp4", "audio/ogg"}, []string{"image/png"}},
	} {
		want := ClientOptions(httpclient.DefaultOptions(), c.d).WantBody
		for _, media := range c.wanted {
			if !want(media) {
				t.Errorf("%s: %q is not fetched", c.name, media)
			}
		}
		for _, media := range c.left {
			if want(media) {
				t.Errorf("%s: %q is fetched", c.name, media)
			}
		}
	}
}

func TestTypesAndTimesAreChecked(t *testing.T) {
	for _, c := range []struct {
		name string
		d    topics.Definition
		ok   bool
	}{
		{"types", topics.Definition{Accept: []string{"image/*"}, MaxBodyOf: map[string]int64{"image/*": 1 << 20}}, true},
		{"not a type", topics.Definition{Accept: []string{"png"}}, false},
		{"a limit of what is no type", topics.Definition{MaxBodyOf: map[string]int64{"png": 1}}, false},
		{"a limit of 0", topics.Definition{MaxBodyOf: map[string]int64{"image/*": 0}}, false},
		{"too large for records", topics.Definition{MaxBodyOf: map[string]int64{"image/*": 20 << 20}}, false},
		{"a time without an archive", topics.Definition{KeepMS: 1}, false},
		{"a time of a domain without an archive", topics.Definition{KeepOfMS: map[string]int64{"example.com": 1}}, false},
		{"a negative time", topics.Definition{Archive: topics.InData, KeepOfMS: map[string]int64{"example.com": -1}}, false},
		{"a time, and for ever", topics.Definition{Archive: topics.InData, KeepMS: 1, KeepOfMS: map[string]int64{"example.com": 0}}, true},
		{"large, and a store", topics.Definition{MaxBodyOf: map[string]int64{"image/*": 20 << 20}, Bodies: topics.InData}, true},
	} {
		c.d.DelayMS, c.d.PerDomain, c.d.Scope, c.d.MaxDepth = 1000, 1, "host", -1
		if err := CheckDefinition(c.d); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
