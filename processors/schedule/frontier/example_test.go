package frontier_test

import (
	"fmt"
	"time"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/robots"
	"github.com/weftcrawl/weft/processors/schedule/frontier"
	"github.com/weftcrawl/weft/test/memstore"
)

// The first visit of a domain is to its robots.txt. A decision is an event, and
// changes nothing until it is folded.
func Example() {
	options := frontier.DefaultOptions()
	options.Allowed = robots.Judge()
	f := frontier.New(options, &memstore.Store{})
	now := frontier.Moment{Now: time.Date(2026, 11, 23, 8, 0, 0, 0, time.UTC)}

	event, err := f.Admit("example.com", []*weftpb.Target{{Url: "https://example.com/", Via: weftpb.Via_VIA_SEED}}, now)
	if err == nil {
		err = f.Apply("example.com", event, now.Offset)
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, visit := range event.GetReleased() {
		for _, request := range visit.GetRequests() {
			fmt.Println(request.GetTarget().GetUrl())
		}
	}
	domain, err := f.DomainState("example.com")
	fmt.Println(domain.State, domain.Queued, err)
	// Output:
	// https://example.com/robots.txt
	// out [1 0 0 0] <nil>
}
