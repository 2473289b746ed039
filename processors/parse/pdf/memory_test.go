package pdf

import (
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"

	"github.com/weftcrawl/weft/processors/parse/extract"
)

// resident is the memory of the process, in bytes: now, and at the most since the last call of
// forgetPeak (proc_pid_status(5)).
func resident(tb testing.TB) (now, most int64) {
	tb.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		tb.Skip("only Linux tells it")
	}
	for line := range strings.Lines(string(status)) {
		_, _ = fmt.Sscanf(line, "VmRSS: %d kB", &now)
		_, _ = fmt.Sscanf(line, "VmHWM: %d kB", &most)
	}
	return now << 10, most << 10
}

func forgetPeak(tb testing.TB) {
	tb.Helper()
	debug.FreeOSMemory()
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
		tb.Skipf("the peak cannot be set back: %v", err)
	}
}

// A file takes as much memory as it may, and gives it back. wazero by itself would take 2.5 times
// as much while the memory grows.
func TestMemoryIsBoundedAndGivenBack(t *testing.T) {
	const form = "/Type/XObject/Subtype/Form/BBox[0 0 600 800]/Resources<</Font<</F 5 0 R>>/XObject<</X 6 0 R>>>>"
	hungry := build(catalog, onePage, page, stream("", shown+"/X Do"), font, stream(form, "/X Do /X Do"))
	read(t, shared, load(t, "talk.pdf"))
	forgetPeak(t)
	before, _ := resident(t)
	for range 3 {
		if got := read(t, shared, hungry); got.Outcome != extract.TooCostly {
			t.Errorf("outcome %q", got.Outcome)
		}
	}
	debug.FreeOSMemory()
	after, most := resident(t)
	t.Logf("%d MiB before, %d at the most, %d after", before>>20, most>>20, after>>20)
	limit := int64(shared.opts.MaxMemory)
	if grew := most - before; grew < limit/2 || grew > limit+limit/2 {
		t.Errorf("a file that may take %d MiB took %d MiB", limit>>20, grew>>20)
	}
	if left := after - before; left > 16<<20 {
		t.Errorf("%d MiB are left of files that were read", left>>20)
	}
}

// BenchmarkEngine compiles PDFium. It tells the resident memory that the process has more for good,
// at the most while it compiles, and while it reads a small file.
func BenchmarkEngine(b *testing.B) {
	body := load(b, "talk.pdf")
	for b.Loop() {
		_ = compiled.Close(b.Context())
		compiled = wazero.NewCompilationCache()
		forgetPeak(b)
		before, _ := resident(b)
		e, err := newEngine(b.Context(), MaxMemory)
		if err != nil {
			b.Fatal(err)
		}
		_, compiling := resident(b)
		debug.FreeOSMemory()
		after, _ := resident(b)
		forgetPeak(b)
		r := &Reader{opts: options()}
		r.engine.engine = e
		read(b, r, body)
		_, reading := resident(b)
		for name, n := range map[string]int64{"MB-for-good": after - before, "MB-compiling": compiling - before, "MB-of-a-file": reading - after} {
			b.ReportMetric(float64(n)/1e6, name)
		}
		_ = e.close(b.Context())
	}
}
