package parse_test

import (
	"fmt"

	"github.com/weftcrawl/weft/parse"
)

func Example() {
	parser, err := parse.New(parse.DefaultOptions())
	if err != nil {
		fmt.Println(err)
		return
	}
	page := parser.Document(parse.Input{
		URL:         "https://www.example.org/",
		ContentType: "text/html; charset=utf-8",
		Body: []byte(`<title>Looms</title><h1>Looms</h1>
			<p>See <a href="/weft">the weft</a> and <a href="/shop" rel="nofollow">buy</a>.`),
	})
	fmt.Printf("%s\n%q\n", page.Title, page.Text)
	for _, link := range page.Links {
		fmt.Println(link.URL, link.Text, page.Follow(link))
	}
	// Output:
	// Looms
	// "Looms\nSee the weft and buy."
	// /weft the weft true
	// /shop buy false
}
