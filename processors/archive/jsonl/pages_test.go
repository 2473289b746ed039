package jsonl

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"go.uber.org/goleak"
	"pgregory.net/rapid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type fataler interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

func open(t fataler, o Options) *Pages {
	t.Helper()
	p, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func must(t fataler, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// kill drops the writer as the end of its process would: what is buffered is
// gone, what was handed to the kernel stays.
func kill(p *Pages) {
	if p.file != nil {
		p.file.Close()
	}
}

// content decodes all files of a directory in order.
func content(t fataler, dir string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "pages-*"))
	must(t, err)
	slices.Sort(names)
	var lines []string
	for _, name := range names {
		b, err := os.ReadFile(name)
		must(t, err)
		lines = append(lines, decode(t, name, b)...)
	}
	return lines
}

func decode(t fataler, name string, b []byte) []string {
	t.Helper()
	if len(b) == 0 {
		return nil
	}
	switch filepath.Ext(name) {
	case ".gz":
		r, err := gzip.NewReader(bytes.NewReader(b))
		must(t, err)
		b, err = io.ReadAll(r)
		must(t, err)
	case ".zst":
		r, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
		must(t, err)
		defer r.Close()
		b, err = r.DecodeAll(b, nil)
		must(t, err)
	}
	s, ok := strings.CutSuffix(string(b), "\n")
	if !ok {
		t.Fatalf("%s does not end with a newline: %q", name, b[max(0, len(b)-50):])
	}
	return strings.Split(s, "\n")
}

func rec(partition int32, offset int64) string {
	return fmt.Sprintf(`{"partition":%d,"offset":%d}`, partition, offset)
}

// Whatever is appended, flushed, closed and killed in whatever order, the
// files hold each record once and in order, as the consumer replays from the
// offsets it is told.
func TestExactlyOnce(t *testing.T) {
	for _, c := range []Compression{None, Gzip, Zstd} {
		t.Run(string(c), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				dir, err := os.MkdirTemp("", "output-")
				must(t, err)
				defer os.RemoveAll(dir)
				o := Options{Dir: dir, Compression: c, MaxBytes: rapid.Int64Range(1, 400).Draw(t, "max bytes")}
				p := open(t, o)
				next := map[int32]int64{}
				var want []string    // appended
				var recorded int     // of them recorded
				var begin = func() { // a new process
					want = want[:recorded]
					p = open(t, o)
					next = p.Offsets()
				}
				for range rapid.IntRange(1, 40).Draw(t, "steps") {
					switch action := rapid.IntRange(0, 9).Draw(t, "action"); action {
					default:
						partition := rapid.Int32Range(0, 2).Draw(t, "partition")
						next[partition] += rapid.Int64Range(0, 1).Draw(t, "gap")
						r := rec(partition, next[partition])
						must(t, p.Append(partition, next[partition], []byte(r)))
						want = append(want, r)
						next[partition]++
						if p.Offsets()[partition] == next[partition] { // rotated
							recorded = len(want)
						}
					case 6: // delivered again
						partition := rapid.Int32Range(0, 2).Draw(t, "partition")
						if next[partition] > 0 {
							must(t, p.Append(partition, next[partition]-1, []byte(`"again"`)))
						}
					case 7:
						must(t, p.Flush())
						recorded = len(want)
						if !maps.Equal(p.Offsets(), next) {
							t.Fatalf("flushed offsets %v, appended %v", p.Offsets(), next)
						}
					case 8:
						must(t, p.Close())
						recorded = len(want)
						begin()
					case 9:
						kill(p)
						if name := p.name(); p.file != nil && rapid.Bool().Draw(t, "torn") {
							f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
							must(t, err)
							_, err = f.WriteString(`{"torn":`)
							must(t, errors.Join(err, f.Close()))
						}
						begin()
					}
				}
				must(t, p.Close())
				if got := content(t, dir); !slices.Equal(got, want) {
					t.Fatalf("files hold\n%q\nwant\n%q", got, want)
				}
			})
		})
	}
}

// The kill comes after the next file was begun and before it was recorded.
func TestUnrecordedFileIsDeleted(t *testing.T) {
	dir := t.TempDir()
	o := Options{Dir: dir, MaxBytes: frameBuffer, Compression: None}
	p := open(t, o)
	big := []byte(`"` + strings.Repeat("x", frameBuffer) + `"`)
	must(t, p.Append(0, 0, big)) // fills file 1, which is recorded
	must(t, p.Append(0, 1, []byte("1")))
	kill(p)
	if names, _ := filepath.Glob(filepath.Join(dir, "pages-*")); len(names) != 2 {
		t.Fatalf("files before the restart: %q", names)
	}
	p = open(t, o)
	if got := p.Offsets()[0]; got != 1 {
		t.Fatalf("offset %d, want 1", got)
	}
	must(t, p.Append(0, 1, []byte("1")))
	must(t, p.Close())
	if got := content(t, dir); !slices.Equal(got, []string{string(big), "1"}) {
		t.Errorf("%d lines", len(got))
	}
	if b, err := os.ReadFile(filepath.Join(dir, "pages-000002.jsonl")); err != nil || string(b) != "1\n" {
		t.Errorf("the second file holds %q, %v", b, err)
	}
}

func TestSingleFile(t *testing.T) {
	o := Options{File: filepath.Join(t.TempDir(), "out.jsonl"), Sync: true}
	p := open(t, o)
	must(t, p.Append(3, 10, []byte("1")))
	must(t, p.Flush())
	must(t, p.Append(3, 11, []byte("2")))
	must(t, p.out.end()) // in the file, but not recorded
	kill(p)
	p = open(t, o)
	if got := p.Offsets(); !maps.Equal(got, map[int32]int64{3: 11}) {
		t.Errorf("offsets %v", got)
	}
	must(t, p.Append(3, 11, []byte("two")))
	must(t, p.Close())
	if b, _ := os.ReadFile(o.File); string(b) != "1\ntwo\n" {
		t.Errorf("file %q", b)
	}
	o.Compression = Zstd
	if _, err := Open(o); err == nil {
		t.Error("another compression was accepted for a file that has content")
	}
}

func TestStream(t *testing.T) {
	var out bytes.Buffer
	o := Options{Stream: &out, StateFile: filepath.Join(t.TempDir(), "stream.state")}
	p := open(t, o)
	must(t, p.Append(0, 0, []byte("1")))
	must(t, p.Flush())
	must(t, p.Append(0, 1, []byte("2")))
	p = open(t, o)
	must(t, p.Append(0, 1, []byte("2")))
	must(t, p.Close())
	if out.String() != "1\n2\n" {
		t.Errorf("stream %q", out.String())
	}
}

func TestCompressionMayChangeBetweenFiles(t *testing.T) {
	dir := t.TempDir()
	var want []string
	for i, c := range []Compression{None, Gzip, Zstd, Zstd, None} {
		p := open(t, Options{Dir: dir, Compression: c})
		if got := p.Offsets()[0]; got != int64(i) {
			t.Fatalf("offset %d, want %d", got, i)
		}
		must(t, p.Append(0, int64(i), []byte(rec(0, int64(i)))))
		want = append(want, rec(0, int64(i)))
		must(t, p.Close())
	}
	if got := content(t, dir); !slices.Equal(got, want) {
		t.Errorf("files hold %q", got)
	}
}

func TestRewind(t *testing.T) {
	dir := t.TempDir()
	p := open(t, Options{Dir: dir})
	for i := range int64(3) {
		must(t, p.Append(0, i, []byte(rec(0, i))))
	}
	must(t, p.Rewind(0, 2))
	kill(p)
	p = open(t, Options{Dir: dir})
	if p.Offsets()[0] != 2 {
		t.Fatalf("offsets %v", p.Offsets())
	}
	must(t, p.Append(0, 2, []byte(`"other"`)))
	if err := p.Rewind(0, 3); err == nil {
		t.Error("rewound to where it is")
	}
	must(t, p.Close())
	if got := content(t, dir); !slices.Equal(got, []string{rec(0, 0), rec(0, 1), rec(0, 2), `"other"`}) {
		t.Errorf("files hold %q", got)
	}
}

func TestOpenRefuses(t *testing.T) {
	tests := []struct {
		name   string
		damage func(t *testing.T, dir string)
		topic  string
		want   error
	}{
		{"lost state", func(t *testing.T, dir string) { must(t, os.Remove(filepath.Join(dir, "pages.state"))) }, "a", ErrNoState},
		{"torn state", func(t *testing.T, dir string) { must(t, os.Truncate(filepath.Join(dir, "pages.state"), 20)) }, "a", ErrDamaged},
		{"changed state", func(t *testing.T, dir string) {
			name := filepath.Join(dir, "pages.state")
			b, err := os.ReadFile(name)
			must(t, err)
			must(t, os.WriteFile(name, bytes.Replace(b, []byte(`"0":1`), []byte(`"0":7`), 1), 0o644))
		}, "a", ErrDamaged},
		{"short file", func(t *testing.T, dir string) { must(t, os.Truncate(filepath.Join(dir, "pages-000001.jsonl"), 3)) }, "a", ErrDamaged},
		{"lost file", func(t *testing.T, dir string) { must(t, os.Remove(filepath.Join(dir, "pages-000001.jsonl"))) }, "a", ErrDamaged},
		{"other topic", func(*testing.T, string) {}, "b", ErrOtherTopic},
		{"nothing is wrong", func(*testing.T, string) {}, "a", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			p := open(t, Options{Dir: dir, Topic: "a"})
			must(t, p.Append(0, 0, []byte(`"record"`)))
			must(t, p.Close())
			tt.damage(t, dir)
			p, err := Open(Options{Dir: dir, Topic: tt.topic})
			if !errors.Is(err, tt.want) || tt.want == nil && err != nil {
				t.Fatalf("error %v, want %v", err, tt.want)
			}
			if err == nil {
				must(t, p.Close())
			}
		})
	}
	foreign := filepath.Join(t.TempDir(), "notes.txt")
	must(t, os.WriteFile(foreign, []byte("mine"), 0o644))
	nowhere := filepath.Join(t.TempDir(), "nowhere", "pages.jsonl")
	if _, err := Open(Options{File: nowhere}); !errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrDamaged) {
		t.Errorf("a file in a folder that is not there: %v", err)
	}
	if _, err := Open(Options{File: foreign}); !errors.Is(err, ErrNoState) {
		t.Errorf("a file of somebody else's: %v", err)
	}
}

// failing accepts n bytes.
type failing struct{ n int }

var errFull = errors.New("no space left")

func (f *failing) Write(p []byte) (int, error) {
	if len(p) > f.n {
		return f.n, errFull
	}
	f.n -= len(p)
	return len(p), nil
}

func TestWriteErrorIsFinal(t *testing.T) {
	p := open(t, Options{Stream: &failing{10}})
	must(t, p.Append(0, 0, []byte("1234")))
	must(t, p.Flush())
	must(t, p.Append(0, 1, []byte("123456789")))
	for name, err := range map[string]error{"flush": p.Flush(), "append": p.Append(0, 2, []byte("1")), "flush again": p.Flush()} {
		if !errors.Is(err, errFull) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := p.Offsets()[0]; got != 1 {
		t.Errorf("recorded offset %d, want 1", got)
	}
}

func TestAppendRefusesNewline(t *testing.T) {
	p := open(t, Options{Stream: io.Discard})
	if err := p.Append(0, 0, []byte("{\n}")); err == nil {
		t.Error("a record of two lines was accepted")
	}
	must(t, p.Append(0, 0, []byte("{}")))
	must(t, p.Close())
	if err := p.Append(0, 1, []byte("{}")); err == nil {
		t.Error("append after close was accepted")
	}
}

func TestValidate(t *testing.T) {
	for name, o := range map[string]Options{
		"no target":   {},
		"two targets": {Dir: "a", File: "b"},
		"compression": {Dir: "a", Compression: "lzma"},
		"size":        {Dir: "a", MaxBytes: -1},
	} {
		if o.Validate() == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func BenchmarkAppend(b *testing.B) {
	line := []byte(`{"text":"` + strings.Repeat("the quick brown fox jumps over ", 300) + `"}`)
	for _, c := range []Compression{None, Gzip, Zstd} {
		b.Run(string(c), func(b *testing.B) {
			p := open(b, Options{Dir: b.TempDir(), Compression: c})
			b.SetBytes(int64(len(line)))
			b.ReportAllocs()
			var i int64
			for b.Loop() {
				if err := p.Append(0, i, line); err != nil {
					b.Fatal(err)
				}
				if i++; i%1000 == 0 {
					if err := p.Flush(); err != nil {
						b.Fatal(err)
					}
				}
			}
			must(b, p.Close())
		})
	}
}
