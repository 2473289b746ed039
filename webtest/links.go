package webtest

import (
	"bytes"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// Linked finds what a crawl of one domain of the tree must reach: the paths,
// as they stand in a request, of every document that answers 200 and that can
// be reached from "/" over anchors and redirects without what robots.txt
// denies. It reads the documents by itself, with nothing of the crawler's.
//
// Documents that are not HTML count, and are not searched for links.
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

// anchors are the hrefs of a and area elements, and the URL against which
// they resolve: that of the document or of its first base element.
func anchors(document []byte, page *url.URL) (base *url.URL, hrefs []string) {
	base = page
	based := false
	z := html.NewTokenizer(bytes.NewReader(document))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return base, hrefs
		case html.StartTagToken, html.SelfClosingTagToken:
			name, more := z.TagName()
			tag := string(name)
			if tag != "a" && tag != "area" && tag != "base" {
				continue
			}
			var key, value []byte
			for more {
				key, value, more = z.TagAttr()
				if string(key) != "href" {
					continue
				}
				href := clean(string(value))
				if tag != "base" {
					hrefs = append(hrefs, href)
				} else if u, err := page.Parse(href); err == nil && !based {
					base, based = u, true
				}
				break
			}
		}
	}
}

// clean does what the URL standard does before parsing: it strips C0 control
// characters and spaces around, and removes tabs and newlines within.
func clean(href string) string {
	href = strings.TrimFunc(href, func(r rune) bool { return r <= ' ' })
	return strings.NewReplacer("\t", "", "\n", "", "\r", "").Replace(href)
}
