package warc

import (
	"bytes"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// A member is read by other readers as its text and then what is stored, whatever their lengths.
func TestMembers(t *testing.T) {
	noise := make([]byte, 3*mostStored+17)
	random := rand.NewChaCha8([32]byte{1})
	_, _ = random.Read(noise)
	words := bytes.Repeat([]byte("WARC-Type: response\r\n"), 20_000)
	for _, o := range []Options{{Level: 1}, {Level: 4}, {Compression: Zstd, Level: 1}, {Compression: Zstd, Level: 3}} {
		p, err := NewPacker(o)
		must(t, err)
		for _, text := range [][]byte{[]byte("x"), words[:300], words[:smallText+1], words, noise[:500], noise, make([]byte, 300_000)} {
			for _, stored := range [][][]byte{nil, {nil, recordEnd}, {noise[:1], recordEnd}, {noise[:mostStored], recordEnd}, {noise, recordEnd}} {
				member, err := p.format.pack([]byte("before"), text, stored...)
				must(t, err)
				var in io.Reader = bytes.NewReader(member[len("before"):])
				if o.Compression == Zstd {
					d, err := zstd.NewReader(in)
					must(t, err)
					defer d.Close()
					in = d
				} else {
					in, err = gzip.NewReader(in)
					must(t, err)
				}
				got, err := io.ReadAll(in)
				if want := bytes.Join(append([][]byte{text}, stored...), nil); err != nil || !bytes.Equal(got, want) {
					t.Fatalf("%+v: %d bytes and %d stored parts: %d bytes, %v", o, len(text), len(stored), len(got), err)
				}
			}
		}
	}
}
