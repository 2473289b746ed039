package warc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/weftcrawl/weft/codecs/weftpb"
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
	exchanges = append(exchanges, notModifiedWithFields()...)
	file, ours := write(t, Options{}, append(exchanges, coded, exchange(51, "a page"), exchange(52, "a page"))...)

	p, err := NewPacker(Options{})
	must(t, err)
	var text bytes.Buffer
	f := NewFile(&text, nil, p)
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
		theirs = append(theirs, slices.DeleteFunc(Lines(out, SURT(l.URL)), func(other Line) bool { return other.Offset != l.Offset })...)
	}
	if diff := cmp.Diff(ours, theirs, cmpopts.IgnoreFields(Line{}, "File"), cmpopts.IgnoreUnexported(Entry{})); diff != "" || strings.Count(string(out), "\n") != len(ours) {
		t.Errorf("the index of cdxj-indexer (-ours +theirs):\n%s\n%s", diff, out)
	}
	out, err = exec.Command(filepath.Join(programs, "cdxj-indexer"), stored(t, metadata, ".warc.gz")).Output()
	if err != nil || len(out) > 0 {
		t.Errorf("the index of metadata: %v, %s", err, out)
	}
}

// notModifiedWithFields are responses without a body whose heads say something of a body.
func notModifiedWithFields() []*weftpb.Fetched {
	unchanged, none := exchange(60, ""), exchange(61, "")
	unchanged.Outcome.Status, none.Outcome.Status = 304, 204
	unchanged.Headers, none.Headers = nil, nil
	unchanged.ResponseHead = []byte("HTTP/1.1 304 Not Modified\r\nContent-Encoding: gzip\r\nContent-Length: 1234\r\n\r\n")
	none.ResponseHead = []byte("HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n")
	return []*weftpb.Fetched{unchanged, none}
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

// inJava is a record as a reader in Java has it. jwarc has payloads of responses instead of their blocks.
type inJava struct {
	Offset         int64
	Fields         map[string]string
	Block, Payload []byte
}

// readInJava reads a file with the reader of Heritrix or with jwarc.
func readInJava(t *testing.T, reader string, file []byte, extension string) (records []inJava, err error) {
	t.Helper()
	jars := filepath.Dir(child.Program(t, "warc-readers-java/made-from"))
	cmd := exec.Command("java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx256m", "-cp", filepath.Join(jars, "*"),
		"testdata/Read.java", reader, stored(t, file, extension))
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, complaints.String())
	}
	for line := range bytes.Lines(out) {
		var r inJava
		must(t, json.Unmarshal(line, &r))
		records = append(records, r)
	}
	return records, nil
}

// The reader of Heritrix and jwarc find the records that we do, at the places that the index names, with the
// payloads that were fetched, also where records were erased.
func TestReadersInJavaAgree(t *testing.T) {
	coded := exchange(50, "not looked at")
	coded.CodedBody = storedGzip([]byte("as it came"))
	exchanges := append(append(all(), notModifiedWithFields()...), coded, exchange(51, strings.Repeat("a large page ", 10_000)), exchange(52, "erased"))
	file, index := write(t, Options{}, exchanges...)
	last := index[len(index)-1]
	grave, err := Tombstone(last.File, last.Offset, last.Length, erasure, when)
	must(t, err)
	copy(file[last.Offset:], grave)

	var blocks, payloads []inJava
	for m, err := range Members(bytes.NewReader(file)) {
		must(t, err)
		r := inJava{Offset: m.Offset, Fields: map[string]string{}, Block: m.Block}
		for _, f := range m.Fields() {
			r.Fields[f.Name] = f.Value
		}
		blocks = append(blocks, r)
		if m.Field("WARC-Type") == "response" {
			_, r.Payload = m.Message()
			r.Block = nil
		}
		payloads = append(payloads, r)
	}
	var got []string
	for _, r := range payloads {
		if r.Payload != nil {
			got = append(got, fmt.Sprintf("%d %s", r.Offset, r.Payload))
		}
	}
	served := map[string][]byte{}
	for _, x := range exchanges {
		if x.Robots != nil {
			x = x.Robots
		}
		served[x.Request.Target.Url] = payload(x)
	}
	var want []string
	for _, line := range index[:len(index)-1] {
		if line.MIME != "warc/revisit" {
			want = append(want, fmt.Sprintf("%d %s", line.Offset, served[line.URL]))
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("payloads: %s", diff)
	}

	for reader, want := range map[string][]inJava{"heritrix": blocks, "jwarc": payloads} {
		got, err := readInJava(t, reader, file, ".warc.gz")
		must(t, err)
		if diff := cmp.Diff(want, got, cmp.Comparer(bytes.Equal)); diff != "" || len(got) != 1+2*13+1 {
			t.Errorf("%s finds %d records (-ours +theirs):\n%s", reader, len(got), diff)
		}
	}
}

// The readers in Java notice what is wrong, so it says something that they like our files.
func TestReadersInJavaComplain(t *testing.T) {
	file, _ := write(t, Options{}, all()...)
	changed := strings.Replace(plain(t, file, Gzip), "<p>decoded</p>", "<p>dEcoded</p>", 1)
	if _, err := readInJava(t, "jwarc", []byte(changed), ".warc"); err == nil || !strings.Contains(err.Error(), "payload is not") {
		t.Errorf("a payload was changed: %v", err)
	}
	for _, reader := range []string{"heritrix", "jwarc"} {
		if got, err := readInJava(t, reader, file[:len(file)-20], ".warc.gz"); err == nil {
			t.Errorf("%s reads %d records of a file that is cut", reader, len(got))
		}
	}
}
