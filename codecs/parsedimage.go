package codecs

import (
	"encoding/json"
	"strconv"
)

// ParsedImage is what an image says besides title, description, author and date of its page.
type ParsedImage struct {
	// Format is one of package image: jpeg, png, gif, webp, bmp, tiff, avif, heif, ico or svg.
	Format string `json:"format"`
	// Width and Height are in pixels, before Orientation is applied; 0: not known.
	Width  int `json:"width"`
	Height int `json:"height"`
	// Orientation is that of EXIF, 1 to 8; 0: it does not say.
	Orientation int    `json:"orientation,omitempty"`
	Camera      string `json:"camera,omitempty"`
	Copyright   string `json:"copyright,omitempty"`
	// Place is where it was taken, if the crawl asks for that.
	Place *ParsedPlace `json:"place,omitempty"`
	// PerceptualHash has 16 hexadecimal digits (pHash). Hashes of the same picture in another size or
	// format differ in few bits. Empty: the format has none, or the image is too large.
	PerceptualHash string `json:"perceptual_hash,omitempty"`
}

// ParsedPlace is in degrees, north and east.
type ParsedPlace struct {
	Latitude  float64 `json:"latitude"`
	Longitude float64 `json:"longitude"`
}

func (i *ParsedImage) append(dst []byte) []byte {
	dst = appendString(append(dst, `{"format":`...), i.Format)
	dst = strconv.AppendInt(append(dst, `,"width":`...), int64(i.Width), 10)
	dst = strconv.AppendInt(append(dst, `,"height":`...), int64(i.Height), 10)
	if i.Orientation != 0 {
		dst = strconv.AppendInt(append(dst, `,"orientation":`...), int64(i.Orientation), 10)
	}
	dst = appendMember(dst, `,"camera":`, i.Camera)
	dst = appendMember(dst, `,"copyright":`, i.Copyright)
	if i.Place != nil {
		place, _ := json.Marshal(i.Place) // degrees are numbers
		dst = append(append(dst, `,"place":`...), place...)
	}
	dst = appendMember(dst, `,"perceptual_hash":`, i.PerceptualHash)
	return append(dst, '}')
}
