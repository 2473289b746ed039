package robots_test

import (
	"fmt"

	"github.com/weftcrawl/weft/internal/robots"
)

func Example() {
	body := []byte("User-agent: *\nDisallow: /private/\nAllow: /private/*.html$\nCrawl-delay: 2\n")
	record := robots.Parse(200, body, "Weft/1.0 (+https://example.com/)")
	rules := robots.Compile(record)
	fmt.Println(rules.Allowed("/private/notes.txt"), rules.Allowed("/private/notes.html"))
	fmt.Println(record.GetCrawlDelayMs(), "ms")
	// Output:
	// false true
	// 2000 ms
}
