package reparse

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/weftcrawl/weft/internal/blob"
	"github.com/weftcrawl/weft/processors/archive"
	"github.com/weftcrawl/weft/processors/archive/warc"
	"github.com/weftcrawl/weft/topics"
)

// source is a file of the archive.
type source struct {
	bucket blob.Bucket
	name   string
	head   warc.Head
	// definition is that of the crawl when the file was written.
	definition topics.Definition
}

// errForeign: another program wrote the file, or an earlier version of Weft.
var errForeign = errors.New("the file does not say which records it has")

func openSource(ctx context.Context, bucket blob.Bucket, name string) (*source, error) {
	var begin bytes.Buffer
	if err := bucket.GetRange(ctx, name, 0, warc.InfoBytes, &begin); err != nil {
		return nil, err
	}
	s := &source{bucket: bucket, name: name}
	info, err := warc.ReadInfo(begin.Bytes())
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errForeign, err)
	}
	var ok bool
	if s.head, ok = warc.ReadHead(begin.Bytes()); !ok || s.head.Name != name {
		return nil, errForeign
	}
	if err := json.Unmarshal([]byte(info["weft-definition"]), &s.definition); err != nil {
		return nil, fmt.Errorf("%w: its definition of the crawl: %w", errForeign, err)
	}
	return s, nil
}

// response is a line of the index.
type response struct {
	offset, length int64
	digest         string
	revisit        bool
}

// index returns the responses of the file in its order. It has none if no exchange has a response:
// then there is no index. So without an index the file itself says which responses it has.
func (s *source) index(ctx context.Context) ([]response, error) {
	var text bytes.Buffer
	err := s.bucket.Get(ctx, archive.IndexName(s.head), &text)
	if errors.Is(err, blob.ErrNotExist) {
		return s.scan(ctx)
	}
	if err != nil {
		return nil, err
	}
	var all []response
	for l := range warc.AllLines(text.Bytes()) {
		all = append(all, response{offset: l.Offset, length: l.Length, digest: l.Digest, revisit: l.MIME == "warc/revisit"})
	}
	slices.SortFunc(all, func(a, b response) int { return cmp.Compare(a.offset, b.offset) })
	return all, nil
}

// scan reads the whole file to find its responses. They are those of an index.
func (s *source) scan(ctx context.Context) (all []response, err error) {
	reader := blob.Reader(ctx, s.bucket, s.name)
	defer reader.Close()
	for m, err := range warc.Members(reader) {
		if err != nil {
			return nil, fmt.Errorf("read %s, whose index %s is missing: %w", s.name, archive.IndexName(s.head), err)
		}
		kind := m.Field("WARC-Type")
		if kind != "response" && kind != "revisit" {
			continue
		}
		all = append(all, response{offset: m.Offset, length: m.Length, digest: m.Field("WARC-Payload-Digest"), revisit: kind == "revisit"})
	}
	return all, nil
}

// kept is a response as it was read.
type kept struct {
	record         warc.Record
	payload        []byte
	offset, length int64 // of its member
	gzip           *gzipEnd
	// outcome and err say why the record cannot be parsed; empty: it can.
	outcome Outcome
	err     error
}

// gzipEnd is what the end of a gzip member says of its text (RFC 1952 section 2.3.1).
type gzipEnd struct{ crc, inflated uint32 }

const gzipHeaderBytes, gzipFooterBytes = 10, 8

// gzipEndOf returns the end of a member; nil: the member is not gzip, or has a longer header than the
// members of Weft.
func gzipEndOf(member []byte) *gzipEnd {
	footer := len(member) - gzipFooterBytes
	if footer < gzipHeaderBytes || member[0] != 0x1f || member[1] != 0x8b || member[3] != 0 {
		return nil
	}
	return &gzipEnd{crc: binary.LittleEndian.Uint32(member[footer:]), inflated: binary.LittleEndian.Uint32(member[footer+4:])}
}

// largestMember bounds what one record may be said to have in an index: a body of 256 MiB, twice.
const largestMember = 512 << 20

// responses reads the file once, from its beginning to its end, and yields its responses. A revisit
// gets the payload that it refers to. The error is that of the bucket.
func (s *source) responses(ctx context.Context, index []response) iter.Seq2[kept, error] {
	return func(yield func(kept, error) bool) {
		reader := blob.Reader(ctx, s.bucket, s.name)
		defer reader.Close()
		in, at := bufio.NewReaderSize(reader, 1<<20), int64(0)
		known := newPayloads(index)
		for i := range index {
			r := &index[i]
			if r.offset < at || r.length <= 0 || r.length > largestMember {
				yield(kept{}, fmt.Errorf("the index of %s is damaged: it has a record of %d bytes at %d", s.name, r.length, r.offset))
				return
			}
			member := make([]byte, r.length)
			_, err := io.CopyN(io.Discard, in, r.offset-at)
			if err == nil {
				_, err = io.ReadFull(in, member)
			}
			if err != nil {
				yield(kept{}, fmt.Errorf("read %s at %d: %w", s.name, r.offset, err))
				return
			}
			at = r.offset + r.length
			one, err := s.resolve(ctx, known, r, member)
			one.offset, one.length, one.gzip = r.offset, r.length, gzipEndOf(member)
			if !yield(one, err) || err != nil {
				return
			}
		}
	}
}

// resolve reads a member, and looks for its payload: the first one of the file with this digest.
func (s *source) resolve(ctx context.Context, known *payloads, r *response, member []byte) (k kept, err error) {
	if k.record, err = warc.ReadMember(member); err != nil {
		return kept{outcome: Unreadable, err: err}, nil
	}
	_, k.payload = k.record.Message()
	if !r.revisit {
		known.met(r, k.payload)
		return k, nil
	}
	if r.digest == "" {
		return k, nil // 304: it has no payload
	}
	payload, original, ok := known.of(r)
	if ok {
		k.payload = payload
		return k, nil
	}
	if original != nil {
		var first bytes.Buffer
		if err := s.bucket.GetRange(ctx, s.name, original.offset, original.length, &first); err != nil {
			return k, err
		}
		record, err := warc.ReadMember(first.Bytes())
		if err == nil {
			_, k.payload = record.Message()
			return k, nil
		}
	}
	k.outcome, k.err = NoPayload, errors.New("the payload is not in the file: "+k.record.Field("WARC-Refers-To"))
	return k, nil
}

// payloads are those of a file that later records refer to. Few are large: what does not fit
// in keptBytes is read again.
type payloads struct {
	first map[string]*response // by digest
	left  map[string]int       // records that are still to come
	kept  map[string][]byte
	bytes int
}

const keptBytes = 32 << 20

func newPayloads(index []response) *payloads {
	p := &payloads{first: map[string]*response{}, left: map[string]int{}, kept: map[string][]byte{}}
	for i := range index {
		if r := &index[i]; r.revisit && r.digest != "" {
			p.left[r.digest]++
		}
	}
	return p
}

// met notes a payload that was read.
func (p *payloads) met(r *response, payload []byte) {
	if p.left[r.digest] == 0 || p.first[r.digest] != nil {
		return
	}
	if p.first[r.digest] = r; p.bytes+len(payload) <= keptBytes {
		p.kept[r.digest] = payload
		p.bytes += len(payload)
	}
}

// of returns the payload of a revisit, or else the response that has it; nil: none has it.
func (p *payloads) of(r *response) (payload []byte, original *response, ok bool) {
	payload, ok = p.kept[r.digest]
	if p.left[r.digest]--; p.left[r.digest] == 0 && ok {
		delete(p.kept, r.digest)
		p.bytes -= len(payload)
	}
	return payload, p.first[r.digest], ok
}
