package parse

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weftcrawl/weft/codecs"
	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/topics"
)

func imageFile(t *testing.T, name string) string {
	t.Helper()
	body, err := os.ReadFile(filepath.Join("image", "testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// An image is a page without text, whatever the server calls it.
func TestImagesArePages(t *testing.T) {
	jpeg := imageFile(t, "picture.jpeg")
	sum := sha256.Sum256([]byte(jpeg))
	for _, media := range []string{"image/jpeg", "image/png", "application/octet-stream", "binary/octet-stream", ""} {
		page, _ := pageOf(t, file("https://a.example/f", media, 200, jpeg, nil))
		want := &codecs.ParsedImage{Format: "jpeg", Width: 96, Height: 64, Orientation: 6, Camera: "Maker M1", Copyright: "2024 Ann"}
		if page.Image != nil {
			want.PerceptualHash = page.Image.PerceptualHash
		}
		if diff := cmp.Diff(want, page.Image); diff != "" || len(want.PerceptualHash) != 16 {
			t.Errorf("as %q: %s", media, diff)
		}
		if page.Description != "A circle and a square" || page.Author != "Ann Author" || page.Date != "2024-05-06T07:08:09+02:00" || page.Unparsed != "" || page.Text != "" {
			t.Errorf("as %q: %+v", media, page)
		}
		if page.BodyHash != hex.EncodeToString(sum[:]) {
			t.Errorf("as %q: the body's hash is %q", media, page.BodyHash)
		}
	}
	page, _ := pageOf(t, file("https://a.example/f", "image/svg+xml", 200, `<svg width="3" height="4"><title>T</title></svg>`, nil))
	if page.Title != "T" || page.Image == nil || page.Image.Format != "svg" || page.Image.Width != 3 {
		t.Errorf("SVG: %+v", page)
	}
}

func TestPlaceOfImages(t *testing.T) {
	for asked, want := range map[bool]bool{false: false, true: true} {
		page, _ := pageUnder(t, topics.Definition{ImagePlace: asked}, file("https://a.example/f", "image/jpeg", 200, imageFile(t, "picture.jpeg"), nil))
		if page.Image == nil || (page.Image.Place != nil) != want {
			t.Errorf("asked for: %v, told: %+v", asked, page.Image)
		}
	}
}

// Other bodies that the crawl accepts have type, size and hash; what is read as a text or cut has
// no hash.
func TestBodiesThatAreNotRead(t *testing.T) {
	for _, c := range []struct {
		media, body, unparsed string
		image, hash           bool
	}{
		{"audio/ogg", "OggS\x00\x02", "unsupported_type", false, true},
		{"image/png", "\x89PNG\r\n\x1a\n", "damaged", true, true},
		{"image/x-unknown", "what", "unsupported_type", false, true},
		{"text/html", "<p>Text", "", false, false},
	} {
		page, _ := pageOf(t, file("https://a.example/f", c.media, 200, c.body, nil))
		if page.Unparsed != c.unparsed || (page.Image != nil) != c.image || (page.BodyHash != "") != c.hash || page.ContentType != c.media {
			t.Errorf("%s: %+v", c.media, page)
		}
	}
	cut := file("https://a.example/f", "audio/ogg", 200, "OggS", nil)
	cut.Outcome.Truncated = true
	if page, _ := pageOf(t, cut); page.BodyHash != "" {
		t.Errorf("a cut body has the hash %q", page.BodyHash)
	}
}

// What a site asks for holds for its images.
func TestDirectivesOfImages(t *testing.T) {
	f := file("https://a.example/f", "image/jpeg", 200, imageFile(t, "picture.jpeg"), nil)
	f.Headers = append(f.Headers, &weftpb.Header{Name: "X-Robots-Tag", Value: "noai"})
	page, _ := pageUnder(t, topics.Definition{Respect: []string{"ai-train=n"}}, f)
	if page.Image != nil || page.Author != "" || page.Unparsed != "usage_refused" {
		t.Errorf("%+v", page)
	}
}
