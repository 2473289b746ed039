// Command limit is what fetching and parsing cost by themselves: a fixed pool
// of workers takes hosts from a list of URLs that is known beforehand. A worker
// fetches all pages of its host with net/http on one connection, parses them with
// goquery and collects title and links. There is no frontier, no politeness, no
// durability and no output. `make bench` measures weft against it.
//
// It prints one line of JSON. It fails if a page cannot be had.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/PuerkitoBio/goquery"
	"golang.org/x/sync/errgroup"
)

func main() {
	urls := flag.String("urls", "", "`file` of URLs, one a line")
	workers := flag.Int("workers", 16, "concurrent `fetches`")
	flag.Parse()
	if err := run(*urls, *workers, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "limit:", err)
		os.Exit(1)
	}
}

type result struct {
	Pages          int64   `json:"pages"`
	Links          int64   `json:"links"`
	Bytes          int64   `json:"bytes"`
	Seconds        float64 `json:"seconds"`
	PagesPerSecond float64 `json:"pages_per_second"`
	CPUMicrosPage  float64 `json:"cpu_us_per_page"`
	PeakMB         float64 `json:"peak_mb"`
}

func run(list string, workers int, out io.Writer) error {
	text, err := os.ReadFile(list)
	if err != nil {
		return err
	}
	hosts, err := byHost(strings.Fields(string(text)))
	if err != nil {
		return err
	}
	var next, pages, links, size atomic.Int64
	start := time.Now()
	var all errgroup.Group
	for range workers {
		all.Go(func() error {
			client := &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{MaxIdleConns: 1}}
			defer client.CloseIdleConnections()
			var body bytes.Buffer
			for i := next.Add(1) - 1; i < int64(len(hosts)); i = next.Add(1) - 1 {
				for _, one := range hosts[i] {
					n, err := page(client, one, &body)
					if err != nil {
						next.Store(int64(len(hosts))) // the others stop after their hosts
						return fmt.Errorf("fetch %s: %w", one, err)
					}
					pages.Add(1)
					links.Add(int64(n))
					size.Add(int64(body.Len()))
				}
			}
			return nil
		})
	}
	if err := all.Wait(); err != nil {
		return err
	}
	r := result{Pages: pages.Load(), Links: links.Load(), Bytes: size.Load(), Seconds: time.Since(start).Seconds()}
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return fmt.Errorf("measure own use: %w", err)
	}
	r.PagesPerSecond = float64(r.Pages) / r.Seconds
	r.CPUMicrosPage = float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e3 / float64(max(r.Pages, 1))
	r.PeakMB = float64(usage.Maxrss) / 1024
	return json.NewEncoder(out).Encode(r)
}

// byHost divides a list in which the URLs of a host stand together.
func byHost(urls []string) (hosts [][]string, err error) {
	last := ""
	for _, one := range urls {
		u, err := url.Parse(one)
		if err != nil {
			return nil, err
		}
		if u.Host != last {
			hosts = append(hosts, nil)
			last = u.Host
		}
		hosts[len(hosts)-1] = append(hosts[len(hosts)-1], one)
	}
	return hosts, nil
}

// page fetches and parses one page into body and counts its links.
func page(client *http.Client, url string, body *bytes.Buffer) (int, error) {
	resp, err := client.Get(url)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	body.Reset()
	if _, err := body.ReadFrom(resp.Body); err != nil {
		return 0, err
	}
	if resp.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("status %d", resp.StatusCode)
	}
	doc, err := goquery.NewDocumentFromReader(bytes.NewReader(body.Bytes()))
	if err != nil {
		return 0, err
	}
	title := doc.Find("title").First().Text()
	hrefs := doc.Find("a[href]").Map(func(_ int, s *goquery.Selection) string { return s.AttrOr("href", "") })
	if title == "" {
		return 0, fmt.Errorf("no title")
	}
	return len(hrefs), nil
}
