package warc

import (
	"bytes"
	"encoding/json"
	"iter"
	"slices"
	"strings"
	"time"
)

// Entry is a line of a CDXJ index: where the response of a URL at a time is.
type Entry struct {
	Date                      time.Time
	URL, MIME, Status, Digest string
	// Offset and Length of the member in the file.
	Offset, Length int64
}

// cdxj is the JSON of a line, as pywb and cdxj-indexer write it.
type cdxj struct {
	URL      string `json:"url"`
	MIME     string `json:"mime,omitempty"`
	Status   string `json:"status,omitempty"`
	Digest   string `json:"digest,omitempty"`
	Length   int64  `json:"length,string"`
	Offset   int64  `json:"offset,string"`
	Filename string `json:"filename,omitempty"`
}

// CDXJ returns the sorted index of a file whose head has headBytes.
func CDXJ(entries []Entry, file string, headBytes int64) []byte {
	lines := make([]string, 0, len(entries))
	for _, e := range entries {
		e.Offset += headBytes
		lines = append(lines, string(appendLine(nil, &e, file)))
	}
	slices.Sort(lines)
	return []byte(strings.Join(lines, ""))
}

func appendLine(b []byte, e *Entry, file string) []byte {
	text, err := json.Marshal(cdxj{e.URL, e.MIME, e.Status, e.Digest, e.Length, e.Offset, file})
	if err != nil {
		return b // strings and numbers have no errors
	}
	b = append(append(b, SURT(e.URL)...), ' ')
	b = append(e.Date.UTC().AppendFormat(b, "20060102150405"), ' ')
	return append(append(b, text...), '\n')
}

// Lines finds the lines of a key in an index (Keys).
func Lines(index []byte, key string) (found []Line) {
	prefix := key + " "
	for line := range strings.Lines(string(index)) {
		if !strings.HasPrefix(line, prefix) {
			continue
		}
		if l, ok := readLine(line[len(prefix):]); ok {
			found = append(found, l)
		}
	}
	return found
}

// AllLines yields the lines of an index.
func AllLines(index []byte) iter.Seq[Line] {
	return func(yield func(Line) bool) {
		for line := range bytes.Lines(index) {
			_, rest, _ := strings.Cut(string(line), " ")
			if l, ok := readLine(rest); ok && !yield(l) {
				return
			}
		}
	}
}

// readLine reads a line behind its key.
func readLine(text string) (Line, bool) {
	date, text, ok := strings.Cut(text, " ")
	var c cdxj
	if !ok || json.Unmarshal([]byte(text), &c) != nil {
		return Line{}, false
	}
	at, err := time.Parse("20060102150405", date)
	return Line{File: c.Filename, Entry: Entry{Date: at, URL: c.URL, MIME: c.MIME, Status: c.Status, Digest: c.Digest, Offset: c.Offset, Length: c.Length}}, err == nil
}

// Line is an Entry with the name of its file.
type Line struct {
	File string
	Entry
}
