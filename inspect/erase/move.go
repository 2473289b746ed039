package erase

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/weftcrawl/weft/processors/archive/warc"
)

// moved is the new place of a revisit.
type moved struct {
	span
	mime string // for the index
}

// mover writes the revisits that move to the end of a draft, which still has all records.
type mover struct {
	name  string
	draft *os.File
	end   int64
	scanned
	// firsts are the revisits that took the payload of an erased response, by the key of that response.
	firsts map[idKey]span
}

// move writes what moves to the end of a draft, and returns the new places by the former offsets.
func move(name string, draft *os.File, end int64, f scanned) (map[int64]moved, error) {
	m := mover{name: name, draft: draft, end: end, scanned: f, firsts: map[idKey]span{}}
	places := make(map[int64]moved, len(f.moved))
	for _, place := range f.moved {
		record, mime, err := m.record(place)
		if err != nil {
			return nil, err
		}
		if places[place.offset], err = m.append(record, mime); err != nil {
			return nil, err
		}
	}
	return places, nil
}

// record returns a revisit as it is in its new place, and its type in the index. The first revisit of an
// erased response becomes a response. The others refer to the first one.
func (m *mover) record(place span) (warc.Record, string, error) {
	revisit, err := m.read(place)
	if err != nil {
		return revisit, "", err
	}
	of := keyOf(revisit.Field("WARC-Refers-To"))
	original, found := m.originals[of]
	first, there := m.firsts[of]
	switch {
	case there:
		// The response that the first one became has the same id, URL and date.
		to, err := m.read(first)
		return revisit.Referring(to), revisitType, err
	case found:
		response, err := m.read(original)
		_, payload := response.Message()
		m.firsts[of] = place
		record := revisit.Response(payload)
		return record, strings.Clone(record.MediaType()), err // it is a part of the header
	}
	// Without an original it could not be read before. Then it refers to nothing.
	return revisit.Referring(warc.Record{}), revisitType, nil
}

// revisitType is what an index says of revisits.
const revisitType = "warc/revisit"

func (m *mover) read(place span) (warc.Record, error) {
	member := make([]byte, place.length)
	if _, err := io.ReadFull(io.NewSectionReader(m.draft, place.offset, place.length), member); err != nil {
		return warc.Record{}, fmt.Errorf("read a draft: %w", err)
	}
	return warc.ReadMember(member)
}

// append writes a record to the end of the draft.
func (m *mover) append(record warc.Record, mime string) (moved, error) {
	member, err := warc.Pack(m.name, record)
	if err != nil {
		return moved{}, err
	}
	if _, err := m.draft.WriteAt(member, m.end); err != nil {
		return moved{}, fmt.Errorf("write a draft: %w", err)
	}
	to := moved{span{m.end, int64(len(member))}, mime}
	m.end += to.length
	return to, nil
}
