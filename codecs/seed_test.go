package codecs_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/weftcrawl/weft/codecs"
)

func TestDecodeSeeds(t *testing.T) {
	type seeds = []codecs.Seed
	type bad = []codecs.BadSeed
	tests := map[string]struct {
		value string
		seeds seeds
		bad   bad
	}{
		"nothing":          {"", nil, nil},
		"a URL":            {"https://a.example/", seeds{{URL: "https://a.example/"}}, nil},
		"lines":            {"https://a.example/\r\n\n  b.example  \n", seeds{{URL: "https://a.example/"}, {URL: "b.example"}}, nil},
		"comments":         {"# seeds\nhttps://a.example/#top\n   # more", seeds{{URL: "https://a.example/#top"}}, nil},
		"byte order mark":  {"\ufeffhttps://a.example/", seeds{{URL: "https://a.example/"}}, nil},
		"an object":        {`{"url": " https://a.example/ ", "depth": 2}`, seeds{{URL: "https://a.example/", Depth: 2}}, nil},
		"unknown members":  {`{"url":"https://a.example/","from":{"list":[1,2]}}`, seeds{{URL: "https://a.example/"}}, nil},
		"object on lines":  {"{\n  \"url\":\n\"https://a.example/\"\n}\n\xff", seeds{{URL: "https://a.example/"}}, bad{{5, codecs.SeedNotText}}},
		"objects in a row": {`{"url":"a"}{"url":"b"} {"url":"c"}`, seeds{{URL: "a"}, {URL: "b"}, {URL: "c"}}, nil},
		"mixture":          {"a\n{\"url\":\"b\"}\nc", seeds{{URL: "a"}, {URL: "b"}, {URL: "c"}}, nil},
		"no object":        {"{url: a}\nb", seeds{{URL: "b"}}, bad{{1, codecs.SeedNotJSON}}},
		"open object":      {"a\n{\"url\":\nb", seeds{{URL: "a"}, {URL: "b"}}, bad{{2, codecs.SeedNotJSON}}},
		"no url":           {"{\"depth\":1}\n{\"url\":\"  \"}", nil, bad{{1, codecs.SeedNoURL}, {2, codecs.SeedNoURL}}},
		"no url on lines":  {"{\n\"depth\": 1\n}\nb", seeds{{URL: "b"}}, bad{{1, codecs.SeedNoURL}}},
		"url of a type":    {`{"url":["https://a.example/"]}`, nil, bad{{1, codecs.SeedNotJSON}}},
		"depth below 0":    {`{"url":"a","depth":-5}`, nil, bad{{1, codecs.SeedBadDepth}}},
		"depth too large":  {"{\"url\":\"a\",\"depth\":4294967296}\n{\"depth\":1e400,\"url\":\"b\"}", nil, bad{{1, codecs.SeedBadDepth}, {2, codecs.SeedBadDepth}}},
		"half a depth":     {`{"url":"a","depth":1.5}`, nil, bad{{1, codecs.SeedBadDepth}}},
		"depth of a type":  {`{"url":"a","depth":"1"}`, nil, bad{{1, codecs.SeedNotJSON}}},
		"after bad depth":  {"{\n\"url\":\"a\",\n\"depth\":-5}{\"url\":\"b\",\"depth\":4294967295}\nc", seeds{{URL: "b", Depth: 4294967295}, {URL: "c"}}, bad{{1, codecs.SeedBadDepth}}},
		"not text":         {"\xff\xfe\nhttps://a.example/", seeds{{URL: "https://a.example/"}}, bad{{1, codecs.SeedNotText}}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			gotSeeds, gotBad := codecs.DecodeSeeds([]byte(tc.value))
			if diff := cmp.Diff(tc.seeds, gotSeeds); diff != "" {
				t.Errorf("seeds (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.bad, gotBad); diff != "" {
				t.Errorf("bad (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEncodeSeedRoundTrip(t *testing.T) {
	if got := string(codecs.EncodeSeed(codecs.Seed{URL: "https://a.example/"})); got != "https://a.example/" {
		t.Errorf("a plain URL is encoded as %q", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		want := codecs.Seed{
			URL:   rapid.OneOf(rapid.String(), rapid.StringMatching(`[#{"\x{feff}\n h/]{1,5}`)).Filter(func(s string) bool { return strings.TrimSpace(s) == s && s != "" }).Draw(t, "url"),
			Depth: rapid.Uint32().Draw(t, "depth"),
		}
		got, bad := codecs.DecodeSeeds(codecs.EncodeSeed(want))
		if len(bad) > 0 || len(got) != 1 || got[0] != want {
			t.Fatalf("%+v became %+v, %+v", want, got, bad)
		}
	})
}

func FuzzDecodeSeeds(f *testing.F) {
	for _, s := range []string{"https://a.example/\n#\n", `{"url":"a"}{"url":"b"}`, "{\n\"url\":\"a\"\n}", "{", "\ufeff", "\xff"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		seeds, bad := codecs.DecodeSeeds(value)
		if n := strings.Count(string(value), "\n") + strings.Count(string(value), "}") + 1; len(seeds)+len(bad) > n {
			t.Errorf("%d seeds and %d bad ones", len(seeds), len(bad))
		}
		for _, s := range seeds {
			if strings.TrimSpace(s.URL) == "" || !utf8.ValidString(s.URL) {
				t.Errorf("seed %q", s.URL)
			}
			again, bad := codecs.DecodeSeeds(codecs.EncodeSeed(s))
			if len(bad) > 0 || len(again) != 1 || again[0] != s {
				t.Errorf("%+v became %+v", s, again)
			}
		}
		last := 0
		for _, b := range bad {
			if b.Line < last || b.Reason == "" {
				t.Errorf("bad seeds %+v", bad)
			}
			last = b.Line
		}
	})
}
