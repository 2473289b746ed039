package memory

import (
	"runtime"
	"slices"
	"testing"
)

func TestOwner(t *testing.T) {
	for _, tc := range []struct {
		want  Use
		stack []string
	}{
		{OtherData, nil},
		{OtherData, []string{"strings.Clone", "main.main"}},
		{OtherData, []string{"strings.Clone", "github.com/weftcrawl/weft/ledger.(*Writer).Append", "main.main"}},
		{BlockCache, []string{"github.com/cockroachdb/pebble/v2/internal/manual.New", "github.com/cockroachdb/pebble/v2/internal/cache.Alloc", "github.com/cockroachdb/pebble/v2.(*DB).Get"}},
		{Memtables, []string{"github.com/cockroachdb/pebble/v2/internal/manual.New", "github.com/cockroachdb/pebble/v2.(*DB).newMemTable", "github.com/cockroachdb/pebble/v2.Open"}},
		{Stores, []string{"github.com/cockroachdb/pebble/v2/sstable.NewReader", "github.com/weftcrawl/weft/ledger.openStore"}},
		{Connections, []string{"bufio.NewReaderSize", "net/http.(*Transport).dialConn", "github.com/weftcrawl/weft/processors/fetch/httpclient.(*Client).Get"}},
		{Bodies, []string{"github.com/klauspost/compress/flate.(*dictDecoder).init", "github.com/weftcrawl/weft/processors/fetch/httpclient.(*bodies).decode"}},
		{Fetch, []string{"github.com/weftcrawl/weft/processors/fetch/hostqueue.(*queue).push"}},
		{Duplicates, []string{"github.com/weftcrawl/weft/processors/parse/duplicates.(*Index).Add"}},
		{Parse, []string{"github.com/weftcrawl/weft/processors/parse/document.(*Parser).Parse"}},
		{Frontier, []string{"github.com/weftcrawl/weft/processors/schedule/frontier.(*Frontier).Apply"}},
		{Broker, []string{"github.com/twmb/franz-go/pkg/kmsg.(*FetchResponse).AppendTo", "github.com/twmb/franz-go/pkg/kfake.(*clientConn).write"}},
		{Outbox, []string{"google.golang.org/protobuf/proto.Marshal", "github.com/weftcrawl/weft/codecs.EncodeFetched", "github.com/weftcrawl/weft/processors/fetch.(*outbox).put"}},
		{Outbox, []string{"github.com/twmb/franz-go/pkg/kbin.AppendVarintBytes", "github.com/twmb/franz-go/pkg/kgo.promisedRec.appendTo", "github.com/twmb/franz-go/pkg/kgo.(*broker).handleReqs"}},
		{ReadAhead, []string{"github.com/twmb/franz-go/pkg/kgo.(*brokerCxn).readSizeAndBody"}},
	} {
		if got := owner(tc.stack); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.stack, got, tc.want)
		}
	}
}

func TestUsesAreListed(t *testing.T) {
	for _, o := range owners {
		if o.use != "" && !slices.Contains(Uses(), o.use) {
			t.Errorf("%q is no use", o.use)
		}
	}
}

func TestEstimate(t *testing.T) {
	for _, tc := range []struct{ bytes, objects, rate, want int64 }{
		{0, 0, 512 << 10, 0},
		{1000, 1, 1, 1000},                 // everything is sampled
		{64 << 20, 1, 512 << 10, 64 << 20}, // a large allocation is always sampled
		{512 << 10, 1, 512 << 10, 829411},  // 512 KiB with probability 1-1/e
		{1 << 10, 1, 512 << 10, 524800},    // small objects: the rate, and half of the object
	} {
		if got := estimate(tc.bytes, tc.objects, tc.rate); got != tc.want {
			t.Errorf("%d bytes in %d objects: %d, want %d", tc.bytes, tc.objects, got, tc.want)
		}
	}
}

// What is allocated is read, first as live data and then as garbage or as nothing.
func TestRead(t *testing.T) {
	var reader Reader
	before := reader.Read()
	large := make([]byte, 64<<20)
	for range 3 { // a profile is up to two collections old
		runtime.GC()
	}
	with := reader.Read()
	if grown := with[OtherData] - before[OtherData]; grown < 60<<20 || grown > 80<<20 {
		t.Errorf("64 MiB more are live, read are %d bytes more: %v", grown, with)
	}
	runtime.KeepAlive(large)
	for range 3 {
		runtime.GC()
	}
	after := reader.Read()
	if grown := after[OtherData] - before[OtherData]; grown > 10<<20 {
		t.Errorf("nothing more is live, read are %d bytes more", grown)
	}
	for use, bytes := range with {
		if bytes < 0 || !slices.Contains(Uses(), use) {
			t.Errorf("%d bytes of use %q", bytes, use)
		}
	}
	if with[Stacks] == 0 || with[Runtime] == 0 || with.Total() < 64<<20 {
		t.Errorf("%v", with)
	}
}
