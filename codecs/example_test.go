package codecs_test

import (
	"encoding/json"
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs"
	"github.com/weftcrawl/weft/codecs/weftpb"
)

// One record of seeds may hold many, as plain URLs and as JSON.
func ExampleDecodeSeeds() {
	seeds, bad := codecs.DecodeSeeds([]byte(`
# the front page
https://example.com/
{"url": "https://example.org/", "depth": 2}
{"depth": 2}
`))
	for _, seed := range seeds {
		fmt.Println(seed.URL, seed.Depth)
	}
	for _, line := range bad {
		fmt.Println("line", line.Line, line.Reason)
	}
	// Output:
	// https://example.com/ 0
	// https://example.org/ 2
	// line 5 no_url
}

func ExampleEncodeSeed() {
	fmt.Printf("%s\n", codecs.EncodeSeed(codecs.Seed{URL: "https://example.com/"}))
	fmt.Printf("%s\n", codecs.EncodeSeed(codecs.Seed{URL: "https://example.com/", Depth: 2}))
	// Output:
	// https://example.com/
	// {"url":"https://example.com/","depth":2}
}

// A page as its users read it from the topic parsed.
func ExampleParsed() {
	value := codecs.Parsed{
		ID: "0123456789abcdef0123456789abcdef", URL: "https://example.com/", Domain: "example.com", Status: 200,
		FetchedAt: time.Date(2026, 11, 23, 8, 0, 0, 0, time.UTC), Title: "Looms",
		Links: []codecs.ParsedLink{{URL: "https://example.com/weft", Text: "weft"}},
	}.AppendJSON(nil)

	var page codecs.Parsed
	if err := json.Unmarshal(value, &page); err != nil {
		fmt.Println(err)
	}
	fmt.Println(page.FetchedAt.Format(time.DateTime), page.URL, page.Title, page.Links[0].URL)
	// Output: 2026-11-23 08:00:00 https://example.com/ Looms https://example.com/weft
}

// The identity of a page is read without the rest of the record.
func ExampleDecodeParsedFingerprints() {
	value := codecs.Parsed{
		ID: "b", URL: "https://example.com/copy", Domain: "example.com",
		DuplicateOf: &codecs.ParsedOriginal{ID: "a", URL: "https://example.com/"},
	}.AppendJSON(nil)
	printed, err := codecs.DecodeParsedFingerprints(value)
	fmt.Println(printed.URL, printed.DuplicateOf.URL, err)
	// Output: https://example.com/copy https://example.com/ <nil>
}

func ExampleParsedSchema() {
	var schema struct {
		Properties map[string]struct{ Type string }
	}
	if err := json.Unmarshal([]byte(codecs.ParsedSchema()), &schema); err != nil {
		fmt.Println(err)
	}
	fmt.Println(schema.Properties["url"].Type, schema.Properties["status"].Type, schema.Properties["links"].Type)
	// Output: string integer array
}

// Any record of the loop as a line of JSON, as weft consume prints it.
func ExampleAppendText() {
	value, err := proto.Marshal(&weftpb.Normalized{Targets: []*weftpb.Target{{Url: "https://example.com/a", Depth: 1}}})
	if err != nil {
		fmt.Println(err)
	}
	record := codecs.LogRecord{
		Topic: "normalized", Partition: 3, Offset: 17, Timestamp: time.Date(2026, 11, 23, 8, 0, 0, 0, time.UTC),
		Key: []byte("example.com"), Value: value,
	}
	fmt.Printf("%s\n", codecs.AppendText(nil, record))
	// Output: {"topic":"normalized","partition":3,"offset":17,"time":"2026-11-23T08:00:00.000Z","key":"example.com","value":{"targets":[{"url":"https://example.com/a","depth":1}]}}
}

// What a stage could not use is kept with the reason.
func ExampleEncodeRejected() {
	value := codecs.EncodeRejected(&weftpb.Rejected{Stage: "normalize", Reason: codecs.SeedNotText, Value: []byte{0xff}})
	rejected, err := codecs.DecodeRejected(value)
	fmt.Println(rejected.GetStage(), rejected.GetReason(), codecs.Whole(rejected), err)
	// Output: normalize not_text true <nil>
}
