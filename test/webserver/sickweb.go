package webserver

import (
	"bytes"
	"fmt"
	"html"
	"iter"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/publicsuffix"
)

// Host is a name of a web of SickOptions.
type Host struct {
	Name string
	// Domain is the registrable domain.
	Domain string
	// Sickness of the host; its Kind is empty if the host is healthy.
	Sickness

	address   string // IP address
	site      Site   // its pages, at the domain inside
	inside    string
	mu        sync.Mutex
	permitted []time.Time // requests of a host that limits them
}

// Healthy tells whether nothing is wrong with the host.
func (h *Host) Healthy() bool { return h.Kind == "" }

// sickWeb is what a SickServer serves: hosts, their pages, and the links between hosts.
type sickWeb struct {
	options SickOptions
	hosts   []*Host // healthy ones, sick ones, dead names
	byName  map[string]*Host
	// in has the hosts of each registrable domain.
	in   map[string][]*Host
	sick *Generated // pages of sick hosts
}

// newSickWeb lays out the hosts.
func newSickWeb(o SickOptions) (*sickWeb, error) {
	w := &sickWeb{options: o, byName: map[string]*Host{}, in: map[string][]*Host{}}
	if err := w.addHealthy(); err != nil {
		return nil, err
	}
	var domains []string
	for _, h := range w.hosts {
		if len(w.in[h.Domain]) > 0 && w.in[h.Domain][0] == h {
			domains = append(domains, h.Domain)
		}
	}
	var err error
	w.sick, err = NewGenerated(Options{
		Seed: o.Seed + 1, Pages: o.Sick * o.SickPages, Domains: o.Sick, MedianBytes: o.MedianBytes, MeanBytes: o.MeanBytes,
	})
	if err != nil {
		return nil, err
	}
	for n := range o.Sick {
		s, _ := sicknessOf(o.Kinds[n%len(o.Kinds)])
		domain := domains[n%len(domains)]
		w.add(&Host{
			Name: fmt.Sprintf("%s-%d.%s", s.Kind, n/len(o.Kinds)+1, domain), Domain: domain, Sickness: s, site: w.sick, inside: DomainAddr(n),
		})
	}
	dead, _ := sicknessOf(Dead)
	for n := range o.Dead {
		domain := domains[n%len(domains)]
		w.add(&Host{Name: fmt.Sprintf("%s-%d.%s", Dead, n+1, domain), Domain: domain, Sickness: dead})
	}
	return w, nil
}

func (w *sickWeb) add(h *Host) {
	h.address = DomainAddr(len(w.hosts) % maxDomains) // dead names use none
	w.hosts = append(w.hosts, h)
	w.byName[h.Name] = h
	w.in[h.Domain] = append(w.in[h.Domain], h)
}

// addHealthy adds the healthy hosts, with generated pages or with the folders of Docs.
func (w *sickWeb) addHealthy() error {
	o := w.options
	if o.Docs == "" {
		pages, err := NewGenerated(Options{
			Seed: o.Seed, Pages: o.Healthy * o.Pages, Domains: o.Healthy, MedianBytes: o.MedianBytes, MeanBytes: o.MeanBytes,
		})
		if err != nil {
			return err
		}
		for n := range o.Healthy {
			domain := fmt.Sprintf("d%02d.test", n%o.Domains)
			w.add(&Host{Name: fmt.Sprintf("docs-%d.%s", n/o.Domains+1, domain), Domain: domain, site: pages, inside: DomainAddr(n)})
		}
		return nil
	}
	entries, err := os.ReadDir(o.Docs)
	if err != nil {
		return fmt.Errorf("serve documents: %w", err)
	}
	var folders []*Tree
	for _, e := range entries {
		if tree, err := NewTree(TreeOptions{Dir: filepath.Join(o.Docs, e.Name())}); err == nil { // a file has no host
			folders = append(folders, tree)
		}
	}
	if len(folders) == 0 {
		return fmt.Errorf("serve documents: no folder in %s", o.Docs)
	}
	for n := range o.Healthy {
		tree := folders[n%len(folders)]
		name := strings.ToLower(filepath.Base(tree.options.Dir))
		if n < len(folders) && strings.Contains(name, ".") {
			domain, err := publicsuffix.EffectiveTLDPlusOne(name)
			if err != nil {
				return fmt.Errorf("serve documents: %w", err)
			}
			w.add(&Host{Name: name, Domain: domain, site: tree, inside: DomainAddr(0)})
			continue
		}
		domain := fmt.Sprintf("d%02d.test", n%o.Domains)
		name = fmt.Sprintf("%s-%d.%s", strings.Map(label, name), n/o.Domains+1, domain)
		w.add(&Host{Name: name, Domain: domain, site: tree, inside: DomainAddr(0)})
	}
	return nil
}

// label replaces what a label of a name may not have.
func label(r rune) rune {
	if 'a' <= r && r <= 'z' || '0' <= r && r <= '9' {
		return r
	}
	return '-'
}

// records are what the name server knows.
func (w *sickWeb) records() map[string]record {
	records := map[string]record{}
	for _, h := range w.hosts {
		records[h.Name] = record{netip.MustParseAddr(h.address), h.name}
	}
	return records
}

// port of a host, if healthy hosts have the port http.
func (h *Host) port(http int) int {
	if h.tls && http == 80 {
		return 443
	}
	return http
}

// url of a path of a host.
func (h *Host) url(http int, path string) string {
	scheme, standard := "http", 80
	if h.tls {
		scheme, standard = "https", 443
	}
	if port := h.port(http); port != standard {
		return fmt.Sprintf("%s://%s:%d%s", scheme, h.Name, port, path)
	}
	return scheme + "://" + h.Name + path
}

// Domains implements Site.
func (w *sickWeb) Domains() (names []string) {
	for _, h := range w.hosts {
		if h.Healthy() {
			names = append(names, h.Name)
		}
	}
	return names
}

// healthy is the answer of a host as if nothing were wrong with it.
func (w *sickWeb) healthy(h *Host, port int, path string, buf []byte) Response {
	r := h.site.Answer(h.inside, port, path, buf)
	if r.Status == http.StatusOK && strings.HasPrefix(r.Type, "text/html") {
		r.Body = inject(r.Body, w.links(h, port, path))
	}
	return r
}

// links are those that a page has besides its own.
func (w *sickWeb) links(h *Host, port int, path string) (links []string) {
	if !h.Healthy() {
		if path == "/" {
			for n := range w.options.SickPages {
				links = append(links, w.sickPath(h, n))
			}
		}
		return links
	}
	draw := mix(fmt.Sprint(h.Name, path, w.options.Seed))
	next := func(n int) int {
		draw = draw*0x9e3779b97f4a7c15 + 0xd1b54a32d192ed03
		return int(draw >> 33 % uint64(n))
	}
	if other := w.hosts[next(w.options.Healthy)]; other != h {
		links = append(links, other.url(port, "/"))
	}
	if w.options.Unlinked {
		return links
	}
	link := func(to *Host, path string) {
		if w.options.Replaced {
			to, path = w.insteadOf(to)
		}
		links = append(links, to.url(port, path))
	}
	if path == "/" {
		for _, other := range w.in[h.Domain] {
			if !other.Healthy() {
				link(other, "/")
			}
		}
	}
	from := w.options.Healthy
	sick := w.hosts[from+next(w.options.Sick)]
	link(sick, w.sickPath(sick, next(w.options.SickPages)))
	for range 2 {
		link(w.hosts[from+w.options.Sick+next(w.options.Dead)], fmt.Sprintf("/%d.html", next(8)))
	}
	return links
}

// insteadOf returns the page of a healthy host that is linked in the place of a host.
func (w *sickWeb) insteadOf(h *Host) (healthy *Host, path string) {
	n := int(mix(h.Name) % uint64(w.options.Healthy))
	healthy = w.hosts[n]
	if pages, ok := healthy.site.(*Generated); ok {
		return healthy, pages.path(n, int(mix(h.Name+"/")%uint64(pages.pages(n))))
	}
	return healthy, "/"
}

// sickPath is the path of page n of a sick host.
func (w *sickWeb) sickPath(h *Host, n int) string {
	d, _ := domainNumber(h.inside)
	return w.sick.path(d, n)
}

// inject puts links at the begin of a page's body.
func inject(page []byte, links []string) []byte {
	var b bytes.Buffer
	b.WriteString("\n<ul>")
	for _, l := range links {
		fmt.Fprintf(&b, "<li><a href=\"%s\">see also</a></li>\n", html.EscapeString(l))
	}
	b.WriteString("</ul>\n")
	at := len(page)
	if i := bytes.Index(bytes.ToLower(page[:min(len(page), 32<<10)]), []byte("<body")); i >= 0 {
		if end := bytes.IndexByte(page[i:], '>'); end >= 0 {
			at = i + end + 1
		}
	}
	return append(append(append(make([]byte, 0, len(page)+b.Len()), page[:at]...), b.Bytes()...), page[at:]...)
}

// answer is the answer of a host, sick or not.
func (s *SickServer) answer(domain string, port int, path string, buf []byte) Response {
	h := s.web.byName[domain]
	if h == nil || h.site == nil {
		return text(http.StatusMisdirectedRequest, "no such host\n")
	}
	r := s.web.healthy(h, port, path, buf)
	if h.answer == nil {
		return r
	}
	n := -1
	if d, ok := domainNumber(h.inside); ok {
		if page, ok := s.web.sick.number(d, path); ok {
			n = page
		}
	}
	return h.answer(s, h, n, path, r)
}

// pages yields the pages of healthy hosts that links reach, by host and path.
func (w *sickWeb) pages() iter.Seq2[string, string] {
	linked := map[*Tree][]string{}
	return func(yield func(host, path string) bool) {
		for n, h := range w.hosts[:w.options.Healthy] {
			switch site := h.site.(type) {
			case *Generated:
				for page := range site.pages(n) {
					if !yield(h.Name, site.path(n, page)) {
						return
					}
				}
			case *Tree:
				if linked[site] == nil {
					linked[site] = site.Linked()
				}
				for _, path := range linked[site] {
					if !yield(h.Name, path) {
						return
					}
				}
			}
		}
	}
}
