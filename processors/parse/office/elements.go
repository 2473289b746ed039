package office

import (
	"bufio"
	"encoding/xml"
	"errors"
	"io"

	"github.com/weftcrawl/weft/processors/parse/markup"
)

// maxTokenBytes bounds one tag or text of XML. The decoder holds one of them at a time.
const maxTokenBytes = 256 << 10

// tokenBytes is what a tag or text costs at least. To read the shortest tags, such as <a>, takes as long
// as to read about so many bytes of text.
const tokenBytes = 12

// visitor gets the elements of a part in turn. Names have no prefix. A nil function is not
// called.
type visitor struct {
	start func(name string, attrs attributes)
	end   func(name string)
	text  func(text []byte)
	// skip names elements that are skipped with their contents.
	skip map[string]bool
}

type attributes []xml.Attr

// get returns the attribute of that name, whatever its prefix is.
func (as attributes) get(name string) string {
	for _, a := range as {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// relation returns the id of a relation: the attribute id with a prefix. Most programs call the prefix r. Without
// a prefix it is the id of the element itself.
func (as attributes) relation() string {
	for _, a := range as {
		if a.Name.Space != "" && a.Name.Local == "id" {
			return a.Value
		}
	}
	return ""
}

// errStop ends a visit that has seen enough.
var errStop = errors.New("enough is read")

var errUnclosed = errors.New("the text ends within an element, or has none")

// titleOfPicture is the element with what OpenDocument says in place of a picture. It is skipped as its description
// is: it would be a part of the paragraph. The element title of a text is another one.
var titleOfPicture = xml.Name{Space: "svg", Local: "title"}

// visit reads XML without a tree. Nesting costs no memory, and entities of a document type are not
// expanded. It ends when enough is true. The error is errUnclosed if the text ends within an element, or
// has none.
func visit(r *metered, v visitor, enough func() bool) error {
	limited := &tokenReader{r: bufio.NewReader(markup.Decoded(r, ""))}
	d := xml.NewDecoder(limited)
	d.Strict = false
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	skipped, open, elements := 0, 0, 0
	for {
		limited.bytes = 0
		token, err := d.RawToken()
		switch {
		case errors.Is(err, io.EOF) && (open > 0 || elements == 0):
			return errUnclosed
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case enough():
			return errStop
		}
		r.charge(max(tokenBytes-limited.bytes, 0))
		switch t := token.(type) {
		case xml.StartElement:
			open, elements = open+1, elements+1
			if skipped > 0 || v.skip[t.Name.Local] || t.Name == titleOfPicture {
				skipped++
				continue
			}
			if v.start != nil {
				v.start(t.Name.Local, t.Attr)
			}
		case xml.EndElement:
			open--
			if skipped > 0 {
				skipped--
				continue
			}
			if v.end != nil {
				v.end(t.Name.Local)
			}
		case xml.CharData:
			if skipped == 0 && v.text != nil {
				v.text(t)
			}
		}
	}
}

// tokenReader refuses tokens that are too long.
type tokenReader struct {
	r     *bufio.Reader
	bytes int
}

func (t *tokenReader) ReadByte() (byte, error) {
	if t.bytes++; t.bytes > maxTokenBytes {
		return 0, errTooCostly
	}
	return t.r.ReadByte()
}

func (t *tokenReader) Read(p []byte) (int, error) {
	n, err := t.r.Read(p[:min(len(p), 1)])
	t.bytes += n
	return n, err
}
