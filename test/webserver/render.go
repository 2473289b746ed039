package webserver

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
)

// render appends the HTML of page n of domain d to buf, and returns its links in the
// order of the document.
//
// Links are in a navigation list and in paragraphs between the blocks. Even the
// smallest page has all links to its children.
func (g *Generated) render(d, n, port int, buf []byte) ([]byte, []link) {
	rng := g.rng(d, n)
	size := g.size(rng)
	title := g.title(d, n)
	links := g.links(rng, d, n, port, size)
	about := g.subject(rng)

	w := writer(buf)
	start := len(buf)
	w.html("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>")
	w.html(escape(title))
	w.html("</title>\n<meta name=\"description\" content=\"Page ")
	w.html(strconv.Itoa(n))
	w.html(" of a generated web\">\n<link rel=\"stylesheet\" href=\"" + stylePath + "\">\n")
	w.html("<script>var page = \"<a href='/private/script'>not a link</a>\";</script>\n</head>\n<body>\n<nav>\n<ul>\n")
	nav := min(6, len(links))
	for _, l := range links[:nav] {
		w.html("<li class=\"toctree-l1\">")
		w.link(l)
		w.html("</li>\n")
	}
	w.html("</ul>\n</nav>\n<main>\n")
	w.html("<h1>" + escape(title) + "</h1>\n")

	// The rest of the links in proportion to the rest of the bytes.
	rest := links[nav:]
	for from := len(w) - start; len(rest) > 0 || len(w)-start < size-closing; {
		done := 1.0
		if at := len(w) - start; size-closing > from && at < size-closing {
			done = float64(at-from) / float64(size-closing-from)
		}
		due := min(int(done*float64(len(links)-nav))-(len(links)-nav-len(rest)), len(rest))
		if due > 0 {
			take := min(due, 3)
			w.paragraph(rest[:take])
			rest = rest[take:]
			continue
		}
		w.html(g.blocks[rng.IntN(len(g.blocks))])
		w.terms(rng, about)
	}
	w.html("</main>\n<footer>\n<p>Generated documentation.</p>\n</footer>\n</body>\n</html>\n")
	return w, links
}

// subject is the terms of a page, which other pages do not have. Without them many pages
// would be near duplicates of each other, because they have the same blocks.
type subject [12]string

func (g *Generated) subject(rng *rand.Rand) (s subject) {
	for i := range s {
		s[i] = g.slugs[rng.IntN(len(g.slugs))]
	}
	return s
}

// closing is about the size of what follows the last block.
const closing = 90

// size draws a page's size from the log-normal distribution with the wanted
// median m and mean μ: its σ² is 2 ln(μ/m). At most 2 MiB.
func (g *Generated) size(rng *rand.Rand) int {
	m := float64(g.options.MedianBytes)
	sigma := math.Sqrt(2 * math.Log(float64(g.options.MeanBytes)/m))
	return int(min(m*math.Exp(sigma*rng.NormFloat64()), 2<<20))
}

func (g *Generated) title(d, n int) string {
	if n == 0 {
		return "Documentation & index of café " + DomainAddr(d)
	}
	return strings.TrimSuffix(strings.ReplaceAll(g.path(d, n)[1:], "/", " – "), ".html") + " of " + DomainAddr(d)
}

// link is an href as it is written, and its anchor text.
type link struct{ href, anchor string }

// links of page n: home, its children, its special links, others at random. Some have a
// fragment, which is not a part of the URL to fetch.
func (g *Generated) links(rng *rand.Rand, d, n, port, size int) []link {
	o, pages := g.options, g.pages(d)
	want := min(o.Links/2+rng.IntN(o.Links+1), max(size/150, 4))
	links := make([]link, 0, want+fanOut)
	links = append(links, link{"/", "Home"})
	for c := fanOut*n + 1; c <= fanOut*n+fanOut && c < pages; c++ {
		links = append(links, link{g.path(d, c), g.anchor(c)})
	}
	if n == 0 && o.LinkedRoots {
		for c := fanOut*d + 1; c <= fanOut*d+fanOut && c < o.Domains; c++ {
			links = append(links, link{Origin(DomainAddr(c), port) + "/", g.anchor(c)})
		}
	}
	if every(o.DeniedEvery, n) {
		links = append(links, link{deniedPrefix + strconv.Itoa(n) + ".html", "Private"})
	}
	if every(o.ErrorEvery, n) {
		links = append(links, link{missingPrefix + strconv.Itoa(n) + ".html", "Missing"})
	}
	if every(o.RedirectEvery, n) {
		links = append(links, link{movedPrefix + strconv.Itoa(rng.IntN(pages)), "Moved"})
	}
	for len(links) < want {
		if o.Domains > 1 && rng.Float64() < o.CrossLinks {
			other := rng.IntN(o.Domains)
			c := rng.IntN(g.pages(other))
			links = append(links, link{Origin(DomainAddr(other), port) + g.path(other, c), g.anchor(c)})
			continue
		}
		c := rng.IntN(pages)
		href := g.path(d, c)
		if rng.IntN(4) == 0 {
			href += "#s" + strconv.Itoa(rng.IntN(100))
		}
		links = append(links, link{href, g.anchor(c)})
	}
	return links
}

func (g *Generated) anchor(n int) string { return g.slugs[n%len(g.slugs)] + " " + strconv.Itoa(n) }

type writer []byte

func (w *writer) html(s string) { *w = append(*w, s...) }

func (w *writer) link(l link) {
	w.html("<a class=\"reference internal\" href=\"")
	w.html(l.href)
	w.html("\">")
	w.html(l.anchor)
	w.html("</a>")
}

// terms writes a sentence about a subject.
func (w *writer) terms(rng *rand.Rand, s subject) {
	w.html("<p>About")
	for i := range 10 {
		term := s[rng.IntN(len(s))]
		if i%2 == 0 { // markup as dense as in the blocks
			w.html(" <em>" + term + "</em>")
		} else {
			w.html(" " + term)
		}
	}
	w.html("</p>\n")
}

func (w *writer) paragraph(links []link) {
	w.html("<p>")
	for i, l := range links {
		word := "See "
		if i > 0 {
			word = "and "
		}
		w.html(word)
		w.link(l)
		w.html(" ")
	}
	w.html("</p>\n")
}
