package document

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// suiteEncoding takes the language off the name of a folder of the suite.
var suiteEncoding = regexp.MustCompile(`-(arabic|bulgarian|croatian|cyrillic|czech|greek|hebrew|hungarian|polish|romanian|russian|slovak|slovene|turkish)$`)

// TestCharsetSuite reads the files of a suite that declare no encoding, or whose
// declaration is ignored: the folder tests of chardet's source distribution, 5.2.0,
// unpacked where WEFT_CHARSET_SUITE says. Each of its folders has the name of an encoding,
// perhaps with a language. Those that no browser reads are left out, which leaves 395. A
// file counts as right if its text is.
func TestCharsetSuite(t *testing.T) {
	dir := os.Getenv("WEFT_CHARSET_SUITE")
	if dir == "" {
		t.Skip("WEFT_CHARSET_SUITE names no folder")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*", "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files in %s: %v", dir, err)
	}
	right, all := 0, 0
	for _, file := range files {
		folder := filepath.Base(filepath.Dir(file))
		var want string
		switch folder = strings.ToLower(folder); folder {
		case "cp932":
			want = "shift_jis"
		case "cp949":
			want = "euc-kr"
		case "maccyrillic":
			want = "x-mac-cyrillic"
		case "macroman":
			want = "macintosh"
		case "utf-8-sig":
			want = "utf-8"
		default:
			want = nameOfLabel(suiteEncoding.ReplaceAllString(folder, ""))
		}
		if want == "" || want == "replacement" {
			continue
		}
		body, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all++
		marked, mark := byteOrderMark(body)
		if mark > 0 {
			want = marked
		}
		text, err := decoderOf(want).Bytes(body[mark:])
		if err != nil {
			t.Fatal(err)
		}
		got, name := decode(body, hint{domain: "com"})
		if string(got) == strings.ToValidUTF8(string(text), "\uFFFD") {
			right++
		} else {
			t.Logf("%s/%s, %d bytes: %s", folder, filepath.Base(file), len(body), name)
		}
	}
	t.Logf("%d of %d files are read right", right, all)
	if right*100 < all*92 {
		t.Error("less than 92 in 100")
	}
}
