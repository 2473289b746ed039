package parse

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs"
	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/test/stagetest"
	"github.com/weftcrawl/weft/topics"
)

func pdfFile(t *testing.T, name string) string {
	t.Helper()
	body, err := os.ReadFile(filepath.Join("pdf", "testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// A PDF is a page: with its text, what it says of itself, and links that are followed.
func TestPDFIsAPage(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles PDFium, which takes 20 s under the race detector")
	}
	// One transform for all: it compiles PDFium.
	transform, err := New(stage.Env{Names: topics.Loop("test"), Definition: topics.Definition{Crawl: "test"}, Meter: stage.NoMeter{}})
	if err != nil {
		t.Fatal(err)
	}
	read := func(media, body string) (page codecs.Parsed, named *weftpb.Discovered) {
		out, reason := transform(&kgo.Record{Key: []byte("a.example"), Value: stage.Encode(file("https://a.example/f", media, 200, body, nil))})
		if reason != "" || len(out) == 0 {
			t.Fatalf("%q, %d records", reason, len(out))
		}
		if err := json.Unmarshal(out[0].Value, &page); err != nil {
			t.Fatal(err)
		}
		named = &weftpb.Discovered{}
		if len(out) > 1 {
			if err := proto.Unmarshal(out[1].Value, named); err != nil {
				t.Fatal(err)
			}
		}
		return page, named
	}
	page, named := read("application/pdf", pdfFile(t, "report.pdf"))
	if page.Title != "Weaving for beginners" || page.Author != "Ada Weaver" || page.Date != "2026-11-24T18:06:30Z" || page.Pages != 1 || len(page.Headings) != 2 ||
		!strings.HasPrefix(page.Text, "Warp and weft\nThe warp is held") || page.Unparsed != "" || page.ContentType != "application/pdf" || page.ContentHash == "" {
		t.Errorf("%+v", page)
	}
	if len(named.Links) != 2 || named.Links[1].Url != "http://example.org/ende" || named.Links[1].Text != "second link" {
		t.Errorf("links are %v", named.Links)
	}
	for _, c := range []struct{ name, media, body, unparsed, fallback string }{
		{"encrypted", "application/pdf", pdfFile(t, "encrypted.pdf"), "encrypted", ""},
		{"truncated", "application/pdf", pdfFile(t, "report.pdf")[:5000], "damaged", ""},
		{"truncated behind its pages", "application/pdf", pdfFile(t, "report.pdf")[:34300], "", "damaged"},
		{"HTML", "application/pdf", "<html>", "unsupported_type", ""},
		{"bytes", "application/octet-stream", "%PDF-1.4 x", "damaged", ""},
		{"other bytes", "application/octet-stream", "\x00\x01", "unsupported_type", ""},
	} {
		if page, _ := read(c.media, c.body); page.Unparsed != c.unparsed || page.Fallback != c.fallback {
			t.Errorf("%s: %q and %q, want %q and %q", c.name, page.Unparsed, page.Fallback, c.unparsed, c.fallback)
		}
	}
}

// What waits for its turn beside the loop is a PDF, and nothing that only speaks of one.
func TestSlowRecords(t *testing.T) {
	for _, c := range []struct {
		media, body string
		want        bool
	}{
		{"application/pdf", "", true}, // its body is elsewhere
		{"application/pdf; x=y", "%PDF-1.4", true},
		{"application/octet-stream", "%PDF-1.4", true},
		{"application/force-download", "%PDF-1.4", true},
		{"application/json", `"%PDF-1.4"`, false},
		{"text/html", "%PDF-1.4\n%\xe2\xe3\xcf\xd3", true},
		{"text/html", "<p>A PDF begins with %PDF-, and is application/pdf", false},
		{"text/plain", "%PDF-1.4", false},
	} {
		f := &weftpb.Fetched{
			Request: &weftpb.Request{Target: &weftpb.Target{Url: "https://a.example/"}}, Outcome: &weftpb.Outcome{},
			Headers: []*weftpb.Header{{Name: "Content-Type", Value: c.media}}, Body: []byte(c.body),
		}
		if got := isSlow(&kgo.Record{Value: stage.Encode(f)}); got != c.want {
			t.Errorf("%s, %q: %v", c.media, c.body, got)
		}
		if isSlow(&kgo.Record{Value: stage.Encode(&weftpb.Fetched{Robots: f})}) {
			t.Errorf("a robots.txt, %s, %q: it waits in the lane", c.media, c.body)
		}
	}
}

// Pages are written while PDFs are read, and the PDFs come as well.
func TestPagesDoNotWaitForPDFs(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles PDFium")
	}
	b := stagetest.NewWorkbench(t)
	var values []string
	for _, body := range []string{pdfFile(t, "report.pdf"), pdfFile(t, "talk.pdf"), pdfFile(t, "encrypted.pdf")} {
		values = append(values, string(stage.Encode(file("https://a.example/"+body[len(body)-40:len(body)-35]+".pdf", "application/pdf", 200, body, nil))))
	}
	for _, title := range []string{"one", "two", "three"} {
		values = append(values, string(stage.Encode(file("https://a.example/"+title, "text/html", 200, "<title>"+title, nil))))
	}
	b.Write(b.Names.Fetched, values...)
	end := stagetest.During(t, func(ctx context.Context) error { return Run(ctx, b.Env) })
	pages := b.Read(b.Names.Parsed, len(values))
	if first := strings.Join(pages[:3], ""); strings.Contains(first, "application/pdf") {
		t.Errorf("pages waited for PDFs: %.300s", first)
	}
	if all := strings.Join(pages, "\n"); !strings.Contains(all, "Weaving for beginners") || !strings.Contains(all, "A talk on looms") || !strings.Contains(all, `"unparsed":"encrypted"`) {
		t.Errorf("PDFs are missing: %.500s", all)
	}
	if err := end(); err != nil {
		t.Error(err)
	}
}
