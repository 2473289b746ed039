package memory

import (
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"sync"
)

// Use is what memory is used for. Its values are labels of a metric and never change.
type Use string

// What the live data is used for, by the code that allocated it.
const (
	Connections Use = "connections" // of the HTTP client: buffers, TLS, goroutines' data
	Bodies      Use = "bodies"      // of exchanges, with their decoders
	Fetch       Use = "fetch"       // visits and host queues, and the rest of fetch
	Outbox      Use = "outbox"      // records and requests that brokers have not acknowledged
	ReadAhead   Use = "read_ahead"  // records that were fetched from brokers
	Broker      Use = "broker"      // the embedded broker
	BlockCache  Use = "block_cache" // of Pebble
	Memtables   Use = "memtables"   // of Pebble
	Stores      Use = "stores"      // the rest of Pebble
	Frontier    Use = "frontier"    // schedule
	Seen        Use = "seen"        // dedupe with its filter
	Duplicates  Use = "duplicates"  // the index of the texts of pages
	Parse       Use = "parse"       // the rest of parse, and normalize
	OtherData   Use = "other"       // everything else that is live
)

// What is not live data.
const (
	Garbage Use = "garbage" // dead objects that are not collected yet
	Unused  Use = "unused"  // mapped for the heap and not returned to the system
	Stacks  Use = "stacks"  // of goroutines
	Runtime Use = "runtime" // data of Go's runtime
)

// Uses are all uses.
func Uses() []Use {
	return []Use{
		Connections, Bodies, Fetch, Outbox, ReadAhead, Broker, BlockCache, Memtables, Stores, Frontier, Seen, Duplicates, Parse,
		OtherData, Garbage, Unused, Stacks, Runtime,
	}
}

// owners says what memory is used for by the name of a function of the stack that allocated
// it. The innermost function that has an entry decides; the first entry that it begins with
// holds.
var owners = []struct {
	prefix string
	use    Use
}{
	{"github.com/cockroachdb/pebble/v2/internal/manual", ""}, // its caller decides
	{"github.com/cockroachdb/pebble/v2/internal/cache", BlockCache},
	{"github.com/cockroachdb/pebble/v2/internal/arenaskl", Memtables},
	{"github.com/cockroachdb/pebble/v2.newMemTable", Memtables},
	{"github.com/cockroachdb/pebble/v2.(*DB).newMemTable", Memtables},
	{"github.com/cockroachdb/pebble/v2.(*memTable)", Memtables},
	{"github.com/cockroachdb/pebble/", Stores},
	{"github.com/twmb/franz-go/pkg/kfake", Broker},
	{"github.com/twmb/franz-go/pkg/kgo.(*sink)", Outbox},
	{"github.com/twmb/franz-go/pkg/kgo.(*recBuf)", Outbox},
	{"github.com/twmb/franz-go/pkg/kgo.(*recBatch)", Outbox},
	{"github.com/twmb/franz-go/pkg/kgo.(*producer)", Outbox},
	{"github.com/twmb/franz-go/pkg/kgo.(*produceRequest)", Outbox},
	{"github.com/twmb/franz-go/pkg/kgo.promisedRec", Outbox},
	{"github.com/twmb/franz-go/pkg/kgo.seqRecBatch", Outbox},
	{"github.com/twmb/franz-go/pkg/kgo.(*brokerCxn).writeRequest", Outbox},
	{"github.com/twmb/franz-go/pkg/kgo", ReadAhead},
	{"github.com/IBM/sarama", ReadAhead},
	{"net/http", Connections},
	{"crypto/", Connections},
	{module + "codecs", Outbox}, // a record is encoded to be written
	{module + "processors/fetch/httpclient.(*bodies)", Bodies},
	{module + "processors/fetch", Fetch},
	{module + "processors/parse/duplicates", Duplicates},
	{module + "processors/parse", Parse},
	{module + "processors/normalize", Parse},
	{module + "processors/schedule", Frontier},
	{module + "processors/dedupe", Seen},
	{module, OtherData},
}

const module = "github.com/weftcrawl/weft/"

// Usage is the memory of this process by use, in bytes. The uses of the live data are
// estimated from a sample, one allocation in 512 KiB, and are as old as one or two collections.
// The program's code is not in it.
type Usage map[Use]int64

// Total is the sum of all uses.
func (u Usage) Total() (bytes int64) {
	for _, n := range u {
		bytes += n
	}
	return bytes
}

// Reader reads the memory of this process. It may be used by many goroutines. The zero value
// is ready.
type Reader struct {
	mu      sync.Mutex
	records []runtime.MemProfileRecord
	known   map[[32]uintptr]Use // by the stack
}

// Read says what memory is used for. It takes some milliseconds.
func (r *Reader) Read() Usage {
	r.mu.Lock()
	defer r.mu.Unlock()
	usage := r.sample()
	samples := []metrics.Sample{
		{Name: "/gc/heap/live:bytes"},
		{Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/memory/classes/heap/unused:bytes"},
		{Name: "/memory/classes/heap/free:bytes"},
		{Name: "/memory/classes/heap/stacks:bytes"},
		{Name: "/memory/classes/heap/released:bytes"},
		{Name: "/memory/classes/total:bytes"},
	}
	metrics.Read(samples)
	value := func(i int) int64 { return int64(samples[i].Value.Uint64()) }
	live, objects := value(0), value(1)
	usage[OtherData] += max(0, live-usage.Total())
	usage[Garbage] = max(0, objects-live)
	usage[Unused] = value(2) + value(3)
	usage[Stacks] = value(4)
	usage[Runtime] = max(0, value(6)-value(5)-value(4)-value(3)-value(2)-objects)
	return usage
}

// Limit is the soft limit in force, in bytes; 0: there is none.
func Limit() int64 {
	if limit := debug.SetMemoryLimit(-1); limit != math.MaxInt64 {
		return limit
	}
	return 0
}

// sample adds up the sampled allocations of the live data.
func (r *Reader) sample() Usage {
	if r.known == nil {
		r.known = map[[32]uintptr]Use{}
	}
	n, ok := runtime.MemProfile(r.records, false)
	for !ok {
		r.records = make([]runtime.MemProfileRecord, n+n/4)
		n, ok = runtime.MemProfile(r.records, false)
	}
	usage := Usage{}
	for i := range r.records[:n] {
		record := &r.records[i]
		usage[r.use(record)] += estimate(record.InUseBytes(), record.InUseObjects(), int64(runtime.MemProfileRate))
	}
	return usage
}

// use says what the memory of a record is used for.
func (r *Reader) use(record *runtime.MemProfileRecord) Use {
	use, known := r.known[record.Stack0]
	if !known {
		use = owner(functions(record.Stack()))
		r.known[record.Stack0] = use
	}
	return use
}

// functions are the names of the functions of a stack, the innermost first.
func functions(stack []uintptr) (names []string) {
	if len(stack) == 0 {
		return nil
	}
	frames := runtime.CallersFrames(stack)
	for more := true; more; {
		var frame runtime.Frame
		frame, more = frames.Next()
		names = append(names, frame.Function)
	}
	return names
}

// owner says what the memory that was allocated by these functions is used for.
func owner(functions []string) Use {
	for _, function := range functions {
		for _, o := range owners {
			if strings.HasPrefix(function, o.prefix) {
				if o.use != "" {
					return o.use
				}
				break
			}
		}
	}
	return OtherData
}

// estimate returns the bytes for which a sample of bytes in objects stands, if one allocation
// in rate bytes is sampled. An allocation of n bytes is sampled with the probability
// 1-exp(-n/rate), as pprof has it.
func estimate(bytes, objects, rate int64) int64 {
	if bytes == 0 || objects == 0 || rate <= 1 {
		return bytes
	}
	mean := float64(bytes) / float64(objects)
	return int64(float64(bytes) / -math.Expm1(-mean/float64(rate)))
}
