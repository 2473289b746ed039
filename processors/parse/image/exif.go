package image

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/bep/imagemeta"

	"github.com/weftcrawl/weft/processors/parse/extract"
)

// Exif is what the camera or the program wrote into an image. Texts are on one line.
type Exif struct {
	// Orientation is 1 to 8 (Exif 2.32, section 4.6.4); 0: it does not say.
	Orientation int
	Camera      string
	Description string
	Author      string
	Copyright   string
	// Taken is the local time at which the picture was taken, as 2006-01-02T15:04:05, with the
	// offset if it is known.
	Taken string
	// Place is where; nil: it does not say, or Options does not ask for it.
	Place *Place
}

// Place is in degrees, north and east.
type Place struct{ Latitude, Longitude float64 }

var exifFormats = map[string]imagemeta.ImageFormat{
	JPEG: imagemeta.JPEG, PNG: imagemeta.PNG, WebP: imagemeta.WebP, TIFF: imagemeta.TIFF, AVIF: imagemeta.AVIF, HEIF: imagemeta.HEIF,
}

// read reads the EXIF of a body. It returns the size of the picture, if the reader knows it. What
// is damaged is left out: EXIF in the wild often is.
func (e *Exif) read(body []byte, format string, o Options) (width, height int) {
	known, ok := exifFormats[format]
	if !ok {
		return 0, 0
	}
	var tags imagemeta.Tags
	sources := imagemeta.EXIF
	if format == AVIF || format == HEIF {
		sources |= imagemeta.CONFIG
	}
	got, err := imagemeta.Decode(imagemeta.Options{
		R: bytes.NewReader(body), ImageFormat: known, Sources: sources,
		ShouldHandleTag: func(tag imagemeta.TagInfo) bool {
			return wanted[tag.Tag] || o.Place && strings.HasPrefix(tag.Tag, "GPSL")
		},
		HandleTag: func(tag imagemeta.TagInfo) error { tags.Add(tag); return nil },
		Warnf:     func(string, ...any) {},
		// A file has some hundred tags.
		LimitNumTags: 1000,
	})
	if err != nil && err != io.EOF {
		got.ImageConfig = imagemeta.ImageConfig{} // what was read until then may be wrong
	}
	text := func(name string) string {
		s, _ := tags.EXIF()[name].Value.(string)
		return extract.OneLine(s, o.MaxFieldBytes)
	}
	e.Description, e.Author, e.Copyright = text("ImageDescription"), text("Artist"), text("Copyright")
	e.Camera = camera(text("Make"), text("Model"))
	e.Taken = taken(text("DateTimeOriginal"), text("OffsetTimeOriginal"))
	if n := fmt.Sprint(tags.EXIF()["Orientation"].Value); len(n) == 1 && n >= "1" && n <= "8" {
		e.Orientation = int(n[0] - '0')
	}
	if o.Place {
		e.Place = place(tags)
	}
	return got.ImageConfig.Width, got.ImageConfig.Height
}

var wanted = map[string]bool{
	"ImageDescription": true, "Artist": true, "Copyright": true, "Make": true, "Model": true, "Orientation": true,
	"DateTimeOriginal": true, "OffsetTimeOriginal": true,
}

// camera names the maker once: many models begin with it.
func camera(maker, model string) string {
	if strings.HasPrefix(strings.ToLower(model), strings.ToLower(maker)) {
		return model
	}
	return strings.TrimSpace(maker + " " + model)
}

// taken writes a time of EXIF as others are written; empty: it is not a time.
func taken(at, offset string) string {
	t, err := time.Parse("2006:01:02 15:04:05", at)
	if err != nil || t.Year() == 0 {
		return ""
	}
	written := t.Format("2006-01-02T15:04:05")
	if _, err := time.Parse("-07:00", offset); err == nil {
		written += offset
	}
	return written
}

// place is nil where no camera can have been.
func place(tags imagemeta.Tags) *Place {
	if !tags.Has(imagemeta.TagInfo{Source: imagemeta.EXIF, Tag: "GPSLatitude"}) {
		return nil
	}
	lat, long, err := tags.GetLatLong()
	if err != nil || !(lat >= -90 && lat <= 90 && long >= -180 && long <= 180) {
		return nil
	}
	return &Place{lat, long}
}
