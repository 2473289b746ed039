package verify

import (
	"encoding/binary"
	"runtime"
	"testing"
	"unsafe"
)

// BenchmarkTable measures what a URL costs in memory.
func BenchmarkTable(b *testing.B) {
	const urls = 1_000_000
	for b.Loop() {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		t := newTable()
		for n := range uint64(urls) {
			var print fingerprint
			binary.BigEndian.PutUint64(print[:], n*0x9e3779b97f4a7c15)
			t.mention(print)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/urls, "B/URL")
		runtime.KeepAlive(t)
	}
}

func TestEntryIsSmall(t *testing.T) {
	if size := unsafe.Sizeof(entry{}); size > 32 {
		t.Errorf("an entry takes %d bytes", size)
	}
}
