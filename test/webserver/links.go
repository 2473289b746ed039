package webserver

import (
	"bytes"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/PuerkitoBio/goquery"
)

// Linked finds what a crawl of one domain of the tree must reach: the paths with
// queries of all documents that answer 200 and that can be reached from "/" over
// anchors and redirects, without those that robots.txt denies. It reads the documents
// without any code of the crawler.
//
// Documents that are not HTML are found, too, but not searched for links.
func (t *Tree) Linked() []string {
	base := &url.URL{Scheme: "http", Host: DomainAddr(0), Path: "/"}
	seen := map[string]bool{"/": true}
	queue := []string{"/"}
	var found []string
	for len(queue) > 0 {
		target := queue[0]
		queue = queue[1:]
		resp := t.Answer(DomainAddr(0), 0, target, nil)
		page, err := base.Parse(target)
		if err != nil {
			continue
		}
		var hrefs []string
		switch {
		case resp.Location != "":
			hrefs = []string{resp.Location}
		case resp.Status != http.StatusOK:
			continue
		default:
			found = append(found, target)
			if strings.HasPrefix(resp.Type, "text/html") {
				page, hrefs = anchors(resp.Body, page)
			}
		}
		for _, href := range hrefs {
			u, err := page.Parse(href)
			if err != nil || u.Scheme != base.Scheme || u.Host != base.Host || u.User != nil {
				continue
			}
			next := u.RequestURI()
			if !seen[next] && !t.Denied(u.Host, u.Path) {
				seen[next] = true
				queue = append(queue, next)
			}
		}
	}
	slices.Sort(found)
	return found
}

// Pages yields domain and path of every linked document of every domain.
func (t *Tree) Pages() iter.Seq2[string, string] {
	linked := t.Linked()
	return func(yield func(domain, path string) bool) {
		for _, domain := range t.Domains() {
			for _, p := range linked {
				if !yield(domain, p) {
					return
				}
			}
		}
	}
}

// anchors are the hrefs of a and area elements, and the base URL: the document's own URL, or the
// URL of its first base element.
func anchors(document []byte, page *url.URL) (base *url.URL, hrefs []string) {
	doc, err := goquery.NewDocumentFromReader(bytes.NewReader(document))
	if err != nil {
		return page, nil
	}
	href := func(_ int, s *goquery.Selection) string { return clean(s.AttrOr("href", "")) }
	for _, of := range doc.Find("base[href]").Map(href) {
		if u, err := page.Parse(of); err == nil {
			return u, doc.Find("a[href], area[href]").Map(href)
		}
	}
	return page, doc.Find("a[href], area[href]").Map(href)
}

// clean does what the URL standard does before parsing: it strips C0 control
// characters and spaces around, and removes tabs and newlines within.
func clean(href string) string {
	href = strings.TrimFunc(href, func(r rune) bool { return r <= ' ' })
	return strings.NewReplacer("\t", "", "\n", "", "\r", "").Replace(href)
}
