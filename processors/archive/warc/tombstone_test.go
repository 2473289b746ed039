package warc

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/codecs"
	"github.com/weftcrawl/weft/codecs/weftpb"
)

var (
	erasure = "20261128T013000.123Z"
	when    = time.Date(2026, 11, 28, 1, 30, 0, 0, time.UTC)
)

// A tombstone has every length that a record may have, and the shortest record that Weft writes has
// room for one.
func TestTombstone(t *testing.T) {
	for _, c := range []Compression{Gzip, Zstd} {
		name := "a" + c.Extension()
		var least bytes.Buffer
		p, err := NewPacker(Options{Compression: c, Level: 4})
		must(t, err)
		must(t, NewFile(&least, nil, p).Add(&weftpb.Fetched{Request: &weftpb.Request{Target: &weftpb.Target{Url: "http://a.b/"}}, Outcome: &weftpb.Outcome{ErrorClass: "timeout"}}, codecs.ParsedArchived{}))
		lengths := []int64{int64(least.Len())}
		for _, near := range []int64{300, 10_000, 65_535, 2 * 65_535, 3 * 65_540, 1_000_000} {
			for n := near - 20; n < near+40; n++ {
				lengths = append(lengths, n)
			}
		}
		for _, length := range lengths {
			member, err := Tombstone(name, 99, length, erasure, when)
			if err != nil || int64(len(member)) != length {
				t.Fatalf("%s: a tombstone of %d bytes has %d, %v", c, length, len(member), err)
			}
			r, err := ReadMember(member)
			if err != nil || r.Erasure() != erasure || r.Field("WARC-Target-URI") != "" {
				t.Fatalf("%s: a tombstone of %d bytes: %+v, %v", c, length, r.fields, err)
			}
			if date, err := r.Date(); err != nil || !date.Equal(when) {
				t.Fatal(date, err)
			}
		}
		if _, err := Tombstone(name, 99, 200, erasure, when); err == nil {
			t.Error("there is a tombstone that does not say what it is")
		}
	}
}

// Members says where each member of a file is, also where tombstones are.
func TestMembersOfAFile(t *testing.T) {
	for _, c := range []Compression{Gzip, Zstd} {
		file, index := write(t, Options{Compression: c}, all()...)
		name := index[0].File
		var before []Member
		for m, err := range Members(bytes.NewReader(file)) {
			must(t, err)
			before = append(before, m)
		}
		for _, l := range index {
			if !slices.ContainsFunc(before, func(m Member) bool { return m.Offset == l.Offset && m.Length == l.Length }) {
				t.Errorf("%s: no member is at %d", c, l.Offset)
			}
		}
		for i := 1; i < len(before); i += 2 {
			grave, err := Tombstone(name, before[i].Offset, before[i].Length, erasure, when)
			must(t, err)
			copy(file[before[i].Offset:], grave)
		}
		n := 0
		for m, err := range Members(bytes.NewReader(file)) {
			must(t, err)
			if m.Offset != before[n].Offset || m.Length != before[n].Length || (m.Erasure() != "") != (n%2 == 1) {
				t.Errorf("%s: member %d is %d bytes at %d: %v", c, n, m.Length, m.Offset, m.fields)
			}
			n++
		}
		if n != len(before) {
			t.Errorf("%s: %d members of %d", c, n, len(before))
		}
	}
}

// A revisit becomes the response that it would have been without the record that it referred to.
func TestMove(t *testing.T) {
	for _, c := range []Compression{Gzip, Zstd} {
		coded := func(n int) *weftpb.Fetched {
			x := exchange(n, "")
			x.CodedBody = storedGzip([]byte(strings.Repeat("as it came ", 9000)))
			return x
		}
		o := Options{Compression: c}
		file, index := write(t, o, exchange(1, "a page"), coded(2), exchange(3, "a page"), coded(4), exchange(5, "a page"))
		alone, lines := write(t, o, coded(4), exchange(3, "a page"), exchange(5, "a page"))
		read := func(file []byte, l Line) Record {
			r, err := ReadMember(file[l.Offset : l.Offset+l.Length])
			must(t, err)
			return r
		}
		for n, original := range []int{1, 0} {
			_, payload := read(file, index[original]).Message()
			moved := read(file, index[3-n]).Response(payload)
			member, err := Pack(index[0].File, moved)
			must(t, err)
			got, err := ReadMember(member)
			must(t, err)
			want := read(alone, lines[n])
			if !bytes.Equal(got.Block, want.Block) || got.MediaType() != lines[n].MIME || int64(len(member)) > lines[n].Length+40 {
				t.Errorf("%s: %d bytes %s %.200q, want %d bytes %s %.200q", c, len(member), got.MediaType(), got.Block, lines[n].Length, lines[n].MIME, want.Block)
			}
			for _, f := range want.fields {
				if got.Field(f.Name) != f.Value && f.Name != factsField {
					t.Errorf("%s: %s is %q, want %q", c, f.Name, got.Field(f.Name), f.Value)
				}
			}
		}
		to := read(file, index[2])
		member, err := Pack(index[0].File, read(file, index[4]).Referring(to))
		must(t, err)
		got, err := ReadMember(member)
		must(t, err)
		want := read(alone, lines[2])
		for _, f := range want.fields {
			if got.Field(f.Name) != f.Value && f.Name != factsField {
				t.Errorf("%s: %s is %q, want %q", c, f.Name, got.Field(f.Name), f.Value)
			}
		}
	}
}
