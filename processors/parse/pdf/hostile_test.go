package pdf

import (
	"bytes"
	"compress/flate"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"hash/adler32"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weftcrawl/weft/processors/parse/extract"
)

// build makes a PDF of objects. The first one is the catalog.
func build(objects ...string) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.7\n")
	offsets := make([]int, len(objects))
	for i, o := range objects {
		offsets[i] = b.Len()
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	at := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, o := range offsets {
		fmt.Fprintf(&b, "%010d 00000 n \n", o)
	}
	fmt.Fprintf(&b, "trailer\n<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, at)
	return b.Bytes()
}

const (
	catalog = "<</Type/Catalog/Pages 2 0 R>>"
	onePage = "<</Type/Pages/Kids[3 0 R]/Count 1>>"
	page    = "<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>/XObject<</X 6 0 R>>>>>>"
	font    = "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"
	shown   = "BT /F 12 Tf 50 700 Td (shown) Tj ET\n"
)

func stream(dict, data string) string {
	return fmt.Sprintf("<<%s/Length %d>>\nstream\n%s\nendstream", dict, len(data), data)
}

// packed is a stream of head and of a text that is repeated until it has so many bytes. What is
// repeated is compressed once: under the race detector, 128 MB would take 20 s.
func packed(dict, head, repeated string, size int) string {
	var beginning, block bytes.Buffer
	w := zlib.NewWriter(&beginning) // with its two bytes in front
	_, _ = w.Write([]byte(head))
	_ = w.Flush()
	text := strings.Repeat(repeated, 1<<20/len(repeated))
	f, _ := flate.NewWriter(&block, flate.DefaultCompression)
	_, _ = f.Write([]byte(text))
	_ = f.Flush()
	sum := adler32.New()
	_, _ = io.WriteString(sum, head+strings.Repeat(text, size/len(text)))
	const end = "\x01\x00\x00\xff\xff" // an empty block, the last one (RFC 1951, 3.2.4)
	return stream(dict+"/Filter/FlateDecode", beginning.String()+strings.Repeat(block.String(), size/len(text))+end+string(sum.Sum(nil)))
}

// Each hostile file has an outcome with a name, within its bounds, and the file after it is read.
func TestHostileFiles(t *testing.T) {
	report := load(t, "report.pdf")
	form := "/Type/XObject/Subtype/Form/BBox[0 0 600 800]/Resources<</Font<</F 5 0 R>>/XObject<</X 6 0 R>>>>"
	for _, c := range []struct {
		name    string
		body    []byte
		outcome extract.Outcome
		text    string
	}{
		{"plain", build(catalog, onePage, page, stream("", shown), font), extract.Whole, "shown"},
		{"encrypted", load(t, "encrypted.pdf"), extract.Encrypted, ""},
		{"protected without a password", load(t, "protected.pdf"), extract.Whole, "Warp and weft"},
		{"truncated within its table of objects", report[:len(report)-300], extract.Damaged, "Warp and weft"},
		{"truncated in front of its page tree", report[:2000], extract.Damaged, ""},
		{"only a header", []byte("%PDF-1.7"), extract.Damaged, ""},
		{"HTML", []byte("<html>%PDF-</html>"), extract.Damaged, ""},
		{"empty", nil, extract.Damaged, ""},
		{"no pages", build(catalog, "<</Type/Pages/Kids[]/Count 0>>"), extract.Whole, ""},
		{"page tree in a circle", build(catalog, "<</Type/Pages/Kids[2 0 R 2 0 R]/Count 2>>"), extract.Damaged, ""},
		{"page that is none", build(catalog, "<</Type/Pages/Kids[3 0 R 4 0 R]/Count 2>>", strings.Replace(page, "4 0 R", "6 0 R", 1), "(x)", font, stream("", shown)), extract.Damaged, "shown"},
		{"more pages than are read", build(catalog, "<</Type/Pages/Kids["+strings.Repeat("3 0 R ", 20)+"]/Count 20>>", page, stream("", shown), font), extract.TooCostly, "shown\fshown"},
		{"form that shows itself", build(catalog, onePage, page, stream("", shown+"/X Do"), font, stream(form, "/X Do /X Do")), extract.TooCostly, ""},
		{"deep arrays", build(catalog, onePage, page, stream("", shown+strings.Repeat("[", 1<<20)), font), extract.Whole, "shown"},
		{"content that unpacks to more than the memory", build(catalog, onePage, page, packed("", shown, "1 0 0 1 0 0 cm\n", 128<<20), font), extract.TooCostly, ""},
		{"a million words", build(catalog, onePage, page, packed("", shown, "BT /F 12 Tf 50 600 Td (wordsworth) Tj ET\n", 40<<20), font), extract.TooCostly, ""},
	} {
		began := time.Now()
		got := read(t, shared, c.body)
		if got.Outcome != c.outcome || !strings.HasPrefix(got.Text, c.text) || c.text == "" && got.Text != "" {
			t.Errorf("%s: outcome %q, want %q; text %.80q, want %q; %v", c.name, got.Outcome, c.outcome, got.Text, c.text, time.Since(began))
		}
		if after := read(t, shared, build(catalog, onePage, page, stream("", shown), font)); after.Text != "shown" {
			t.Errorf("after %s: %q, outcome %q", c.name, after.Text, after.Outcome)
		}
	}
}

// Files are read beside each other, each in an instance of its own, and a Reader that is told to
// stop does.
func TestManyAtOnce(t *testing.T) {
	var files sync.WaitGroup
	body := load(t, "talk.pdf")
	for range 4 {
		files.Go(func() {
			if d := read(t, shared, body); !strings.HasPrefix(d.Text, "What a loom does") || d.Pages != 2 {
				t.Errorf("%q, %d pages", d.Text, d.Pages)
			}
		})
	}
	files.Wait()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := shared.Read(ctx, body); !errors.Is(err, context.Canceled) {
		t.Errorf("read after the end: %v", err)
	}
}

// A file that takes too long ends with what was read of it until then.
func TestTimeIsBounded(t *testing.T) {
	read(t, shared, load(t, "talk.pdf"))
	o := options()
	o.MaxTime = 1
	hurried := &Reader{opts: o}
	hurried.engine.engine = shared.engine.engine
	if got := read(t, hurried, load(t, "report.pdf")); got.Outcome != extract.TooCostly {
		t.Errorf("outcome %q", got.Outcome)
	}
}

// Time that other work has the cores does not count, and the time of the file does.
func TestCPUTimeCounts(t *testing.T) {
	const most = 200 * time.Millisecond
	limited, end := timed(t.Context(), most)
	defer end()
	clock := threadTime()
	begun, ok := clock()
	if !ok {
		t.Fatal("the clock cannot be read")
	}
	for limited.Err() == nil { // work
	}
	if errors.Is(limited.Err(), context.DeadlineExceeded) {
		t.Skip("this goroutine had an eighth of a core or less")
	}
	if now, _ := clock(); now-begun < most*9/10 {
		t.Errorf("it ended after %v of CPU time", now-begun)
	}
}
