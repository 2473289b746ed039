package traps_test

import (
	"fmt"

	"github.com/weftcrawl/weft/processors/dedupe/traps"
)

// URLs that a server makes from one rule have one template.
func ExampleOf() {
	for _, url := range []string{
		"https://example.com/calendar/2026/11", "https://example.com/calendar/2031/2", "https://example.com/shirts?color=red&size=m",
	} {
		fmt.Println(traps.Of(url))
	}
	// Output:
	// example.com /calendar/{year}/{n}
	// example.com /calendar/{year}/{n}
	// example.com /shirts?color&size
}

func ExampleLooks() {
	fmt.Println(traps.Looks("https://example.com/calendar/2026/11"), traps.Looks("https://example.com/about"))
	// Output: calendar same_content
}
