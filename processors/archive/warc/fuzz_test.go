package warc

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/gzip"
)

// The whole members at the beginning of a file stay whole when it is cut after
// them, whatever follows.
func FuzzWholeMembers(f *testing.F) {
	var member bytes.Buffer
	gz := gzip.NewWriter(&member)
	_, _ = gz.Write([]byte("WARC/1.1\r\n\r\n"))
	if err := gz.Close(); err != nil {
		f.Fatal(err)
	}
	f.Add(1, []byte{})
	f.Add(2, member.Bytes()[:10])
	f.Add(0, []byte{0x1f, 0x8b, 8, 0xff})
	f.Add(3, append(member.Bytes(), 0))
	name := filepath.Join(f.TempDir(), "a.warc.gz.open")
	f.Fuzz(func(t *testing.T, members int, rest []byte) {
		members = max(0, min(members, 4))
		text := append(bytes.Repeat(member.Bytes(), members), rest...)
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
		whole, err := wholeMembers(name)
		if err != nil || whole < int64(members*member.Len()) || whole > int64(len(text)) {
			t.Fatalf("%d of %d bytes, at least %d: %v", whole, len(text), members*member.Len(), err)
		}
		if err := os.Truncate(name, whole); err != nil {
			t.Fatal(err)
		}
		if again, err := wholeMembers(name); err != nil || again != whole {
			t.Fatalf("cut after %d bytes it is whole to %d: %v", whole, again, err)
		}
	})
}
