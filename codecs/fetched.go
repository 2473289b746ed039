package codecs

import "github.com/weftcrawl/weft/codecs/weftpb"

// ExchangedMs is when an exchange was made, in milliseconds since 1970. If the crawl replays an
// archive, that is before the record was made.
func ExchangedMs(f *weftpb.Fetched) int64 {
	if ms := f.GetRecordedMs(); ms != 0 {
		return ms
	}
	return f.GetOutcome().GetStartedMs()
}
