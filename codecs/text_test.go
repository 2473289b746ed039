package codecs_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs"
	"github.com/weftcrawl/weft/codecs/weftpb"
)

func encode(t testing.TB, m proto.Message) []byte {
	t.Helper()
	value, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

func TestAppendTextGolden(t *testing.T) {
	target := &weftpb.Target{Url: "https://a.example/x", Depth: 2, Via: weftpb.Via_VIA_LINK}
	visit := &weftpb.Scheduled{
		Gauges: &weftpb.Gauges{Pending: 3, Queued: 1, Out: 2, Domains: 1, DomainsOut: 1}, Oldest: 12,
		Released: []*weftpb.Visit{{Id: "v1", DelayMs: 1000, Requests: []*weftpb.Request{{Target: target, Priority: 1}}}},
	}
	position := []*weftpb.Position{{Topic: "weft.visited", Offset: 7}}
	records := []codecs.LogRecord{
		{Topic: "config", Value: []byte("{\n  \"version\": 1\n}\n")},
		{Topic: "seeds", Value: []byte("https://a.example/\n{\"url\":\"b\"}\n")},
		{Topic: "discovered", Key: []byte("a.example"), Value: encode(t, &weftpb.Discovered{
			Source: "https://a.example/", Via: weftpb.Via_VIA_REDIRECT, Links: []*weftpb.Link{{Url: "../<x>", Text: "é \"quoted\""}},
		})},
		{Topic: "normalized", Key: []byte("a.example"), Value: encode(t, &weftpb.Normalized{Targets: []*weftpb.Target{target}})},
		{Topic: "deduped", Key: []byte("a.example"), Value: encode(t, &weftpb.Event{
			Epoch: 4, Positions: position, Body: encode(t, &weftpb.Deduped{Targets: []*weftpb.Target{target}}),
		})},
		{Topic: "scheduled", Key: []byte("a.example"), Value: encode(t, &weftpb.Event{Epoch: 4, Body: encode(t, visit)})},
		{Topic: "scheduled", Value: encode(t, &weftpb.Event{Claim: &weftpb.Claim{Owner: "host/1"}})},
		{Topic: "scheduled", Value: encode(t, &weftpb.Event{Body: encode(t, visit)})},
		{Topic: "scheduled", Value: encode(t, &weftpb.Event{Epoch: 4, Body: []byte{0xff}})},
		{Topic: "fetched", Key: []byte("a.example"), Value: encode(t, &weftpb.Fetched{Id: "p1", Body: []byte("<p>")})},
		{Topic: "visited", Key: []byte("a.example"), Value: encode(t, &weftpb.Visited{Visit: "v1", Outcomes: []*weftpb.Outcome{{Status: 200, TotalUs: 1500}}, Done: true})},
		{Topic: "parsed", Key: []byte("https://a.example/"), Value: []byte(`{"id":"p1","title":"a\nb"}`)},
		{Topic: "parsed", Key: []byte("https://a.example/"), Value: []byte(`{"id":"p1"}`), Headers: []codecs.Header{
			{Name: "schema", Value: []byte("weft.parsed/1")}, {Name: "page-id", Value: []byte("p1")},
		}},
		{Topic: "seeds", Value: []byte("https://a.example/"), Headers: []codecs.Header{{Name: "é\"\xff", Value: []byte{0xff}}, {Name: "none"}, {Name: "empty", Value: []byte{}}}},
		{Topic: "rejected", Key: []byte{0xff}, Value: encode(t, &weftpb.Rejected{Stage: "parse", Reason: "undecodable", Value: []byte{0xff}})},
		{Topic: "visited", Key: []byte(""), Value: []byte("not protobuf")},
		{Topic: "parsed", Value: []byte("not JSON")},
		{Topic: "parsed", Value: nil},
		{Topic: "seeds", Value: []byte{0xff}},
		{Topic: "unheard-of", Value: []byte("x")},
	}
	var got []byte
	for i, r := range records {
		r.Partition, r.Offset, r.Timestamp = 3, int64(i), time.UnixMilli(1_790_000_000_123)
		line := codecs.AppendText(nil, r)
		if !json.Valid(line) || bytes.ContainsAny(line, "\r\n") {
			t.Errorf("not a line of JSON: %s", line)
		}
		got = append(append(got, line...), '\n')
	}
	path := filepath.Join("testdata", "text.golden")
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func FuzzAppendText(f *testing.F) {
	topics := []string{"config", "seeds", "discovered", "normalized", "deduped", "scheduled", "fetched", "visited", "parsed", "rejected", "x"}
	for i := range topics {
		f.Add(uint8(i), []byte("key"), encode(f, &weftpb.Event{Epoch: 1, Body: encode(f, &weftpb.Deduped{Targets: []*weftpb.Target{{Url: "u"}}})}))
	}
	f.Fuzz(func(t *testing.T, topic uint8, key, value []byte) {
		line := codecs.AppendText([]byte("before "), codecs.LogRecord{Topic: topics[int(topic)%len(topics)], Key: key, Value: value})
		line, ok := bytes.CutPrefix(line, []byte("before "))
		if !ok || !json.Valid(line) || bytes.ContainsAny(line, "\r\n") {
			t.Errorf("not a line of JSON: %q", line)
		}
	})
}

func TestEncodeRejectedFitsItsTopic(t *testing.T) {
	big := bytes.Repeat([]byte{0xff}, 20<<20)
	in := &weftpb.Rejected{
		Stage: "parse", Topic: "weft.fetched", Partition: 1, Offset: 2, Reason: "not \xff text", Key: big, Value: big, AtMs: 3,
	}
	value := codecs.EncodeRejected(in)
	if len(value) > 16<<20-codecs.RejectedKeyBytes-1024 { // beside the record's own key
		t.Errorf("%d bytes", len(value))
	}
	var out weftpb.Rejected
	if err := proto.Unmarshal(value, &out); err != nil {
		t.Fatal(err)
	}
	want := &weftpb.Rejected{
		Stage: "parse", Topic: "weft.fetched", Partition: 1, Offset: 2, Reason: "not \ufffd text",
		Key: big[:codecs.RejectedKeyBytes], Value: big[:codecs.RejectedValueBytes], AtMs: 3, ValueBytes: 20 << 20,
	}
	if !proto.Equal(&out, want) {
		t.Errorf("stage %q topic %q at %d/%d reason %q, %d and %d bytes", out.Stage, out.Topic, out.Partition, out.Offset, out.Reason, len(out.Key), len(out.Value))
	}
	if len(in.Value) != len(big) {
		t.Error("the argument was changed")
	}
	if codecs.Whole(&out) {
		t.Error("a record that was cut is whole")
	}
}

func TestRejectedRecordComesBackWhole(t *testing.T) {
	in := &weftpb.Rejected{Stage: "parse", Topic: "weft.fetched", Offset: 2, Key: []byte("example.com"), Value: make([]byte, 11<<20)}
	out, err := codecs.DecodeRejected(codecs.EncodeRejected(in))
	if err != nil || !codecs.Whole(out) || !bytes.Equal(out.Value, in.Value) || !bytes.Equal(out.Key, in.Key) {
		t.Errorf("%d of %d bytes came back, %v", len(out.GetValue()), len(in.Value), err)
	}
	if _, err := codecs.DecodeRejected([]byte{0xff}); err == nil {
		t.Error("nonsense is decoded")
	}
}
