package warc

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
)

// Head is the warcinfo record at the beginning of a file. It says which records of the
// topic fetched are in the file. It is written last, when that is known, and its length
// does not depend on it.
type Head struct {
	// Name of the file.
	Name string
	// Date of the first exchange.
	Date time.Time
	// First is the offset of the first record, Next is the offset of the first record behind the
	// file.
	First, Next int64
	// Sum identifies the first record.
	Sum string
	// Oldest is the date of the oldest record; zero: it is not known.
	Oldest time.Time
	// Info are further fields, in this order, such as software and operator.
	Info []Field
}

// Names of fields.
const (
	firstField = "weft-first-offset"
	nextField  = "weft-next-offset"
	sumField   = "weft-first-record"
	oldField   = "weft-oldest-record"
)

// HeadBytes is as much of a file as ReadHead needs.
const HeadBytes = 4 << 10

// Member is the head as a member of a file. It is stored and not compressed, so that its
// length is known before the offsets are.
func (h Head) Member(c Compression) []byte {
	fields := append([]Field{
		{firstField, fmt.Sprintf("%019d", h.First)},
		{nextField, fmt.Sprintf("%019d", h.Next)},
		{sumField, h.Sum},
		{"format", "WARC File Format 1.1"},
		{"conformsTo", "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"},
	}, h.Info...)
	if !h.Oldest.IsZero() {
		fields = slices.Insert(fields, 3, Field{oldField, h.Oldest.UTC().Format(dateFormat)})
	}
	var block []byte
	for _, f := range fields {
		block = appendField(block, f.Name, f.Value)
	}
	r := record{
		fields: []Field{
			{"WARC-Type", "warcinfo"},
			{"WARC-Record-ID", "<urn:uuid:" + uuid.NewSHA1(uuid.NameSpaceURL, []byte(h.Name)).String() + ">"},
			{"WARC-Date", h.Date.UTC().Format(dateFormat)},
			{"WARC-Filename", h.Name},
			{"Content-Type", "application/warc-fields"},
		},
		head: block,
	}
	text := slices.Concat(r.appendHeader(nil), r.head, recordEnd)
	if c == Zstd {
		return storedZstd(text)
	}
	return storedGzip(text)
}

// ReadHead reads the head of a file. begins has the first HeadBytes of the file. It returns false
// if this package did not write the head.
func ReadHead(begin []byte) (h Head, ok bool) {
	values := map[string]string{}
	for line := range strings.Lines(string(begin)) {
		if name, value, found := strings.Cut(strings.TrimRight(line, "\r\n"), ": "); found && values[name] == "" {
			values[name] = value
		}
	}
	first, err1 := strconv.ParseInt(values[firstField], 10, 64)
	next, err2 := strconv.ParseInt(values[nextField], 10, 64)
	date, err3 := time.Parse(time.RFC3339, values["WARC-Date"])
	oldest, _ := time.Parse(time.RFC3339, values[oldField]) // files of earlier versions do not have it
	h = Head{Name: values["WARC-Filename"], Date: date, First: first, Next: next, Sum: values[sumField], Oldest: oldest}
	return h, err1 == nil && err2 == nil && err3 == nil && next > first && first >= 0 && h.Sum != ""
}
