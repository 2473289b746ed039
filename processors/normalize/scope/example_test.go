package scope_test

import (
	"fmt"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/urls"
	"github.com/weftcrawl/weft/processors/normalize/scope"
)

// A link is judged by the page that has it.
func ExamplePolicy_Judge() {
	options := scope.DefaultOptions()
	options.Mode, options.MaxDepth, options.Exclude = scope.Domain, 2, []string{`/print/`}
	policy, err := scope.New(options)
	if err != nil {
		fmt.Println(err)
		return
	}
	page, _ := urls.Parse("https://www.example.com/news/")
	suffixes := urls.BundledSuffixes()
	from := scope.Referrer{URL: page, Domain: "example.com", Depth: 1, Via: weftpb.Via_VIA_LINK}
	for _, link := range []string{
		"https://archive.example.com/2025/", "https://example.org/", "https://www.example.com/print/1",
	} {
		target, _ := urls.Parse(link)
		standing, refusal := policy.Judge(from, target, suffixes.Domain(target.Hostname()))
		fmt.Printf("%s depth %d %q\n", target, standing.Depth, refusal)
	}
	// Output:
	// https://archive.example.com/2025/ depth 2 ""
	// https://example.org/ depth 0 "out_of_scope"
	// https://www.example.com/print/1 depth 0 "excluded"
}
