// Command colly crawls the sites of a file of root URLs with Colly, and keeps what a
// page says:
//
//	colly SEEDS OUTPUT.jsonl
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/gocolly/colly/v2"
)

// parallelism: https://go-colly.org/docs/examples/parallel/ has the rule, and leaves
// the number to the user.
const parallelism = 16

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: colly SEEDS OUTPUT")
		os.Exit(2)
	}
	if err := crawl(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "colly:", err)
		os.Exit(1)
	}
}

type page struct {
	URL   string   `json:"url"`
	Title string   `json:"title"`
	Text  string   `json:"text"`
	Links []string `json:"links"`
}

func crawl(seeds, output string) error {
	text, err := os.ReadFile(seeds)
	if err != nil {
		return err
	}
	file, err := os.Create(output)
	if err != nil {
		return err
	}
	buffer := bufio.NewWriter(file)
	kept := keeper{out: json.NewEncoder(buffer)}

	c := colly.NewCollector(colly.Async())
	if err := c.Limit(&colly.LimitRule{DomainGlob: "*", Parallelism: parallelism}); err != nil {
		return err
	}
	c.OnHTML("html", func(e *colly.HTMLElement) {
		p := page{URL: e.Request.URL.String(), Title: e.ChildText("title"), Text: e.ChildText("body")}
		e.ForEach("a[href]", func(_ int, a *colly.HTMLElement) {
			// Colly takes URLs that differ in their fragments for different pages.
			link, _, _ := strings.Cut(a.Request.AbsoluteURL(a.Attr("href")), "#")
			if link != "" {
				p.Links = append(p.Links, link)
			}
		})
		kept.keep(p)
		for _, link := range p.Links {
			_ = e.Request.Visit(link) // an error says that the link was visited before
		}
	})
	c.OnError(func(r *colly.Response, err error) { fmt.Fprintln(os.Stderr, r.Request.URL, err) })
	for _, seed := range strings.Fields(string(text)) {
		if err := c.Visit(seed); err != nil {
			return err
		}
	}
	c.Wait()
	return errors.Join(kept.err, buffer.Flush(), file.Close())
}

// keeper writes pages of several goroutines.
type keeper struct {
	mu  sync.Mutex
	out *json.Encoder
	err error
}

func (k *keeper) keep(p page) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.err = errors.Join(k.err, k.out.Encode(p))
}
