package topics

import (
	"encoding/hex"
	"strconv"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/zeebo/xxh3"
)

// Names of the headers of records that are made of an exchange: records of fetched, discovered and
// parsed. Each header is there once, and is text.
const (
	// HeaderSchema says how to read the value, a Schema.
	HeaderSchema = "schema"
	// HeaderPageID is the id of the page, as in the record. A repetition after a
	// crash has the same id.
	HeaderPageID = "page-id"
	// HeaderCrawl is the crawl's name.
	HeaderCrawl = "crawl"
	// HeaderTraceparent is the trace context of the exchange (W3C Trace Context
	// §3.2), see Exchange.
	HeaderTraceparent = "traceparent"
)

// Schema names the form of a value: its topic and a version. The version changes
// when programs that read the former one cannot read the new one.
type Schema string

const (
	// SchemaFetched is the message weft.v1.Fetched in protobuf.
	SchemaFetched Schema = "weft.fetched/1"
	// SchemaDiscovered is the message weft.v1.Discovered in protobuf.
	SchemaDiscovered Schema = "weft.discovered/1"
	// SchemaParsed is JSON as codecs/parsed.schema.json describes it.
	SchemaParsed Schema = "weft.parsed/1"
)

// Exchange names one HTTP exchange in the headers of the records made of it.
//
// An exchange is a trace. The id of the trace is a hash of the crawl, the page and
// the start of the request, so that a record that is made again has the same trace.
// The work of a stage on the exchange is a span; its id is a hash of the trace's id
// and the stage. Weft does not report spans itself. The pages that this page names
// are other exchanges, and have other traces.
type Exchange struct {
	crawl, pageID string
	trace         xxh3.Uint128
}

// Exchange returns the exchange of a page whose request was made at startedMs,
// milliseconds since 1970.
func (n Names) Exchange(pageID string, startedMs int64) Exchange {
	var array [192]byte // room for most
	id := append(append(append(array[:0], n.Crawl...), 0), pageID...)
	id = strconv.AppendInt(append(id, 0), startedMs, 10)
	return Exchange{n.Crawl, pageID, xxh3.Hash128(id)}
}

// Headers returns the headers of a record that a stage makes of the exchange.
func (e Exchange) Headers(schema Schema, by Stage) []kgo.RecordHeader {
	return []kgo.RecordHeader{
		{Key: HeaderSchema, Value: []byte(schema)},
		{Key: HeaderPageID, Value: []byte(e.pageID)},
		{Key: HeaderCrawl, Value: []byte(e.crawl)},
		{Key: HeaderTraceparent, Value: e.traceparent(by)},
	}
}

// traceparent is version 00 of the header, with the flag "sampled". By default a
// tracer follows the decision of the parent, and would record nothing without it.
func (e Exchange) traceparent(by Stage) []byte {
	trace := e.trace.Bytes()
	var array [64]byte
	span := xxh3.Hash(append(append(array[:0], trace[:]...), by...))
	text := append(make([]byte, 0, 55), "00-"...)
	text = append(hex.AppendEncode(text, trace[:]), '-')
	for shift := 56; shift >= 0; shift -= 8 {
		text = hex.AppendEncode(text, []byte{byte(span >> shift)})
	}
	return append(text, "-01"...)
}
