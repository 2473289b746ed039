package webserver

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Generated is a web computed from its Options. Page 0 of a domain is its root. Page n
// links to pages 8n+1 to 8n+8, so that all pages can be reached from the root, and to
// others that are drawn at random. It does not change after NewGenerated.
type Generated struct {
	options Options
	blocks  []string // markup
	// slugs of page paths.
	slugs []string
}

// fanOut is the number of children of a page in its domain's spanning tree.
const fanOut = 8

// NewGenerated prepares the text of a web: at most 20 MB and a second.
func NewGenerated(options Options) (*Generated, error) {
	o := options.WithDefaults()
	if err := o.Validate(); err != nil {
		return nil, err
	}
	slugs := make([]string, 0, 512)
	for _, w := range strings.Fields(wordList) {
		if len(w) > 4 && len(slugs) < cap(slugs) && w[0] < 0x80 && !strings.ContainsFunc(w, func(r rune) bool { return r >= 0x80 }) {
			slugs = append(slugs, w)
		}
	}
	blocks := min(max(10*o.Pages, 500), 1<<15)
	return &Generated{o, newBlocks(o.Seed, blocks), slugs}, nil
}

// Options of the web, with defaults applied.
func (g *Generated) Options() Options { return g.options }

// Domains implements Site.
func (g *Generated) Domains() []string { return addresses(g.options.Domains) }

func (g *Generated) pages(d int) int {
	n := g.options.Pages / g.options.Domains
	if d < g.options.Pages%g.options.Domains {
		n++
	}
	return n
}

// path of page n of domain d, "/" for the root.
func (g *Generated) path(d, n int) string {
	if n == 0 {
		return "/"
	}
	// A few multiplications spread neighbours over the slugs.
	h := (g.options.Seed+uint64(d)<<32+uint64(n))*0x9e3779b97f4a7c15 ^ 0xd1b54a32d192ed03
	section := g.slugs[(n/40)%len(g.slugs)]
	slug := g.slugs[(h*0x9e3779b97f4a7c15>>33)%uint64(len(g.slugs))]
	return "/" + section + "/" + slug + "-" + strconv.Itoa(n) + ".html"
}

// number is the inverse of path.
func (g *Generated) number(d int, path string) (int, bool) {
	if path == "/" {
		return 0, true
	}
	name, ok := strings.CutSuffix(path, ".html")
	if !ok {
		return 0, false
	}
	n, err := strconv.Atoi(name[strings.LastIndexByte(name, '-')+1:])
	if err != nil || n < 1 || n >= g.pages(d) {
		return 0, false
	}
	return n, g.path(d, n) == path
}

// Answer implements Site.
func (g *Generated) Answer(domain string, port int, path string, buf []byte) Response {
	d, ok := domainNumber(domain)
	if !ok || d >= g.options.Domains {
		return text(http.StatusMisdirectedRequest, "no such domain\n")
	}
	if n, ok := g.number(d, path); ok {
		body, _ := g.render(d, n, port, buf)
		return Response{Status: http.StatusOK, Type: htmlType, Body: body}
	}
	switch {
	case path == "/robots.txt":
		if !g.hasRobots(d) {
			return text(http.StatusNotFound, "not found\n")
		}
		return text(http.StatusOK, g.robots(d))
	case path == stylePath:
		return Response{Status: http.StatusOK, Type: "text/css", Body: []byte("body { max-width: 50em }\n")}
	case strings.HasPrefix(path, deniedPrefix):
		return text(http.StatusOK, "robots.txt denies this\n")
	case strings.HasPrefix(path, movedPrefix):
		n, err := strconv.Atoi(path[len(movedPrefix):])
		if err == nil && n >= 0 && n < g.pages(d) {
			return Response{Status: http.StatusMovedPermanently, Location: g.path(d, n)}
		}
	}
	return text(http.StatusNotFound, "not found\n")
}

const (
	deniedPrefix  = "/private/"
	movedPrefix   = "/moved/"
	missingPrefix = "/missing/"
	stylePath     = "/static/style.css"
)

func (g *Generated) hasRobots(d int) bool { return !every(g.options.NoRobotsEvery, d) }

func (g *Generated) robots(d int) string {
	var b strings.Builder
	b.WriteString("# robots.txt of a generated web\nUser-agent: *\nDisallow: " + deniedPrefix + "\n")
	if every(g.options.CrawlDelayEvery, d) {
		fmt.Fprintf(&b, "Crawl-delay: %g\n", g.options.CrawlDelay.Seconds())
	}
	return b.String()
}

// every reports whether i is the last of a run of n.
func every(n, i int) bool { return n > 0 && i%n == n-1 }

func text(status int, s string) Response {
	return Response{Status: status, Type: "text/plain; charset=utf-8", Body: []byte(s)}
}

func (g *Generated) rng(d, n int) *rand.Rand {
	return rand.New(rand.NewPCG(g.options.Seed, uint64(d)<<32|uint64(n)))
}

// Options describe a generated web. The same options make the same web, byte
// for byte, except for the port in links between domains.
type Options struct {
	// Seed of everything that is drawn. Default 1.
	Seed uint64
	// Pages of the whole web, spread evenly over the domains. Default 1,000.
	Pages int
	// Domains, at most 50,000. Default 10.
	Domains int
	// MedianBytes and MeanBytes of a page's HTML; sizes are log-normal. Defaults 15 KiB
	// and 30 KiB, as in technical documentation.
	MedianBytes, MeanBytes int
	// Links is the mean number of links of a page. Default 40. Small pages have fewer:
	// at most one in 150 bytes.
	Links int
	// CrossLinks is the share of links that lead to another domain.
	CrossLinks float64
	// LinkedRoots: root number d also links to the roots of domains 8d+1 to 8d+8, so that
	// all pages can be reached from the first domain.
	LinkedRoots bool
	// DeniedEvery, ErrorEvery and RedirectEvery: one page in so many links to a URL that
	// robots.txt denies, that does not exist (404), or that redirects to a page of the
	// same domain. 0: no page does.
	DeniedEvery, ErrorEvery, RedirectEvery int
	// NoRobotsEvery: one domain in so many has no robots.txt (404), and denies nothing.
	// 0: all domains have one.
	NoRobotsEvery int
	// CrawlDelayEvery: one robots.txt in so many asks for CrawlDelay.
	CrawlDelayEvery int
	CrawlDelay      time.Duration
}

// WithDefaults returns o with its zero fields set.
func (o Options) WithDefaults() Options {
	def := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	if o.Seed == 0 {
		o.Seed = 1
	}
	def(&o.Pages, 1000)
	def(&o.Domains, 10)
	def(&o.MedianBytes, 15<<10)
	def(&o.MeanBytes, 30<<10)
	def(&o.Links, 40)
	return o
}

// Validate reports options that cannot describe a web.
func (o Options) Validate() error {
	switch {
	case o.Domains < 1 || o.Domains > maxDomains:
		return fmt.Errorf("domains %d: want 1 to %d", o.Domains, maxDomains)
	case o.Pages < o.Domains:
		return fmt.Errorf("pages %d: want at least one for each of %d domains", o.Pages, o.Domains)
	case o.MedianBytes < 1 || o.MeanBytes < o.MedianBytes:
		return fmt.Errorf("page sizes: median %d and mean %d: want 0 < median ≤ mean", o.MedianBytes, o.MeanBytes)
	case o.Links < 1:
		return fmt.Errorf("links %d: want at least 1", o.Links)
	case o.CrossLinks < 0 || o.CrossLinks > 1:
		return fmt.Errorf("cross links %v: want a share between 0 and 1", o.CrossLinks)
	case o.DeniedEvery < 0 || o.ErrorEvery < 0 || o.RedirectEvery < 0 || o.NoRobotsEvery < 0 || o.CrawlDelayEvery < 0:
		return fmt.Errorf("an interval (…Every) is negative")
	case o.CrawlDelay < 0:
		return fmt.Errorf("crawl delay %v is negative", o.CrawlDelay)
	}
	return nil
}
