package codecs_test

import (
	"bytes"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs"
	"github.com/weftcrawl/weft/codecs/weftpb"
)

func TestBodyIsAPartOfTheRecord(t *testing.T) {
	want := &weftpb.Fetched{Id: "a", Body: []byte("<p>text</p>"), Location: "https://example.com/", CodedBody: []byte("coded")}
	raw, err := proto.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got weftpb.Fetched
	if err := codecs.UnmarshalFetched(raw, &got); err != nil || !proto.Equal(want, &got) {
		t.Fatalf("%v, %v", &got, err)
	}
	if &got.Body[0] != &raw[bytes.Index(raw, want.Body)] || &got.CodedBody[0] != &raw[bytes.Index(raw, want.CodedBody)] {
		t.Error("a body is a copy")
	}
	before := bytes.Clone(raw)
	_, _ = append(got.Body, "more"...), append(got.CodedBody, "more"...)
	if !bytes.Equal(raw, before) {
		t.Error("appending to the body changes the record")
	}
}

func TestCutFetched(t *testing.T) {
	front, err := proto.Marshal(&weftpb.Fetched{Id: "a", Headers: []*weftpb.Header{{Name: "Content-Type", Value: "text/html"}}})
	if err != nil {
		t.Fatal(err)
	}
	whole, err := proto.Marshal(&weftpb.Fetched{Id: "a", Headers: []*weftpb.Header{{Name: "Content-Type", Value: "text/html"}}, Body: []byte("text"), Location: "b"})
	if err != nil {
		t.Fatal(err)
	}
	if gotFront, gotBody := codecs.CutFetched(whole); !bytes.Equal(gotFront, front) || string(gotBody) != "text" {
		t.Errorf("%q in front of %q", gotFront, gotBody)
	}
	for _, raw := range [][]byte{front, whole[:len(whole)-1]} {
		if gotFront, gotBody := codecs.CutFetched(raw); !bytes.Equal(gotFront, raw) || gotBody != nil {
			t.Errorf("%q in front of %q of a record without a body that is intact", gotFront, gotBody)
		}
	}
}

// Whatever the bytes are, the message and the verdict are those of proto.Unmarshal.
func FuzzUnmarshalAlias(f *testing.F) {
	add := func(m proto.Message) []byte {
		raw, err := proto.Marshal(m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
		return raw
	}
	one := add(&weftpb.Fetched{Id: "a", Body: []byte("text"), Location: "b"})
	add(&weftpb.Fetched{Id: "a", Body: []byte("body"), CodedBody: []byte("coded"), RecordedMs: 5})
	add(&weftpb.Fetched{Robots: &weftpb.Fetched{Id: "a", Body: []byte("text")}, RobotsOf: &weftpb.RobotsOf{Origin: "http://k.example"}})
	two := add(&weftpb.Event{Epoch: 1, Body: []byte("event"), Offset: 7})
	f.Add(append(bytes.Clone(one), one...)) // the body twice
	f.Add(append(bytes.Clone(two), two...))
	f.Add(two[:len(two)-1])
	f.Add([]byte{})
	f.Add(protowire.AppendVarint(protowire.AppendTag(nil, 8, protowire.VarintType), 5))
	f.Add(protowire.AppendBytes(protowire.AppendTag(nil, 4, protowire.BytesType), nil))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var fetched, wantFetched weftpb.Fetched
		same(t, raw, &fetched, &wantFetched, codecs.UnmarshalFetched(raw, &fetched))
		var event, wantEvent weftpb.Event
		same(t, raw, &event, &wantEvent, codecs.UnmarshalEvent(raw, &event))
	})
}

func same(t *testing.T, raw []byte, got, want proto.Message, err error) {
	t.Helper()
	wanted := proto.Unmarshal(raw, want)
	if (err == nil) != (wanted == nil) {
		t.Fatalf("%x: %v, want %v", raw, err, wanted)
	}
	if err == nil && !proto.Equal(got, want) {
		t.Errorf("%x: %v, want %v", raw, got, want)
	}
}
