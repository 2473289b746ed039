package difference

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"go.uber.org/goleak"

	"github.com/weftcrawl/weft/internal/blob"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// set is a set of pages in files.
func set(t *testing.T, files map[string]string) blob.Bucket {
	t.Helper()
	b, err := blob.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		var packed bytes.Buffer
		switch {
		case strings.HasSuffix(name, ".gz"):
			z := gzip.NewWriter(&packed)
			_, _ = z.Write([]byte(text))
			_ = z.Close()
		case strings.HasSuffix(name, ".zst"):
			z, _ := zstd.NewWriter(&packed)
			_, _ = z.Write([]byte(text))
			_ = z.Close()
		default:
			packed.WriteString(text)
		}
		if err := b.Put(t.Context(), name, bytes.NewReader(packed.Bytes()), int64(packed.Len())); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// line is a record; more are its other members.
func line(n int, more string) string {
	return fmt.Sprintf(`{"url":"http://a.example/%d","fetched_at":"2026-11-24T10:00:00Z"%s}`+"\n", n, more)
}

func TestCompare(t *testing.T) {
	long := strings.Repeat("ä", 400)
	a := set(t, map[string]string{
		"1.jsonl":         line(0, `,"title":"same"`) + line(1, `,"title":"before","robots":{"noindex":false},"links":[]`),
		"2.jsonl.gz":      line(2, `,"text":"`+long+` old `+long+`"`) + line(2, `,"text":"a repeat"`) + line(3, ``),
		"generation.json": "not a page",
	})
	b := set(t, map[string]string{
		"x.jsonl.zst": line(2, `,"text":"`+long+` new `+long+`"`) + line(1, `,"title":"after","robots":{"noindex":true},"fields":{"price":1}`),
		"y.jsonl":     line(4, ``) + line(4, ``) + line(0, `,"title":"same"`),
	})
	got, err := Compare(t.Context(), a, b, 1)
	if err != nil {
		t.Fatal(err)
	}
	url := func(n int) string { return fmt.Sprintf("http://a.example/%d", n) }
	want := Report{
		A: a.String(), B: b.String(), PagesA: 4, PagesB: 4, RepeatsA: 1, RepeatsB: 1,
		Same: 1, Changed: 2, Added: 1, Gone: 1, AddedURLs: []string{url(4)}, GoneURLs: []string{url(3)},
		Fields: []Field{
			{Name: "fields.price", Added: 1, Examples: []Example{{URL: url(1), After: "1"}}},
			{Name: "links", Gone: 1, Examples: []Example{{URL: url(1), Before: "[]"}}},
			{Name: "robots.noindex", Changed: 1, Examples: []Example{{URL: url(1), Before: "false", After: "true"}}},
			{Name: "text", Changed: 1, Examples: []Example{{
				URL: url(2), Before: "old", After: "new",
			}}},
			{Name: "title", Changed: 1, Examples: []Example{{URL: url(1), Before: `"before"`, After: `"after"`}}},
		},
	}
	for i := range got.Fields { // where exactly a long value is cut does not matter
		for j := range got.Fields[i].Examples {
			e := &got.Fields[i].Examples[j]
			if e.URL != url(2) {
				continue
			}
			if !strings.Contains(e.Before, "ä old ä") || !strings.Contains(e.After, "ä new ä") || len(e.Before) > 200 || strings.ContainsRune(e.Before+e.After, '\ufffd') {
				t.Errorf("%+v", e)
			}
			e.Before, e.After = want.Fields[3].Examples[0].Before, want.Fields[3].Examples[0].After
		}
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Example{})); diff != "" {
		t.Error(diff)
	}
	if got, err := Compare(t.Context(), a, a, 1); err != nil || got.Same != 4 || len(got.Fields) != 0 || got.Changed+got.Added+got.Gone != 0 {
		t.Errorf("a set and itself: %+v, %v", got, err)
	}
	for text, want := range map[string]string{"x\n": "1.jsonl: read a page", "{}\n": "no url", `{"url":5,"fetched_at":""}` + "\n": "no url"} {
		if _, err := Compare(t.Context(), a, set(t, map[string]string{"1.jsonl": text}), 1); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := Compare(t.Context(), a, set(t, map[string]string{"1.json": "{}"}), 1); err == nil {
		t.Error("a set without files is compared")
	}
}

func FuzzReadPage(f *testing.F) {
	for _, text := range []string{line(1, `,"robots":{"a":1},"links":[]`), "{}", "null", `{"url":"x","fetched_at":null,"a":{}}`, "[", `{"a": 1}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if p, err := readPage(text); err == nil && (p.URL == "" || urlOf(p.key()) == "" && p.URL[0] != ' ') {
			t.Errorf("%q: %+v", text, p)
		}
	})
}
