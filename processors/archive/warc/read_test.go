package warc

import (
	"bytes"
	"errors"
	"testing"
)

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
