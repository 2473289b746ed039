package office

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/weftcrawl/weft/processors/parse/extract"
)

const (
	// maxStrings and maxStringBytes bound the strings that the cells of a file share.
	maxStrings     = 500_000
	maxStringBytes = 8 << 20
	// maxFormats bounds the formats of cells.
	maxFormats = 10_000
)

// excel reads a file of Excel (ECMA-376 part 1, section 18): each sheet is a page that begins with
// its name, and each row is a line. Cells have the stored values. Dates are stored as numbers and
// written as dates.
func (r *reader) excel() {
	r.properties()
	main := r.main("xl/workbook.xml")
	relations := r.relations(main)
	type sheet struct{ name, part string }
	var sheets []sheet
	since1904 := false
	r.visit(main, visitor{start: func(name string, attrs attributes) {
		switch name {
		case "sheet":
			if rel := relations[attrs.relation()]; rel.kind == "worksheet" && len(sheets) < maxPages {
				sheets = append(sheets, sheet{attrs.get("name"), rel.target})
			}
		case "workbookPr":
			since1904 = attrs.get("date1904") == "1" || attrs.get("date1904") == "true"
		}
	}})
	r.doc.Pages = len(sheets)
	shared := r.sharedStrings(r.part(relations, "sharedStrings", within(main, "sharedStrings.xml")))
	formats := r.formats(r.part(relations, "styles", within(main, "styles.xml")))
	for _, s := range sheets {
		r.w.page()
		r.w.add(s.name)
		r.w.block()
		c := cells{reader: r, shared: shared, formats: formats, since1904: since1904, relations: r.relations(s.part)}
		if !r.visit(s.part, visitor{start: c.start, end: c.end, text: c.text, skip: map[string]bool{"rPh": true, "f": true}}) {
			return
		}
	}
}

// sharedStrings are the strings of all sheets.
func (r *reader) sharedStrings(part string) (shared []string) {
	var text []byte
	inText := false
	total := 0
	r.try(part, visitor{
		start: func(name string, _ attributes) {
			switch name {
			case "si":
				text = text[:0]
			case "t":
				inText = true
			}
		},
		text: func(more []byte) {
			if inText && len(text)+len(more) <= maxTokenBytes {
				text = append(text, more...)
			}
		},
		end: func(name string) {
			switch name {
			case "t":
				inText = false
			case "si":
				if total += len(text); len(shared) < maxStrings && total <= maxStringBytes {
					// A string may stand in many cells, so it is resolved once.
					shared = append(shared, strings.Join(strings.Fields(unescaped(string(text))), " "))
				} else {
					r.doc.TextTruncated = true
				}
			}
		},
		skip: map[string]bool{"rPh": true}, // the pronunciation of a text
	})
	return shared
}

// format is what a cell shows of its number.
type format uint8

const (
	plain format = iota
	date
	duration // hours, minutes and seconds that passed
)

// formats are the formats of cells, by their numbers.
func (r *reader) formats(part string) (formats []format) {
	custom := map[string]format{}
	inCells := false
	r.try(part, visitor{
		start: func(name string, attrs attributes) {
			switch name {
			case "numFmt":
				if len(custom) < maxFormats {
					custom[attrs.get("numFmtId")] = formatOf(attrs.get("formatCode"))
				}
			case "cellXfs":
				inCells = true
			case "xf":
				if inCells && len(formats) < maxFormats {
					id := attrs.get("numFmtId")
					shown, stated := custom[id]
					if n, err := strconv.Atoi(id); err == nil && !stated {
						shown = builtIn(n)
					}
					formats = append(formats, shown)
				}
			}
		},
		end: func(name string) { inCells = inCells && name != "cellXfs" },
	})
	return formats
}

// builtIn is the format of a number that has no formatCode (section 18.8.30). Files of Excel in Chinese, Japanese
// and Korean have the dates 27 to 36 and 50 to 58, those in Thai 71 to 81.
func builtIn(id int) format {
	switch {
	case id == 46, id == 79:
		return duration
	case id >= 14 && id <= 22, id >= 27 && id <= 36, id == 45, id == 47, id >= 50 && id <= 58, id >= 71 && id <= 81:
		return date
	}
	return plain
}

var passed = regexp.MustCompile(`(?i)\[(h+|m+|s+)\]`)

func formatOf(code string) format {
	switch {
	case passed.MatchString(code):
		return duration
	case isDateFormat(code):
		return date
	}
	return plain
}

// isDateFormat tells whether the format of a number has a part of a date in it, outside of
// quotes and brackets.
func isDateFormat(code string) bool {
	quoted, bracket := false, false
	for i := 0; i < len(code); i++ {
		switch c := code[i]; {
		case c == '\\' || c == '_' || c == '*':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[':
			bracket = true
		case c == ']':
			bracket = false
		case bracket:
		case strings.IndexByte("yYmMdDhHsS", c) >= 0:
			return true
		}
	}
	return false
}

// cells are the cells of a sheet.
type cells struct {
	*reader
	shared    []string
	formats   []format
	since1904 bool
	relations map[string]relation

	kind, format string
	inValue      bool
	value        []byte
}

func (c *cells) start(name string, attrs attributes) {
	switch name {
	case "row":
		c.w.block()
	case "c":
		c.kind, c.format, c.value = attrs.get("t"), attrs.get("s"), c.value[:0]
	case "v", "t":
		c.inValue = true
	case "hyperlink":
		if rel := c.relations[attrs.relation()]; rel.external {
			c.w.addLink(rel.target, extract.OneLine(attrs.get("display"), c.opts.MaxAnchorBytes))
		}
	}
}

func (c *cells) text(text []byte) {
	if c.inValue && len(c.value)+len(text) <= maxTokenBytes {
		c.value = append(c.value, text...)
	}
}

func (c *cells) end(name string) {
	switch name {
	case "v", "t":
		c.inValue = false
	case "c":
		c.w.cell()
		c.w.add(c.shown())
	}
}

// shown is the value of a cell.
func (c *cells) shown() string {
	value := string(c.value)
	switch c.kind {
	case "s":
		i, err := strconv.Atoi(strings.TrimSpace(value))
		if err != nil || i < 0 || i >= len(c.shared) {
			return ""
		}
		return c.shared[i]
	case "inlineStr", "str":
		return unescaped(value)
	case "b":
		return map[string]string{"0": "FALSE", "1": "TRUE"}[value]
	case "", "n":
		if number, err := strconv.Atoi(c.format); err == nil && number >= 0 && number < len(c.formats) {
			switch c.formats[number] {
			case date:
				return c.date(value)
			case duration:
				return timeOf(value)
			}
		}
		if n, err := strconv.ParseFloat(value, 64); err == nil {
			return strconv.FormatFloat(n, 'f', -1, 64)
		}
	}
	return value
}

var escape = regexp.MustCompile(`_x[0-9A-Fa-f]{4}_`)

// unescaped resolves the escapes of a string (section 22.9.2.19, ST_Xstring): _x000D_ is the CR that XML cannot
// hold, and _x005F_ is the first character of what only looks like an escape.
func unescaped(text string) string {
	if !strings.Contains(text, "_x") {
		return text
	}
	return escape.ReplaceAllStringFunc(text, func(e string) string {
		code, _ := strconv.ParseUint(e[len("_x"):len(e)-1], 16, 32)
		return string(rune(code))
	})
}

// date writes a number of days as a date (section 18.17.4): the day 60 is February 29, 1900, which
// did not exist.
func (c *cells) date(value string) string {
	days, err := strconv.ParseFloat(value, 64)
	if err != nil || math.IsNaN(days) || days < 0 || days > 2958466 {
		return value
	}
	zero := time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)
	switch {
	case c.since1904:
		zero = time.Date(1904, 1, 1, 0, 0, 0, 0, time.UTC)
	case days < 60:
		zero = zero.AddDate(0, 0, 1)
	}
	whole, part := math.Modf(days)
	at := zero.AddDate(0, 0, int(whole)).Add(time.Duration(math.Round(part*86400)) * time.Second)
	switch {
	case part == 0:
		return at.Format(time.DateOnly)
	case whole == 0:
		return at.Format(time.TimeOnly)
	}
	return at.Format(time.DateTime)
}

// timeOf writes a number of days as hours, minutes and seconds, 30:00:00.
func timeOf(value string) string {
	days, err := strconv.ParseFloat(value, 64)
	if err != nil || !(math.Abs(days) <= 2958466) {
		return value
	}
	sign, seconds := "", int64(math.Round(math.Abs(days)*86400))
	if days < 0 && seconds > 0 {
		sign = "-"
	}
	return fmt.Sprintf("%s%d:%02d:%02d", sign, seconds/3600, seconds/60%60, seconds%60)
}
