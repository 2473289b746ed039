package codecs

// ParsedImage is what an image says besides title, description, author and date of its page.
type ParsedImage struct {
	// Format is one of package image: jpeg, png, gif, webp, bmp, tiff, avif, heif, ico or svg.
	Format string `json:"format"`
	// Width and Height are in pixels, before Orientation is applied; 0: the image is damaged, or does not say.
	Width  int `json:"width,omitempty"`
	Height int `json:"height,omitempty"`
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
