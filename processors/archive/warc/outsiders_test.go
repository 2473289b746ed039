package warc

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/weftcrawl/weft/test/child"
)

// warcio finds nothing wrong in files of exchanges and of metadata, and the index by
// cdxj-indexer is ours.
func TestOutsidersAgree(t *testing.T) {
	programs := filepath.Dir(child.Program(t, "warc-readers/bin/warcio"))
	coded := exchange(50, "not looked at")
	coded.CodedBody = storedGzip([]byte("as it came"))
	exchanges := all()
	exchanges[4].Headers = nil // as in its head
	file, ours := write(t, Options{}, append(exchanges, coded, exchange(51, "a page"), exchange(52, "a page"))...)

	p, err := NewPacker(Options{})
	must(t, err)
	var text bytes.Buffer
	f := NewFile(&text, p)
	must(t, f.AddMetadata(Metadata{ID: "page-51", URL: "http://example.com/dir/51?q=a%20b", Date: time.UnixMilli(1_790_000_000_174), JSON: []byte(`{"title":"ü"}`)}))
	metadata := append(head(1).Member(Gzip), text.Bytes()...)

	for _, file := range [][]byte{file, metadata} {
		out, err := exec.Command(filepath.Join(programs, "warcio"), "check", "-v", stored(t, file, ".warc.gz")).CombinedOutput()
		if err != nil || !strings.Contains(string(out), "digest pass") {
			t.Errorf("%v: %s", err, out)
		}
	}
	out, err := exec.Command(filepath.Join(programs, "cdxj-indexer"), "--sort", stored(t, file, ".warc.gz")).Output()
	must(t, err)
	var theirs []Line
	for _, l := range ours {
		theirs = append(theirs, slices.DeleteFunc(Lines(out, l.URL), func(other Line) bool { return other.Offset != l.Offset })...)
	}
	if diff := cmp.Diff(ours, theirs, cmpopts.IgnoreFields(Line{}, "File"), cmpopts.IgnoreUnexported(Entry{})); diff != "" || strings.Count(string(out), "\n") != len(ours) {
		t.Errorf("the index of cdxj-indexer (-ours +theirs):\n%s\n%s", diff, out)
	}
	out, err = exec.Command(filepath.Join(programs, "cdxj-indexer"), stored(t, metadata, ".warc.gz")).Output()
	if err != nil || len(out) > 0 {
		t.Errorf("the index of metadata: %v, %s", err, out)
	}
}

// A file in which records were erased and others have moved is right for warcio, and cdxj-indexer finds
// what is left, at the places of before.
func TestOutsidersReadTombstones(t *testing.T) {
	programs := filepath.Dir(child.Program(t, "warc-readers/bin/warcio"))
	file, ours := write(t, Options{}, exchange(1, "a page"), exchange(2, strings.Repeat("erased ", 30_000)), exchange(3, "a page"), exchange(4, "left"), exchange(5, "a page"))
	name := ours[0].File
	var members []Member
	for m, err := range Members(bytes.NewReader(file)) {
		must(t, err)
		members = append(members, m)
	}
	_, payload := members[1].Message()
	moved := members[5].Response(payload)
	for _, r := range []Record{moved, members[9].Referring(moved)} {
		member, err := Pack(name, r)
		must(t, err)
		ours = append(ours, Line{Entry: Entry{Offset: int64(len(file)), Length: int64(len(member))}})
		file = append(file, member...)
	}
	for _, m := range []int{1, 2, 3, 4, 5, 9} { // two exchanges, and the revisits that move
		grave, err := Tombstone(name, members[m].Offset, members[m].Length, erasure, when)
		must(t, err)
		copy(file[members[m].Offset:], grave)
	}
	out, err := exec.Command(filepath.Join(programs, "warcio"), "check", "-v", stored(t, file, ".warc.gz")).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "digest pass") {
		t.Errorf("%v: %s", err, out)
	}
	out, err = exec.Command(filepath.Join(programs, "cdxj-indexer"), stored(t, file, ".warc.gz")).Output()
	must(t, err)
	var got [][2]int64
	for l := range AllLines(out) {
		got = append(got, [2]int64{l.Offset, l.Length})
	}
	want := [][2]int64{{ours[3].Offset, ours[3].Length}, {ours[5].Offset, ours[5].Length}, {ours[6].Offset, ours[6].Length}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s\n%s", diff, out)
	}
}
