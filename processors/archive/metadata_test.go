package archive

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/weftcrawl/weft/codecs"
	"github.com/weftcrawl/weft/internal/blob"
	"github.com/weftcrawl/weft/processors/archive/warc"
)

// pageOf is the record of parsed of exchange n.
func pageOf(n int) codecs.Parsed {
	x := exchange(n)
	return codecs.Parsed{
		ID: x.Id, URL: x.Request.Target.Url, Domain: "k.example", Status: 200, FetchedAt: time.UnixMilli(x.Outcome.StartedMs).UTC(),
		Title: fmt.Sprint("Page ", n), Language: "en", ContentHash: strings.Repeat("0a", 16), Text: "not in the metadata",
		Links: []codecs.ParsedLink{{URL: "http://k.example/next", Text: "next"}}, Archived: &codecs.ParsedArchived{Offset: int64(n)},
	}
}

func (b bench) parse(from, to int) {
	for n := from; n < to; n++ {
		b.Write(b.Names.Parsed, string(pageOf(n).AppendJSON(nil)))
	}
}

// members are the records of a file behind its head.
func members(t *testing.T, file string) (all []warc.Record) {
	t.Helper()
	for rest := file; rest != ""; {
		end := strings.Index(rest[1:], "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff") + 1
		if end == 0 {
			end = len(rest)
		}
		record, err := warc.ReadMember([]byte(rest[:end]))
		if err != nil {
			t.Fatal(err)
		}
		all, rest = append(all, record), rest[end:]
	}
	return all[1:]
}

// Each page has one metadata record, in files of their own, which refers to its response; and the
// record of parsed names the file of the response.
func TestMetadata(t *testing.T) {
	b := newBench(t, t.TempDir())
	o := b.options(b.bucket)
	o.Parsed = kadm.TopicID{2}
	b.fill(0, 5)
	b.parse(0, 3)
	b.Write(b.Names.Parsed, "not a page")
	b.finishBoth(o, 5, 4)
	b.parse(3, 5)
	b.finishBoth(o, 5, 6)
	if b.Counts.Reasons["archive undecodable"] != 1 {
		t.Errorf("counted: %v", b.Counts.Reasons)
	}
	objects := b.objects()
	responses, files := map[string]string{}, map[string]string{} // id of the response and its file, by URL
	var metadata []warc.Record
	next := int64(0)
	for _, name := range slices.Sorted(maps.Keys(objects)) {
		switch {
		case strings.Contains(name, metadataPart):
			metadata = append(metadata, members(t, objects[name])...)
			head, ok := warc.ReadHead([]byte(objects[name]))
			if !ok || head.First != next || head.Name != name || !strings.HasPrefix(name, Prefix("test", kadm.TopicID{2}, 0)) {
				t.Errorf("%s: %+v, want the first offset %d", name, head, next)
			}
			next = head.Next
		case !strings.HasSuffix(name, IndexExtension):
			for _, r := range members(t, objects[name]) {
				if r.Field("WARC-Type") == "response" {
					responses[r.Field("WARC-Target-URI")], files[r.Field("WARC-Target-URI")] = r.Field("WARC-Record-ID"), name
				}
			}
		}
	}
	if next != 6 || len(metadata) != 5 || len(responses) != 5 {
		t.Fatalf("%d metadata records, to offset %d, and %d responses in %q", len(metadata), next, len(responses), slices.Sorted(maps.Keys(objects)))
	}
	for n, r := range metadata {
		want := pageOf(n)
		var got codecs.Parsed
		block, ok := strings.CutPrefix(string(r.Block), warc.ParsedField+": ")
		if err := json.Unmarshal([]byte(block), &got); err != nil || !ok {
			t.Fatal(err)
		}
		if r.Field("WARC-Type") != "metadata" || r.Field("WARC-Refers-To") != responses[want.URL] || r.Field("WARC-Target-URI") != want.URL {
			t.Errorf("record %d refers to %s, want %s", n, r.Field("WARC-Refers-To"), responses[want.URL])
		}
		if got.Title != want.Title || got.Language != "en" || got.ContentHash != want.ContentHash || len(got.Links) != 1 || got.Text != "" {
			t.Errorf("record %d: %+v", n, got)
		}
		first := "" // the file of the partition with the largest first offset that is not above that of the page
		for _, name := range slices.Sorted(maps.Keys(objects)) {
			if strings.HasSuffix(name, ".warc.gz") && name <= fmt.Sprintf("%s%015d.warc.gz", Prefix("test", kadm.TopicID{1}, 0), got.Archived.Offset) {
				first = name
			}
		}
		if first != files[want.URL] {
			t.Errorf("record %d names %s, and the response is in %s", n, first, files[want.URL])
		}
	}
}

// A process that is killed at any operation on the bucket neither loses metadata nor repeats it.
func TestMetadataKilledAtEachStep(t *testing.T) {
	b := newBench(t, t.TempDir())
	b.parse(0, 4)
	o := b.options(b.bucket)
	o.FileBytes = 1000
	b.finishBoth(o, 0, 4)
	want := b.objects()
	if len(want) < 2 {
		t.Fatalf("the objects %q", slices.Sorted(maps.Keys(want)))
	}
	for kill := 1; kill <= 4; kill++ {
		for _, after := range []bool{false, true} {
			b.reset()
			bucket, err := blob.Open(t.Context(), t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			b.bucket = bucket
			died, cancel := context.WithCancel(t.Context())
			m := &mortal{Bucket: bucket, kill: cancel, left: kill, after: after}
			o := o
			o.Bucket = m
			b.diesAt(died, o, func() bool { return b.committedIn(b.Names.Parsed) >= 4 })
			cancel()
			if m.killed == "" {
				t.Fatalf("it was not killed at operation %d", kill)
			}
			o.Bucket = bucket
			b.finishBoth(o, 0, 4)
			if got := b.objects(); !maps.Equal(want, got) {
				t.Errorf("killed at operation %d, %s, after %v: %q", kill, m.killed, after, slices.Sorted(maps.Keys(got)))
			}
		}
	}
}
