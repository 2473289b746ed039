package image

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	stdimage "image"
	stdjpeg "image/jpeg"
	"image/png"
	"math/bits"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weftcrawl/weft/processors/parse/extract"
)

func load(t testing.TB, name string) []byte {
	t.Helper()
	body, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// TestFormats reads the files of testdata, which Pillow and libheif wrote.
func TestFormats(t *testing.T) {
	exif := Exif{
		Orientation: 6, Camera: "Maker M1", Description: "A circle and a square", Author: "Ann Author", Copyright: "2024 Ann",
		Taken: "2024-05-06T07:08:09+02:00",
	}
	turned := exif
	turned.Orientation = 0 // the container says it
	untaken := exif
	untaken.Taken = "" // Pillow does not write it
	for _, want := range []struct {
		file          string
		format        string
		width, height int
		exif          Exif
		hashed        bool
	}{
		{"picture.jpeg", JPEG, 96, 64, exif, true},
		{"progressive.jpeg", JPEG, 96, 64, Exif{}, true},
		{"picture.png", PNG, 96, 64, exif, true},
		{"picture.webp", WebP, 96, 64, exif, true},
		{"picture.gif", GIF, 96, 64, Exif{}, true},
		{"picture.tiff", TIFF, 96, 64, untaken, false},
		{"picture.bmp", BMP, 96, 64, Exif{}, false},
		{"picture.ico", ICO, 64, 43, Exif{}, false},
		{"picture.avif", AVIF, 64, 96, turned, false},
		{"picture.heif", HEIF, 96, 64, turned, false},
	} {
		got := Read(load(t, want.file), false, DefaultOptions())
		if got.Format != want.format || got.Width != want.width || got.Height != want.height || got.Hashed != want.hashed || got.Outcome != extract.Whole {
			t.Errorf("%s: %+v", want.file, got)
		}
		if diff := cmp.Diff(want.exif, got.Exif); diff != "" {
			t.Errorf("%s: %s", want.file, diff)
		}
	}
}

func TestPlaceIsToldIfAskedFor(t *testing.T) {
	o := DefaultOptions()
	o.Place = true
	for _, file := range []string{"picture.jpeg", "picture.png", "picture.webp", "picture.avif", "picture.heif"} {
		got := Read(load(t, file), false, o).Place
		if got == nil || got.Latitude > -33.85 || got.Latitude < -33.87 || got.Longitude < 151.19 || got.Longitude > 151.21 {
			t.Errorf("%s: %v", file, got)
		}
	}
	if got := Read(load(t, "picture.gif"), false, o).Place; got != nil {
		t.Errorf("a GIF has the place %v", got)
	}
}

// Copies in other formats and sizes have a hash that is near, other pictures one that is not.
func TestHashFindsCopies(t *testing.T) {
	hash := func(file string) uint64 { return Read(load(t, file), false, DefaultOptions()).Hash }
	original := hash("picture.png")
	for _, file := range []string{"picture.jpeg", "progressive.jpeg", "picture.webp", "picture.gif", "larger.jpeg"} {
		if d := bits.OnesCount64(original ^ hash(file)); d > 6 {
			t.Errorf("%s: %d bits differ", file, d)
		}
	}
	if d := bits.OnesCount64(original ^ hash("other.png")); d < 16 {
		t.Errorf("another picture: %d bits differ", d)
	}
}

func TestSVG(t *testing.T) {
	for _, c := range []struct {
		name, body string
		want       Image
	}{
		{"pixels", `<svg xmlns="http://www.w3.org/2000/svg" width="12.4" height="10px"/>`, Image{Format: SVG, Width: 12, Height: 10}},
		{"units", `<?xml version="1.0"?><!DOCTYPE svg><svg width="1in" height="2.54cm"></svg>`, Image{Format: SVG, Width: 96, Height: 96}},
		{"view box", "<svg viewBox='0 0, 640\n480' width='100%'>", Image{Format: SVG, Width: 640, Height: 480}},
		{
			"texts", `<!-- c --><svg><title> A <b>title</b> </title><g><title>no</title></g><desc>what
			is seen</desc><title>second</title></svg>`,
			Image{Format: SVG, Title: "A title", Exif: Exif{Description: "what is seen"}},
		},
		{"cut", `<svg width="5" height="6"><title>A ti`, Image{Format: SVG, Width: 5, Height: 6, Title: "A ti"}},
		{"Latin-1", "<?xml version='1.0' encoding='iso-8859-1'?><svg><title>caf\xe9</title></svg>", Image{Format: SVG, Title: "café"}},
		{"entities", `<!DOCTYPE svg [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><svg><title>&b;</title></svg>`, Image{Format: SVG, Title: "&b;"}},
		{"HTML", `<html><svg width="5"/></html>`, Image{}},
		{"nothing", "", Image{}},
		{"no XML", "\x00\x01<", Image{Outcome: extract.Damaged}},
	} {
		if diff := cmp.Diff(c.want, Read([]byte(c.body), true, DefaultOptions())); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

// mif1 is the main brand of some AVIF files, and stands beside avif in all.
func TestBrands(t *testing.T) {
	for brands, want := range map[string]string{
		"avif\x00\x00\x00\x00avifmif1miaf": AVIF, "mif1\x00\x00\x00\x00mif1avifmiaf": AVIF, "mif1\x00\x00\x00\x00mif1heic": HEIF,
		"heic\x00\x00\x00\x00mif1heic": HEIF, "mif1\x00\x00\x00\x00mif1": HEIF, "isom\x00\x00\x00\x00mp41": "",
	} {
		if got := Format([]byte("\x00\x00\x00" + string(rune(len(brands)+8)) + "ftyp" + brands)); got != want {
			t.Errorf("%q: %q, want %q", brands, got, want)
		}
	}
}

// Pictures that Go does not decode are whole: they have a size, and no hash.
func TestWhatGoDoesNotDecode(t *testing.T) {
	tags := func(all ...[2]uint16) (body []byte) {
		body = append([]byte("II*\x00\x08\x00\x00\x00"), byte(len(all)), 0)
		for _, tag := range all {
			body = binary.LittleEndian.AppendUint16(body, tag[0])
			body = binary.LittleEndian.AppendUint16(body, 3) // a short
			body = binary.LittleEndian.AppendUint32(body, 1)
			body = binary.LittleEndian.AppendUint32(body, uint32(tag[1]))
		}
		return append(body, 0, 0, 0, 0)
	}
	jpeg := bytes.Clone(load(t, "picture.jpeg"))
	jpeg[bytes.Index(jpeg, []byte("\xff\xc0\x00\x11"))+11] = 0x14 // four samples upwards
	bitmap := func(header uint32, size ...byte) []byte {
		body := binary.LittleEndian.AppendUint32(append([]byte("BM"), make([]byte, 12)...), header)
		return append(append(body, size...), make([]byte, header)...)
	}
	for name, c := range map[string]struct {
		body          []byte
		width, height int
		outcome       extract.Outcome
	}{
		"TIFF of CMYK":      {tags([2]uint16{256, 320}, [2]uint16{257, 200}, [2]uint16{258, 8}, [2]uint16{259, 1}, [2]uint16{262, 5}, [2]uint16{277, 4}), 320, 200, extract.Whole},
		"TIFF without size": {tags([2]uint16{258, 8}, [2]uint16{262, 5}), 0, 0, extract.Damaged},
		"JPEG":              {jpeg, 96, 64, extract.Whole},
		"BMP of OS/2":       {bitmap(12, 5, 0, 4, 0, 1, 0, 24, 0), 5, 4, extract.Whole},
		"BMP of 16 bits":    {bitmap(40, 5, 0, 0, 0, 0xfc, 0xff, 0xff, 0xff, 1, 0, 16, 0), 5, 4, extract.Whole},
		"BMP of nothing":    {bitmap(41, 5, 0, 0, 0, 4, 0, 0, 0, 1, 0, 16, 0), 0, 0, extract.Damaged},
	} {
		got := Read(c.body, false, DefaultOptions())
		if got.Width != c.width || got.Height != c.height || got.Outcome != c.outcome || got.Hashed {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestHostileImages holds that what is damaged is named, and that large pictures are not decoded.
func TestHostileImages(t *testing.T) {
	var bomb bytes.Buffer
	if err := png.Encode(&bomb, stdimage.NewGray(stdimage.Rect(0, 0, 20_000, 2_000))); err != nil {
		t.Fatal(err)
	}
	huge := bytes.Clone(load(t, "picture.png"))
	binary.BigEndian.PutUint32(huge[16:], 0x7fffffff)
	binary.BigEndian.PutUint32(huge[20:], 0x7fffffff)
	binary.BigEndian.PutUint32(huge[29:], crc32.ChecksumIEEE(huge[12:29]))
	jpeg := load(t, "picture.jpeg")
	for _, c := range []struct {
		name    string
		body    []byte
		format  string
		outcome extract.Outcome
		hashed  bool
	}{
		{"40 million pixels in 40 KB", bomb.Bytes(), PNG, extract.Whole, false},
		{"sizes that overflow", huge, PNG, extract.Damaged, false},
		{"cut in the pixels", jpeg[:len(jpeg)-200], JPEG, extract.Damaged, false},
		{"cut in EXIF", jpeg[:60], JPEG, extract.Damaged, false},
		{"magic alone", []byte("GIF89a"), GIF, extract.Damaged, false},
		{"an icon of its magic alone", []byte("\x00\x00\x01\x00"), ICO, extract.Damaged, false},
		{"an icon without pictures", []byte("\x00\x00\x01\x00\x05\x00"), ICO, extract.Damaged, false},
		{"a box without end", []byte("\xff\xff\xff\xffftypavif"), AVIF, extract.Damaged, false},
		{"a WebP file of several pictures", load(t, "animated.webp"), WebP, extract.Whole, false},
		{"text", []byte("hello, world"), "", extract.Whole, false},
	} {
		got := Read(c.body, false, DefaultOptions())
		if got.Format != c.format || got.Outcome != c.outcome || got.Hashed != c.hashed {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
	allocated := testing.Benchmark(func(b *testing.B) {
		for b.Loop() {
			Read(bomb.Bytes(), false, DefaultOptions())
		}
	}).AllocedBytesPerOp()
	if allocated > 1<<20 {
		t.Errorf("%d bytes were allocated for a picture that is not decoded", allocated)
	}
}

func FuzzRead(f *testing.F) {
	files, err := filepath.Glob("testdata/*.*")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		f.Add(load(f, filepath.Base(file)), strings.HasSuffix(file, "py"))
	}
	o := DefaultOptions()
	o.Place, o.MaxPixelBytes = true, 1<<20
	f.Fuzz(func(t *testing.T, body []byte, svg bool) {
		got := Read(body, svg, o)
		if got.Width < 0 || got.Height < 0 || got.Hashed && got.Format == "" || len(got.Title) > o.MaxFieldBytes || strings.Contains(got.Description, "\n") {
			t.Errorf("%+v", got)
		}
	})
}

// BenchmarkRead reads a JPEG of a million pixels.
func BenchmarkRead(b *testing.B) {
	var large bytes.Buffer
	if err := stdjpeg.Encode(&large, stdimage.NewYCbCr(stdimage.Rect(0, 0, 1000, 1000), stdimage.YCbCrSubsampleRatio420), nil); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		Read(large.Bytes(), false, DefaultOptions())
	}
}
