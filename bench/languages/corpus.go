package main

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/xml"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/weftcrawl/weft/processors/parse/document"
)

// text is one labelled text: a page, or the strings of a program.
type text struct {
	source   string // the package
	file     string
	language string // as in the record of a page, with the script where one language has two
	body     string // what a page has as its text
	html     []byte
}

// corpus is a kind of packages: which of their files are read, how, and where the language is
// in the path.
type corpus struct {
	name     string
	packages *regexp.Regexp
	file     *regexp.Regexp // its first group is the language
	read     func(name string, body []byte) (string, error)
}

// training and test have no package in common, and no authors or subjects either: office, games and
// mottoes on one side, the desktop, the system's manuals and its installation on the other.
var (
	training = []corpus{
		{"libreoffice help", regexp.MustCompile(`^libreoffice-help-`), regexp.MustCompile(`/help/([^/]+)/text/.*\.html$`), html},
		{"libreoffice", regexp.MustCompile(`^libreoffice-l10n-`), regexp.MustCompile(`/resource/([^/]+)/LC_MESSAGES/.*\.mo$`), messages},
		{"wesnoth", regexp.MustCompile(`^wesnoth-`), regexp.MustCompile(`/translations/([^/]+)/LC_MESSAGES/.*\.mo$`), messages},
		{"finance", regexp.MustCompile(`^gnucash-common$`), regexp.MustCompile(`/locale/([^/]+)/LC_MESSAGES/.*\.mo$`), messages},
		{"mail", regexp.MustCompile(`^evolution-common$`), regexp.MustCompile(`/locale/([^/]+)/LC_MESSAGES/.*\.mo$`), messages},
		{"games", regexp.MustCompile(`^freeciv-data$`), regexp.MustCompile(`/locale/([^/]+)/LC_MESSAGES/.*\.mo$`), messages},
		{"media", regexp.MustCompile(`^(vlc-l10n|digikam-data)$`), regexp.MustCompile(`/locale/([^/]+)/LC_MESSAGES/.*\.mo$`), messages},
		{"graphics", regexp.MustCompile(`^(inkscape|gimp-data|krita-l10n)$`), regexp.MustCompile(`/locale/([^/]+)/LC_MESSAGES/.*\.mo$`), messages},
	}
	test = []corpus{
		{"gnome-user-docs", regexp.MustCompile(`^gnome-user-docs$`), regexp.MustCompile(`/help/([^/]+)/.*\.page$`), mallard},
		{"manpages", regexp.MustCompile(`^manpages-..(-br)?(-dev)?$`), regexp.MustCompile(`/man/([^/]+)/man\d/.*\.gz$`), manual},
		{"manpages", regexp.MustCompile(`^manpages(-dev)?$`), regexp.MustCompile(`/(man)/man\d/.*\.gz$`), manual},
		{"debian-reference", regexp.MustCompile(`^debian-reference-`), regexp.MustCompile(`/debian-reference/.*\.([^/.]+)\.html$`), html},
		{"installation-guide", regexp.MustCompile(`^installation-guide-`), regexp.MustCompile(`/doc/installation-guide-[^/]+/([^/]+)/.*\.html$`), html},
		{"debian-faq", regexp.MustCompile(`^debian-faq`), regexp.MustCompile(`/FAQ/.*\.([^/.]+)\.html$`), html},
		{"maint-guide", regexp.MustCompile(`^maint-guide`), regexp.MustCompile(`/maint-guide.*/html/.*\.([^/.]+)\.html$`), html},
	}
)

// labels are the names of languages that packages write in another way.
var labels = map[string]string{
	"c": "en", "man": "en", "en-us": "en", "en-gb": "en", "pt-br": "pt", "nb-no": "nb", "es-419": "es", "ca-es@valencia": "ca",
	"zh-cn": "zh-Hans", "zh-tw": "zh-Hant", "sr": "sr", "sr@latin": "sr-Latn",
	"pa-in": "pa", "no": "nb", "kmr@latin": "kmr",
}

func label(name string) string {
	name = strings.ToLower(strings.ReplaceAll(name, "_", "-"))
	if known, ok := labels[name]; ok {
		return known
	}
	return name
}

// walk gives the texts of unpacked packages to take. A folder has a folder for each package. At
// most limit bytes are taken of a kind of packages in one language.
func walk(folder string, kinds []corpus, limit int, take func(text)) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	parser, err := document.New(document.DefaultOptions())
	if err != nil {
		return err
	}
	sizes := map[string]int{}
	for _, entry := range entries {
		i := slices.IndexFunc(kinds, func(k corpus) bool { return k.packages.MatchString(entry.Name()) })
		if i < 0 {
			continue
		}
		kind := kinds[i]
		var names []string
		err := filepath.WalkDir(filepath.Join(folder, entry.Name()), func(name string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() && kind.file.MatchString(name) {
				names = append(names, name)
			}
			return err
		})
		if err != nil {
			return err
		}
		// Not the first folder of each package, but some files of all folders.
		slices.SortFunc(names, func(a, b string) int { return strings.Compare(filepath.Base(a)+a, filepath.Base(b)+b) })
		for _, name := range names {
			language := label(kind.file.FindStringSubmatch(name)[1])
			key := kind.name + " " + language
			if sizes[key] >= limit {
				continue
			}
			body, err := os.ReadFile(name) //nolint:gosec // the files that the user names
			if err != nil {
				return err
			}
			read, err := kind.read(name, body)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			t := text{source: kind.name, file: name, language: language, body: read}
			if strings.HasSuffix(name, ".html") {
				t.html = body
				t.body = parser.Document(document.Input{URL: "https://example.com/", ContentType: "text/html; charset=utf-8", Body: body}).Text
			}
			sizes[key] += len(t.body)
			take(t)
		}
	}
	return nil
}

// html is read by walk.
func html(string, []byte) (string, error) { return "", nil }

// messages returns the translations of a file of gettext (GNU gettext manual, the format of GNU MO
// files) that are not the same as their original.
func messages(_ string, body []byte) (string, error) {
	const magic = 0x950412de
	if len(body) < 20 || binary.LittleEndian.Uint32(body) != magic {
		return "", nil
	}
	at := func(i uint32) uint32 { return binary.LittleEndian.Uint32(body[i:]) }
	var out strings.Builder
	for i := range at(8) {
		original, translated := at(12)+8*i, at(16)+8*i
		a := body[at(original+4):][:at(original)]
		b := body[at(translated+4):][:at(translated)]
		if _, after, ok := bytes.Cut(a, []byte{4}); ok {
			a = after
		}
		if len(a) == 0 || bytes.Equal(a, b) || !utf8.Valid(b) {
			continue
		}
		for part := range strings.SplitSeq(string(b), "\x00") {
			out.WriteString(strings.NewReplacer("~", "", "_", "", "\n", " ").Replace(part))
			out.WriteByte('\n')
		}
	}
	return out.String(), nil
}

// mallard returns the text of a page of Mallard, the format of GNOME's manuals.
func mallard(_ string, body []byte) (string, error) {
	d := xml.NewDecoder(bytes.NewReader(body))
	d.Strict = false
	var out strings.Builder
	for {
		token, err := d.Token()
		if err == io.EOF {
			return blocks(out.String()), nil
		}
		if err != nil {
			return "", err
		}
		switch token := token.(type) {
		case xml.StartElement:
			if token.Name.Local == "info" {
				if err := d.Skip(); err != nil {
					return "", err
				}
			}
		case xml.EndElement:
			switch token.Name.Local {
			case "p", "title", "item", "td":
				out.WriteString("\x00")
			}
		case xml.CharData:
			out.Write(token)
		}
	}
}

// blocks folds white space, but for the ends of blocks.
func blocks(s string) string {
	var lines []string
	for block := range strings.SplitSeq(s, "\x00") {
		if block = strings.Join(strings.Fields(block), " "); block != "" {
			lines = append(lines, block)
		}
	}
	return strings.Join(lines, "\n")
}

var (
	macro  = regexp.MustCompile(`^[.']\s*([A-Za-z]*)\s*`)
	escape = regexp.MustCompile(`\\(f\[[^]]*\]|f\(..|f.|\[[^]]*\]|\(..|\*\(..|\*.|s[+-]?\d|.)`)
)

// manual returns the text of a page of the manual, roughly.
func manual(_ string, zipped []byte) (string, error) {
	r, err := gzip.NewReader(bytes.NewReader(zipped))
	if err != nil {
		return "", err
	}
	body, err := io.ReadAll(r)
	if err != nil || !utf8.Valid(body) {
		return "", err
	}
	var out strings.Builder
	literal := false
	for line := range strings.Lines(string(body)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, `.\"`) || strings.HasPrefix(line, `'\"`) {
			continue
		}
		if m := macro.FindStringSubmatch(line); m != nil {
			switch m[1] {
			case "nf", "EX":
				literal = true
			case "fi", "EE":
				literal = false
			}
			switch m[1] {
			case "B", "I", "BR", "IR", "RB", "RI", "BI", "IB", "SM":
				line = strings.ReplaceAll(line[len(m[0]):], `"`, "")
			case "SH", "SS":
				line = "\x00" + strings.ReplaceAll(line[len(m[0]):], `"`, "") + "\x00"
			default:
				line = "\x00"
			}
		}
		if !literal {
			out.WriteString(escape.ReplaceAllStringFunc(line, func(s string) string {
				if s == `\-` {
					return "-"
				}
				return ""
			}))
			out.WriteByte('\n')
		}
	}
	return blocks(out.String()), nil
}
