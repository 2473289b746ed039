package document_test

import (
	"fmt"

	"github.com/weftcrawl/weft/processors/parse/document"
)

func Example() {
	parser, err := document.New(document.DefaultOptions())
	if err != nil {
		fmt.Println(err)
		return
	}
	page := parser.Document(document.Input{
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
