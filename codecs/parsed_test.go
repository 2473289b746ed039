package codecs

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// viaReflection is Parsed as encoding/json sees it without our encoder.
type viaReflection Parsed

func reflected(tb testing.TB, p Parsed) []byte {
	tb.Helper()
	if p.Headings == nil {
		p.Headings = []ParsedHeading{}
	}
	if p.Links == nil {
		p.Links = []ParsedLink{}
	}
	if p.Feed != nil && p.Feed.Entries == nil {
		f := *p.Feed
		f.Entries, p.Feed = []ParsedEntry{}, &f
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(viaReflection(p)); err != nil {
		tb.Fatal(err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

func drawString() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.Just(""),
		rapid.String(),
		rapid.StringMatching(`[ -~\n\t"\\<>&]{0,40}`),
		// Bytes of any kind, cut wherever they happen to be.
		rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
		rapid.SampledFrom([]string{"\u2028 and \u2029", "\xff\xfe", "\x00\x1f\x7f", "a\xe2\x80", "12345678\"", "naïve — “text”"}),
	)
}

func drawParsed(t *rapid.T) Parsed {
	s := drawString()
	b := rapid.Bool()
	return Parsed{
		ID: s.Draw(t, "id"), URL: s.Draw(t, "url"), Domain: s.Draw(t, "domain"), Crawl: s.Draw(t, "crawl"),
		Status: rapid.Int().Draw(t, "status"), Depth: rapid.Uint32().Draw(t, "depth"),
		FetchedAt:   time.Unix(rapid.Int64Range(0, 1<<37).Draw(t, "s"), rapid.Int64Range(0, 999_999_999).Draw(t, "ns")).UTC(),
		ContentType: s.Draw(t, "type"), Charset: s.Draw(t, "charset"),
		BodyBytes: rapid.Int64().Draw(t, "bytes"), Truncated: b.Draw(t, "truncated"),
		Unparsed: s.Draw(t, "unparsed"), Fallback: s.Draw(t, "fallback"),
		ContentHash: s.Draw(t, "hash"), SimHash: s.Draw(t, "simhash"), MinHash: s.Draw(t, "minhash"), Unfollowed: s.Draw(t, "unfollowed"),
		DuplicateOf: rapid.Ptr(rapid.Custom(func(t *rapid.T) ParsedOriginal {
			return ParsedOriginal{ID: s.Draw(t, "id"), URL: s.Draw(t, "url"), Distance: rapid.Int().Draw(t, "distance")}
		}), true).Draw(t, "original"),
		Detected: s.Draw(t, "detected"), Confidence: float64(rapid.IntRange(0, 100).Draw(t, "confidence")) / 100,
		Script: s.Draw(t, "script"), Direction: s.Draw(t, "direction"),
		Language: s.Draw(t, "language"), Title: s.Draw(t, "title"), Description: s.Draw(t, "description"), Canonical: s.Draw(t, "canonical"),
		Keywords: s.Draw(t, "keywords"), Author: s.Draw(t, "author"), Date: s.Draw(t, "date"), Modified: s.Draw(t, "modified"), Pages: rapid.IntRange(0, 100).Draw(t, "pages"), CanonicalConflict: b.Draw(t, "conflict"),
		OpenGraph: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) ParsedProperty {
			return ParsedProperty{Name: s.Draw(t, "name"), Content: s.Draw(t, "content")}
		}), 0, 2).Draw(t, "open graph"),
		JSONLD: rapid.SliceOfN(s, 0, 2).Draw(t, "json-ld"), JSONLDOmitted: rapid.IntRange(0, 2).Draw(t, "json-ld omitted"),
		Robots: ParsedRobots{
			NoIndex: b.Draw(t, "noindex"), NoFollow: b.Draw(t, "nofollow"), NoArchive: b.Draw(t, "noarchive"),
			NoSnippet: b.Draw(t, "nosnippet"), UnavailableAfter: s.Draw(t, "unavailable after"),
		},
		Headings: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) ParsedHeading {
			return ParsedHeading{Level: rapid.Int().Draw(t, "level"), Text: s.Draw(t, "text")}
		}), 0, 3).Draw(t, "headings"),
		Text: s.Draw(t, "text"), TextTruncated: b.Draw(t, "text truncated"),
		Fields: json.RawMessage(rapid.SampledFrom([]string{"", "{}", `{"a":[1,"x"]}`}).Draw(t, "fields")), FieldsBy: s.Draw(t, "fields by"),
		FieldErrors: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) ParsedFieldError {
			return ParsedFieldError{Field: s.Draw(t, "field"), Error: s.Draw(t, "error"), Value: s.Draw(t, "value")}
		}), 0, 2).Draw(t, "field errors"),
		MainText: s.Draw(t, "main text"), Markdown: s.Draw(t, "markdown"), MainTruncated: b.Draw(t, "main truncated"), MainUnparsed: s.Draw(t, "main unparsed"),
		Links: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) ParsedLink {
			return ParsedLink{URL: s.Draw(t, "url"), Text: s.Draw(t, "text"), Caption: s.Draw(t, "caption"), Rel: s.Draw(t, "rel"), Kind: s.Draw(t, "kind"), Element: s.Draw(t, "element"), Language: s.Draw(t, "hreflang")}
		}), 0, 3).Draw(t, "links"),
		LinksOmitted: rapid.IntRange(0, 5).Draw(t, "omitted"),
		Feed: rapid.Ptr(rapid.Custom(func(t *rapid.T) ParsedFeed {
			return ParsedFeed{
				Kind: s.Draw(t, "kind"), Link: s.Draw(t, "link"), Self: s.Draw(t, "self"), Hubs: rapid.SliceOfN(s, 0, 2).Draw(t, "hubs"),
				Entries: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) ParsedEntry {
					return ParsedEntry{
						URL: s.Draw(t, "url"), ID: s.Draw(t, "id"), Title: s.Draw(t, "title"), Author: s.Draw(t, "author"),
						Date: s.Draw(t, "date"), Summary: s.Draw(t, "summary"),
					}
				}), 0, 3).Draw(t, "entries"),
				EntriesOmitted: rapid.IntRange(0, 2).Draw(t, "entries omitted"),
			}
		}), true).Draw(t, "feed"),
		Directives: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) ParsedDirective {
			return ParsedDirective{Source: s.Draw(t, "source"), Field: s.Draw(t, "field"), Agent: s.Draw(t, "agent"), Value: s.Draw(t, "value")}
		}), 0, 2).Draw(t, "directives"),
		Usage:      rapid.MapOfN(rapid.StringMatching(`[a-z-]{0,8}`), s, 0, 3).Draw(t, "usage"),
		Structured: rapid.Ptr(rapid.Custom(drawStructured), true).Draw(t, "structured data"),
		BodyHash:   s.Draw(t, "body hash"),
		Image: rapid.Ptr(rapid.Custom(func(t *rapid.T) ParsedImage {
			return ParsedImage{
				Format: s.Draw(t, "format"), Width: rapid.Int().Draw(t, "width"), Height: rapid.Int().Draw(t, "height"), Orientation: rapid.IntRange(0, 8).Draw(t, "orientation"),
				Camera: s.Draw(t, "camera"), Copyright: s.Draw(t, "copyright"), PerceptualHash: s.Draw(t, "perceptual hash"),
				Place: rapid.Ptr(rapid.Custom(func(t *rapid.T) ParsedPlace {
					return ParsedPlace{Latitude: rapid.Float64Range(-90, 90).Draw(t, "latitude"), Longitude: rapid.Float64Range(-180, 180).Draw(t, "longitude")}
				}), true).Draw(t, "place"),
			}
		}), true).Draw(t, "image"),
		Structure: rapid.Ptr(rapid.Custom(func(t *rapid.T) ParsedStructure {
			return ParsedStructure{
				Format: s.Draw(t, "format"), Language: s.Draw(t, "language"), Columns: rapid.SliceOfN(s, 0, 2).Draw(t, "columns"),
				Values: rapid.IntRange(0, 2).Draw(t, "values"), Wrong: s.Draw(t, "wrong"),
			}
		}), true).Draw(t, "structure"),
	}
}

func TestAppendJSONIsEncodingJSON(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := drawParsed(rt)
		if diff := cmp.Diff(string(reflected(t, p)), string(p.AppendJSON(nil))); diff != "" {
			rt.Fatal(diff)
		}
	})
}

func TestAppendJSONAppends(t *testing.T) {
	got := Parsed{}.AppendJSON([]byte("before "))
	if !bytes.HasPrefix(got, []byte(`before {"id":""`)) {
		t.Errorf("got %s", got)
	}
}

// A record that another program wrote may name any time.
func TestAppendJSONOfAnyYear(t *testing.T) {
	p := Parsed{FetchedAt: time.UnixMilli(1 << 60).UTC()}
	want := strings.Replace(string(Parsed{}.AppendJSON(nil)), "0001-01-01T00:00:00Z", p.FetchedAt.Format(time.RFC3339Nano), 1)
	if got := string(p.AppendJSON(nil)); got != want || !json.Valid([]byte(got)) {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestParsedRoundTrip(t *testing.T) {
	want := sampleParsed()
	b, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got Parsed
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestMarshalNil checks that consumers get arrays to go through, not null.
func TestMarshalNil(t *testing.T) {
	b, err := json.Marshal(Parsed{})
	if err != nil {
		t.Fatal(err)
	}
	if s := string(b); !strings.Contains(s, `"headings":[]`) || !strings.Contains(s, `"links":[]`) {
		t.Errorf("got %s", s)
	}
}

func FuzzAppendString(f *testing.F) {
	for _, s := range []string{"", "plain text of some length", "a\"b\\c\n\r\t\b\f\x00\x1f\x7f", "\u2028\u2029", "\xe2\x80\xa8\xe2\x80", "<&>", "12345678\x80", "é漢字🙂"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(s); err != nil {
			t.Fatal(err)
		}
		if want, got := strings.TrimSuffix(b.String(), "\n"), string(appendValue(nil, s)); got != want {
			t.Errorf("%q: got %s, want %s", s, got, want)
		}
	})
}

// sampleParsed is a page of documentation: 8 KB of text, 40 links.
func sampleParsed() Parsed {
	random := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields(`the of a path returns "normalized" pathname and function on most platforms this is equivalent to calling with it`)
	var text strings.Builder
	for text.Len() < 8<<10 {
		text.WriteString(words[random.IntN(len(words))])
		text.WriteByte(" \n"[max(0, random.IntN(14)-12)])
	}
	p := Parsed{
		ID: "0123456789abcdef", URL: "https://docs.example.org/library/os.path.html", Domain: "example.org", Crawl: "docs",
		Status: 200, FetchedAt: time.Date(2026, 3, 4, 5, 6, 7, 89_000_000, time.UTC), Depth: 2,
		ContentType: "text/html", Charset: "utf-8", BodyBytes: 30 << 10,
		Language: "en", Title: "os.path — Common pathname manipulations", Description: "Operations on pathnames.",
		Text: text.String(),
	}
	for range 28 {
		p.Headings = append(p.Headings, ParsedHeading{Level: 2, Text: "Section of the page"})
	}
	for range 40 {
		p.Links = append(p.Links, ParsedLink{URL: "https://docs.example.org/library/functions.html", Text: "normpath()"})
	}
	return p
}

func BenchmarkAppendJSON(b *testing.B) {
	p := sampleParsed()
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		buf = p.AppendJSON(buf[:0])
	}
	b.SetBytes(int64(len(buf)))
}

// BenchmarkEncodingJSON is what AppendJSON has to beat to exist.
func BenchmarkEncodingJSON(b *testing.B) {
	p := sampleParsed()
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	b.ReportAllocs()
	for b.Loop() {
		buf.Reset()
		if err := enc.Encode((*viaReflection)(&p)); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(int64(buf.Len()))
}
