package codecs

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
)

// A record of rejected says what was refused, whatever that was; and one that
// anybody wrote is read as protobuf reads it, or refused.
func FuzzRejected(f *testing.F) {
	f.Add("parse", "weft.fetched", "undecodable", []byte("a.example"), []byte{0xff}, EncodeRejected(&weftpb.Rejected{Stage: "fetch", ValueBytes: 3}))
	f.Add("\xff", "a\xc3", "", bytes.Repeat([]byte("k"), RejectedKeyBytes+1), []byte{}, []byte{10, 255})
	f.Fuzz(func(t *testing.T, stage, topic, reason string, key, value, raw []byte) {
		in := &weftpb.Rejected{Stage: stage, Topic: topic, Reason: reason, Key: key, Value: value}
		before := proto.CloneOf(in)
		got, err := DecodeRejected(EncodeRejected(in))
		if err != nil {
			t.Fatalf("what was encoded cannot be read: %v", err)
		}
		text := func(s string) string { return strings.ToValidUTF8(s, "\ufffd") }
		switch {
		case got.Stage != text(stage) || got.Topic != text(topic) || got.Reason != text(reason):
			t.Fatalf("%v becomes %v", in, got)
		case !bytes.Equal(got.Key, key[:min(len(key), RejectedKeyBytes)]) || !bytes.Equal(got.Value, value[:min(len(value), RejectedValueBytes)]):
			t.Fatalf("%v becomes %v", in, got)
		case Whole(got) != (len(value) <= RejectedValueBytes) || got.ValueBytes != int64(len(value)):
			t.Fatalf("%d bytes of %d are whole: %v", len(got.Value), len(value), Whole(got))
		case in.Stage != before.Stage || !bytes.Equal(in.Key, before.Key):
			t.Fatal("the record is changed")
		}
		var plain weftpb.Rejected
		refused := proto.Unmarshal(raw, &plain)
		if r, err := DecodeRejected(raw); (err == nil) != (refused == nil) || err == nil && !proto.Equal(r, &plain) {
			t.Fatalf("read as %v, %v; protobuf: %v, %v", r, err, &plain, refused)
		}
	})
}

// A record of parsed that anybody wrote, as far as encoding/json reads it, is
// written as encoding/json would, and is the same when it is read again.
func FuzzParsed(f *testing.F) {
	f.Add(sampleParsed().AppendJSON(nil))
	f.Add([]byte(`{"id":"1","fetched_at":"9999-12-31T23:59:59.999999999Z","links":null,"duplicate_of":{"distance":-1},"open_graph":[],"json_ld":["\u2028"]}`))
	f.Add([]byte(`{"fetched_at":"0000-01-01T00:00:00+01:00","body_bytes":-1,"ID":"two","id":"one","title":"\ud800"}`))
	f.Fuzz(func(t *testing.T, value []byte) {
		_, _ = DecodeParsedFingerprints(value) // whatever it is, nothing panics
		_, _ = DecodeParsedMetadata(value)
		var p Parsed
		if json.Unmarshal(value, &p) != nil {
			return
		}
		p.FetchedAt = p.FetchedAt.UTC()
		if year := p.FetchedAt.Year(); year < 0 || year > 9999 {
			return
		}
		written := p.AppendJSON(nil)
		if diff := cmp.Diff(string(reflected(t, p)), string(written)); diff != "" {
			t.Fatal(diff)
		}
		var again Parsed
		if err := json.Unmarshal(written, &again); err != nil {
			t.Fatalf("%s cannot be read: %v", written, err)
		}
		if second := again.AppendJSON(nil); !bytes.Equal(written, second) {
			t.Fatalf("%s, read and written again %s", written, second)
		}
		want := ParsedFingerprints{again.ID, again.URL, again.Domain, again.ContentHash, again.SimHash, again.MinHash, again.DuplicateOf}
		if print, err := DecodeParsedFingerprints(written); err != nil || !cmp.Equal(want, print) {
			t.Fatalf("the print of %s is %+v, %v", written, print, err)
		}
	})
}
