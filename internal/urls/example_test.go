package urls_test

import (
	"fmt"

	"github.com/weftcrawl/weft/internal/urls"
)

func ExampleBase_Resolve() {
	page, _ := urls.Parse("https://example.com/docs/index.html")
	base := urls.NewBase(page)
	for _, href := range []string{"../%7Ejo/a.html#top", "//BÜCHER.example:443", "mailto:jo@example.com"} {
		u, refusal := base.Resolve(href)
		fmt.Printf("%q %q\n", u, refusal)
	}
	// Output:
	// "https://example.com/~jo/a.html" ""
	// "https://xn--bcher-kva.example/" ""
	// "" "not_crawlable_mailto"
}

func ExampleSuffixes_Domain() {
	suffixes := urls.BundledSuffixes()
	fmt.Println(suffixes.Domain("www.example.co.uk"), suffixes.Domain("jo.github.io"), suffixes.Domain("127.0.0.1"))
	// Output: example.co.uk jo.github.io 127.0.0.1
}
