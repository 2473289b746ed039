package bodies_test

import (
	"bytes"
	"errors"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/bodies"
)

// What a record of fetched refers to is what the whole record says, decoded; and
// whatever it says, claiming its body ends: with the body, or with its name.
func FuzzReference(f *testing.F) {
	s, _ := open(f, f.TempDir())
	kept := text(70_000)
	value, ref := record(f, s, 3, kept)
	f.Add(value)
	for _, stored := range []*weftpb.BodyReference{
		{}, {Key: "../x", Size: 1}, {Key: ref.Key, Size: 2}, {Key: ref.Key, Size: 1<<31 - 1, Sha256: ref.Sha256}, {Key: "a", Size: -1},
		{Key: ref.Key[:len(ref.Key)-30], Size: 5},
	} {
		raw, err := proto.Marshal(&weftpb.Fetched{Id: "page", Body: []byte("body"), Stored: stored})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	half, err := proto.Marshal(&weftpb.Fetched{Stored: &weftpb.BodyReference{Size: 7}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(append(bytes.Clone(value), half...)) // says it in two parts
	f.Fuzz(func(t *testing.T, value []byte) {
		got := bodies.Reference(value)
		var whole weftpb.Fetched
		decoded := proto.Unmarshal(value, &whole) == nil
		if decoded && !proto.Equal(got, whole.Stored) {
			t.Fatalf("refers to %v, and says %v", got, whole.Stored)
		}
		claimed, err := s.Load(t.Context(), value)
		switch {
		case errors.Is(err, bodies.ErrMissing) || errors.Is(err, bodies.ErrDamaged):
			return
		case err != nil:
			t.Fatalf("neither missing nor damaged: %v", err)
		case got == nil:
			if !bytes.Equal(claimed, value) {
				t.Fatal("a record without a reference is changed")
			}
			return
		}
		if !bytes.HasPrefix(claimed, value) {
			t.Fatal("a record is not what it was")
		}
		if err := proto.Unmarshal(claimed, &whole); decoded && (err != nil || int64(len(whole.Body)) != got.Size) {
			t.Fatalf("claimed %d bytes of %d, %v", len(whole.Body), got.Size, err)
		}
		_, kind, n := protowire.ConsumeTag(claimed[len(value):])
		if n < 0 || kind != protowire.BytesType {
			t.Fatal("no field is appended")
		}
	})
}
