package variants_test

import (
	"fmt"

	"github.com/weftcrawl/weft/internal/urls"
	"github.com/weftcrawl/weft/processors/dedupe/variants"
)

// Rules that lead from one spelling of a URL to another.
func ExampleBetween() {
	from, _ := urls.Parse("http://www.example.com/looms")
	to, _ := urls.Parse("https://example.com/looms/")
	rules := variants.Between(from, to, "example.com")
	fmt.Println(rules)

	next, _ := urls.Parse("http://www.example.com/warp")
	kept, used := variants.Apply(rules, next, "example.com")
	fmt.Println(kept, used)
	// Output:
	// https,no-www,slash
	// https://example.com/warp/ https,no-www,slash
}
