// Package image reads what an image says of itself: format, size in pixels, EXIF, and a
// perceptual hash by which copies of a picture are found, whatever their size and format.
//
// Pixels are decoded only for the hash, and only of JPEG, PNG, GIF and WebP within the bounds of
// Options. Everything else comes from the header. EXIF is read by imagemeta, the hash is pHash
// of goimagehash.
package image

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"image"
	_ "image/gif" // a format of image.Decode
	"image/jpeg"  // a format of image.Decode
	_ "image/png" // a format of image.Decode
	"io"

	"github.com/bep/imagemeta"
	"github.com/corona10/goimagehash"
	"golang.org/x/image/bmp"    // a format of image.DecodeConfig
	"golang.org/x/image/tiff"   // a format of image.DecodeConfig
	_ "golang.org/x/image/webp" // a format of image.Decode

	"github.com/weftcrawl/weft/processors/parse/extract"
)

// Formats.
const (
	JPEG = "jpeg"
	PNG  = "png"
	GIF  = "gif"
	WebP = "webp"
	BMP  = "bmp"
	TIFF = "tiff"
	AVIF = "avif"
	HEIF = "heif"
	ICO  = "ico"
	SVG  = "svg"
)

// Image is what an image says of itself.
type Image struct {
	// Format is empty if the bytes are no image that is known.
	Format string
	// Outcome is extract.Damaged if the header has no size, or the pixels cannot be decoded.
	Outcome extract.Outcome
	// Width and Height are in pixels, before Orientation is applied; 0: not known. Of an SVG they
	// are the width and height of its root in CSS pixels, or of its view box. Of an icon they are
	// those of the largest picture. Of AVIF and HEIF they are those of the picture as it is shown.
	Width, Height int
	// Hash is the perceptual hash: hashes of the same picture differ in few of 64 bits. Hashed is
	// false if the format has no hash, or the picture is beyond the bounds.
	Hash   uint64
	Hashed bool

	Exif
	// Title is that of an SVG.
	Title string
}

// Options bound an Image.
type Options struct {
	// MaxPixelBytes is how much memory the pixels of a picture may take to be hashed.
	MaxPixelBytes int64
	// MaxFieldBytes bounds each text.
	MaxFieldBytes int
	// Place: tell where a picture was taken.
	Place bool
}

// DefaultOptions hash pictures of at most 4 Mi pixels.
func DefaultOptions() Options { return Options{MaxPixelBytes: 32 << 20, MaxFieldBytes: 1 << 10} }

// Format tells the format of an image by its first bytes (WHATWG MIME Sniffing section 6.1, and
// ISO/IEC 14496-12 section 4.3 for AVIF and HEIF); empty: it is none of these.
func Format(body []byte) string {
	for _, f := range []struct{ format, magic string }{
		{JPEG, "\xff\xd8\xff"}, {PNG, "\x89PNG\r\n\x1a\n"}, {GIF, "GIF87a"}, {GIF, "GIF89a"}, {BMP, "BM"},
		{TIFF, "II*\x00"}, {TIFF, "MM\x00*"}, {ICO, "\x00\x00\x01\x00"}, {ICO, "\x00\x00\x02\x00"},
	} {
		if bytes.HasPrefix(body, []byte(f.magic)) {
			return f.format
		}
	}
	switch {
	case len(body) < 12:
		return ""
	case string(body[:4]) == "RIFF" && string(body[8:12]) == "WEBP":
		return WebP
	case string(body[4:8]) == "ftyp":
		return brand(body)
	}
	return ""
}

// brand tells AVIF and HEIF by the brands of a file type box. mif1 is the brand of both.
func brand(body []byte) (format string) {
	end := min(int(binary.BigEndian.Uint32(body)), len(body), 256)
	for at := 8; at+4 <= end; at += 4 {
		switch string(body[at : at+4]) {
		case "avif", "avis":
			return AVIF
		case "heic", "heix", "hevc", "heim", "heis":
			return HEIF
		case "mif1":
			format = HEIF
		}
	}
	return format
}

// Read reads an image. svg says that the body is stated to be one, since that format has no
// first bytes of its own.
func Read(body []byte, svg bool, o Options) Image {
	i := Image{Format: Format(body)}
	switch i.Format {
	case "":
		if svg {
			i.readSVG(body, o)
		}
		return i
	case ICO:
		i.Width, i.Height = icon(body)
	case AVIF, HEIF:
		i.Width, i.Height = i.read(body, i.Format, o)
	default:
		i.raster(body, o)
	}
	if i.Width == 0 || i.Height == 0 {
		i.Outcome = extract.Damaged
	}
	return i
}

// raster reads what Go decodes.
func (i *Image) raster(body []byte, o Options) {
	i.read(body, i.Format, o)
	config, _, err := image.DecodeConfig(bytes.NewReader(body))
	switch {
	case err != nil && isUnsupported(err):
		i.Width, i.Height = statedSize(body, i.Format)
		return
	case err != nil:
		return
	}
	i.Width, i.Height = config.Width, config.Height
	if i.Format == BMP || i.Format == TIFF || isAnimatedWebP(body) || !within(config, o.MaxPixelBytes) {
		return
	}
	picture, _, err := image.Decode(bytes.NewReader(body))
	if err != nil {
		if !isUnsupported(err) {
			i.Outcome = extract.Damaged
		}
		return
	}
	if hash, err := goimagehash.PerceptionHash(picture); err == nil {
		i.Hash, i.Hashed = hash.GetHash(), true
	}
}

// isUnsupported tells whether a picture is of a valid kind that Go does not decode, such as a TIFF of CMYK, a BMP
// of 16 bits, or a JPEG with rare samples. It has a size and no hash. PNG has no such kind.
func isUnsupported(err error) bool {
	var (
		jpegs jpeg.UnsupportedError
		tiffs tiff.UnsupportedError
	)
	return errors.As(err, &jpegs) || errors.As(err, &tiffs) || errors.Is(err, bmp.ErrUnsupported)
}

// statedSize is the size that the header of a picture states which Go does not decode; 0: it states none.
func statedSize(body []byte, format string) (width, height int) {
	if format == BMP {
		return bitmapSize(body)
	}
	got, err := imagemeta.Decode(imagemeta.Options{
		R: bytes.NewReader(body), ImageFormat: exifFormats[format], Sources: imagemeta.CONFIG, Warnf: func(string, ...any) {},
	})
	if err != nil && !errors.Is(err, io.EOF) || got.ImageConfig.Width < 0 || got.ImageConfig.Height < 0 {
		return 0, 0
	}
	return got.ImageConfig.Width, got.ImageConfig.Height
}

// bitmapSize reads the header of a BMP: that of OS/2, or one of Windows, which may count its lines from the top.
func bitmapSize(body []byte) (width, height int) {
	const file = 14 // bytes of the header of the file
	if len(body) < file+12 {
		return 0, 0
	}
	switch header := body[file:]; binary.LittleEndian.Uint32(header) {
	case 12:
		return int(binary.LittleEndian.Uint16(header[4:])), int(binary.LittleEndian.Uint16(header[6:]))
	case 40, 52, 56, 64, 108, 124:
		width, height = int(int32(binary.LittleEndian.Uint32(header[4:]))), int(int32(binary.LittleEndian.Uint32(header[8:])))
		return max(width, 0), max(height, -height)
	}
	return 0, 0
}

// isAnimatedWebP tells whether a body is a WebP file of several pictures, which the decoder does
// not know (RFC 9649 section 2.7: the second bit of the flags).
func isAnimatedWebP(body []byte) bool {
	const flags = 20
	return Format(body) == WebP && len(body) > flags && string(body[12:16]) == "VP8X" && body[flags]&2 != 0
}

// bytesPerPixel is what Go takes for a pixel of 16 bits a channel, and for the coefficients of a
// progressive JPEG.
const bytesPerPixel = 8

// within tells whether the pixels of a picture take at most so many bytes.
func within(c image.Config, most int64) bool {
	const side = 1 << 16 // more would overflow
	return c.Width > 0 && c.Height > 0 && c.Width < side && c.Height < side &&
		int64(c.Width)*int64(c.Height)*bytesPerPixel <= most
}

// icon returns the size of the largest picture of an icon or cursor. The size 0 stands for 256.
func icon(body []byte) (width, height int) {
	const header, entry = 6, 16
	if len(body) < header {
		return 0, 0
	}
	count := int(binary.LittleEndian.Uint16(body[4:]))
	for n := 0; n < count && header+(n+1)*entry <= len(body); n++ {
		at := body[header+n*entry:]
		w, h := cmp.Or(int(at[0]), 256), cmp.Or(int(at[1]), 256)
		if w*h > width*height {
			width, height = w, h
		}
	}
	return width, height
}
