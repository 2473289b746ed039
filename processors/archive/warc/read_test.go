package warc

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Other programs write fields without a blank, and fold long ones.
func TestFieldsOfOthers(t *testing.T) {
	r, err := ReadMember(storedGzip([]byte("WARC/1.1\r\nWARC-Target-URI:http://a.example/secret\r\nwarc-type: \t response \r\n" +
		"X-Fold: one:\r\n  two\r\n\t \r\n\tthree\r\nX-Begins-Below:\r\n here\r\nContent-Length:2\r\n\r\nab\r\n\r\n")))
	must(t, err)
	want := []Field{
		{"WARC-Target-URI", "http://a.example/secret"}, {"warc-type", "response"}, {"X-Fold", "one: two three"}, {"X-Begins-Below", "here"}, {"Content-Length", "2"},
	}
	if diff := cmp.Diff(want, r.Fields()); diff != "" || string(r.Block) != "ab" {
		t.Errorf("%q: %s", r.Block, diff)
	}
}

// A member that is cut, garbled or of another format is an error, and never a record
// beyond its bytes.
func FuzzReadMember(f *testing.F) {
	for _, c := range []Compression{Gzip, Zstd} {
		file, index := write(f, Options{Compression: c}, all()...)
		for _, l := range index {
			member := file[l.Offset : l.Offset+l.Length]
			f.Add(member)
			f.Add(member[:len(member)/2])
		}
	}
	f.Add(storedGzip([]byte("WARC/1.1\r\nContent-Length: 9\r\n\r\nshort")))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, member []byte) {
		r, err := ReadMember(member)
		if err != nil {
			if !errors.Is(err, ErrRecord) {
				t.Fatal(err)
			}
			return
		}
		if head, payload := r.Message(); !bytes.Equal(append(bytes.Clone(head), payload...), r.Block) {
			t.Fatalf("%q is divided into %q and %q", r.Block, head, payload)
		}
	})
}
