package accesslog_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/inspect/verify/accesslog"
)

var update = flag.Bool("update", false, "rewrite testdata")

// TestFormats reads a log of each format, which also has bad lines, and compares the result with a
// golden file.
func TestFormats(t *testing.T) {
	for _, name := range accesslog.Names() {
		t.Run(name, func(t *testing.T) {
			f, err := accesslog.Named(name)
			if err != nil {
				t.Fatal(err)
			}
			var got bytes.Buffer
			bad, err := accesslog.ReadFile("testdata/"+name+".log", f, func(line int, e accesslog.Entry) {
				fmt.Fprintf(&got, "%d %+v\n", line, e)
			})
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&got, "%d bad lines, the first is line %d: %v\n", bad.Count, bad.Line, bad.Err)
			golden := "testdata/" + name + ".golden"
			if *update {
				if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got.Bytes(), want) {
				t.Errorf("%s differs (-update rewrites it); now:\n%s", golden, &got)
			}
		})
	}
}

func TestUnknownFormatNamesTheKnownOnes(t *testing.T) {
	if _, err := accesslog.Named("iis"); err == nil || !strings.Contains(err.Error(), "nginx-msec") {
		t.Errorf("%v", err)
	}
}

func TestLastLineMayBeUnfinished(t *testing.T) {
	f, err := accesslog.Named("weft")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	bad, err := accesslog.Read(strings.NewReader("1 2 a.test 200 / weft\n3 4 a.te"), f, func(int, accesslog.Entry) { n++ })
	if err != nil || n != 1 || bad.Count != 0 {
		t.Errorf("%d entries, %+v, %v", n, bad, err)
	}
	if _, err := accesslog.Read(strings.NewReader(strings.Repeat("x", 2<<20)), f, func(int, accesslog.Entry) {}); err == nil {
		t.Error("a line without an end is read")
	}
}

// FuzzParse checks that no line makes a parser panic, and that a parsed URL can be requested.
func FuzzParse(f *testing.F) {
	for _, name := range accesslog.Names() {
		raw, err := os.ReadFile("testdata/" + name + ".log")
		if err != nil {
			f.Fatal(err)
		}
		for line := range strings.Lines(string(raw)) {
			f.Add(line)
		}
	}
	f.Fuzz(func(t *testing.T, line string) {
		for _, name := range accesslog.Names() {
			format, err := accesslog.Named(name)
			if err != nil {
				t.Fatal(err)
			}
			if e, err := format.Parse(line); err == nil && !format.Durations && e.Start != e.End {
				t.Errorf("%s: %+v has a duration", name, e)
			}
		}
	})
}
