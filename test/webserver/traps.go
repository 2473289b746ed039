package webserver

import (
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// TrapSite is a site with real pages, which link to every known kind of trap. A trap
// page has links to new pages without end, and no new content. A TrapSite does not
// change.
type TrapSite struct {
	domain string
	words  []string
}

// The real pages of a TrapSite besides its root, by kind.
const (
	trapArticles = 30
	trapMonths   = 24 // of the calendar, that have events
	trapListed   = 20 // pages of the list
	trapStations = 20 // that differ in their values
)

// NewTrapSite returns a site of one registrable domain. If that is not an address, the
// site answers for all its subdomains, and links to new ones without end.
func NewTrapSite(domain string) *TrapSite {
	return &TrapSite{domain: domain, words: strings.Fields(wordList)}
}

// Domains implements Site.
func (s *TrapSite) Domains() []string { return []string{s.domain} }

// Real are the paths of the pages that a crawl has to find.
func (s *TrapSite) Real() []string {
	real := []string{"/"}
	for n := range trapArticles {
		real = append(real, article(n))
	}
	for n := range trapMonths {
		real = append(real, month(n))
	}
	for n := range trapListed {
		real = append(real, list(n))
	}
	for n := range trapStations {
		real = append(real, station(n))
	}
	return real
}

func article(n int) string { return fmt.Sprintf("/articles/story-of-%s-%d.html", spelled(n), n) }
func month(n int) string   { return fmt.Sprintf("/calendar/%d/%02d/", 2025+n/12, n%12+1) }
func list(n int) string    { return fmt.Sprintf("/list?page=%d", n) }
func station(n int) string { return fmt.Sprintf("/station/%d", n) }
func grid(n int) string    { return gridMonth(n).Format("/plan/2006/01") }

func gridMonth(n int) time.Time { return time.Date(2030, time.Month(n+1), 1, 0, 0, 0, 0, time.UTC) }

func spelled(n int) string { return strings.Repeat("x", n%7+1) + string(rune('a'+n%26)) }

// Answer implements Site.
func (s *TrapSite) Answer(domain string, port int, path string, _ []byte) Response {
	u, err := url.ParseRequestURI(path)
	if err != nil || domain != s.domain && !strings.HasSuffix(domain, "."+s.domain) {
		return text(http.StatusNotFound, "not found\n")
	}
	if path == "/robots.txt" {
		return text(http.StatusNotFound, "not found\n")
	}
	first, rest, _ := strings.Cut(strings.TrimPrefix(u.Path, "/"), "/")
	q := u.Query()
	switch first {
	case "":
		return s.root(domain, port)
	case "articles":
		return s.article(path, rest)
	case "calendar":
		return s.month(rest)
	case "list":
		n, _ := strconv.Atoi(q.Get("page"))
		return s.list(n)
	case "session", "visit":
		return s.session(first, rest, q)
	case "facets":
		return s.facets(u.RawQuery)
	case "spiral":
		return s.page("spiral", "a/", "b/")
	case "random":
		return s.page("random", "/random/"+opaque(path, 1), "/random/"+opaque(path, 2), "/random/"+opaque(path, 3))
	case "table":
		return s.page("table", "/table?sort=name", "/table?sort=name&dir=desc", "/table?sort=size&dir=desc", "/table?dir=desc&sort=size")
	case "maze":
		n, _ := strconv.Atoi(rest)
		return Response{Status: http.StatusFound, Location: "/maze/" + strconv.Itoa(n+1)}
	case "lobby":
		return s.page("lobby", "/hop/"+opaque(path, 1), "/hop/"+opaque(path, 2))
	case "hop":
		return Response{Status: http.StatusFound, Location: "/lobby/" + opaque(path, 1)}
	case "plan":
		return bareMonth(rest)
	case "found":
		n, _ := strconv.Atoi(q.Get("page"))
		return document("Results", "<p>Nothing found.</p>", "/found?page="+strconv.Itoa(n+1))
	case "station":
		return measured(rest)
	case "echo":
		return s.page("echo", "/echo?q="+q.Get("q")+"+more", "/echo?q="+opaque(path, 1))
	case "sub":
		return s.page("sub", s.subdomain(domain, port, opaque(domain, 1)), s.subdomain(domain, port, opaque(domain, 2)))
	}
	// Each URL that does not exist has a page, with links to others below it.
	return s.page("soft", opaque(path, 1)+"/", opaque(path, 2)+"/")
}

func (s *TrapSite) root(domain string, port int) Response {
	links := []string{
		month(0), list(0), "/session/start/home", "/visit?token=0&page=home", "/facets?color=red", "/spiral/", "/nowhere/",
		"/random/start", "/table?sort=name", "/maze/1", "/echo?q=a", "/lobby/start", grid(0), "/found?page=1", station(0),
	}
	for n := range trapArticles {
		links = append(links, article(n))
	}
	if _, err := netip.ParseAddr(s.domain); err != nil {
		links = append(links, s.subdomain(domain, port, "first"))
	}
	return s.page("root", links...)
}

func (s *TrapSite) subdomain(_ string, port int, name string) string {
	return Origin("n"+name+"."+s.domain, port) + "/sub"
}

// article is a page, and its version to be printed.
func (s *TrapSite) article(path, name string) Response {
	for n := range trapArticles {
		if strings.HasPrefix(path, article(n)) && strings.HasPrefix(article(n), "/articles/"+name) {
			return s.page("article "+strconv.Itoa(n), "/", article((n+1)%trapArticles), article(n)+"?print=1")
		}
	}
	return text(http.StatusNotFound, "not found\n")
}

func (s *TrapSite) month(path string) Response {
	var year, number int
	if _, err := fmt.Sscanf(path, "%d/%d/", &year, &number); err != nil {
		return text(http.StatusNotFound, "not found\n")
	}
	n := (year-2025)*12 + number - 1
	about := "no events"
	if n >= 0 && n < trapMonths {
		about = "events of month " + strconv.Itoa(n)
	}
	links := []string{"/", month(n + 1)}
	if n > 0 {
		links = append(links, month(n-1))
	}
	return s.page(about, links...)
}

func (s *TrapSite) list(n int) Response {
	about := "end of the list"
	if n < trapListed {
		about = "part of the list " + strconv.Itoa(n)
	}
	return s.page(about, "/", list(n+1))
}

// bareMonth is a month of a calendar that has nothing in it, not even many words.
func bareMonth(path string) Response {
	month, err := time.Parse("2006/01", path)
	if err != nil {
		return text(http.StatusNotFound, "not found\n")
	}
	var days strings.Builder
	for n := range month.AddDate(0, 1, -1).Day() {
		fmt.Fprintf(&days, "<td>%d", n+1)
	}
	n := (month.Year()-2030)*12 + int(month.Month()) - 1
	return document(month.Format("January 2006"), "<table><tr><th>Mo<th>Tu<th>We<th>Th<th>Fr<th>Sa<th>Su<tr>"+days.String()+"</table>", grid(n-1), grid(n+1))
}

// measured is a page of numbers. Its words are the same for all stations.
func measured(path string) Response {
	n, err := strconv.Atoi(path)
	if err != nil || n < 0 || n >= trapStations {
		return text(http.StatusNotFound, "not found\n")
	}
	var values strings.Builder
	h := mix(station(n))
	for range 200 {
		h = h*0x9e3779b97f4a7c15 + 0xd1b54a32d192ed03
		fmt.Fprintf(&values, "<td>%d", h>>48)
	}
	about := "<p>Temperature, wind, rain and pressure as this station of the weather service has measured them each day since it was built.</p>"
	return document("Station "+path, about+"<table><tr>"+values.String()+"</table>", station((n+1)%trapStations))
}

// session is one of three pages under a name that changes with each look.
func (s *TrapSite) session(kind, path string, q url.Values) Response {
	name, at := q.Get("page"), q.Get("token")
	if kind == "session" {
		at, name, _ = strings.Cut(path, "/")
	}
	var links []string
	for i, to := range []string{"home", "news", "contact"} {
		if kind == "session" {
			links = append(links, "/session/"+opaque(at, i)+"/"+to)
		} else {
			links = append(links, "/visit?token="+opaque(at, i)+"&page="+to)
		}
	}
	return s.page(kind+" "+name, links...)
}

// facets has links that add one facet to the query, in front or behind.
func (s *TrapSite) facets(query string) Response {
	var links []string
	for _, facet := range []string{"color", "size", "brand", "price"} {
		for _, value := range []string{"1", "2", "3"} {
			if !strings.Contains(query, facet+"="+value) && strings.Count(query, "&") < 12 {
				links = append(links, "/facets?"+query+"&"+facet+"="+value, "/facets?"+facet+"="+value+"&"+query)
			}
		}
	}
	return s.page("facets", links...)
}

func document(title, body string, links ...string) Response {
	var b strings.Builder
	fmt.Fprintf(&b, "<!doctype html><html lang=en><head><title>%s</title></head><body><h1>%s</h1>%s", title, title, body)
	for _, link := range links {
		fmt.Fprintf(&b, "<a href=\"%s\">on</a>\n", link)
	}
	b.WriteString("</body></html>")
	return Response{Status: http.StatusOK, Type: htmlType, Body: []byte(b.String())}
}

// page is a page whose text depends only on what it is about.
func (s *TrapSite) page(about string, links ...string) Response {
	var b strings.Builder
	b.WriteString("<!doctype html><html lang=en><head><title>" + about + "</title></head><body><p>")
	h := mix(about)
	for range 150 {
		h = h*0x9e3779b97f4a7c15 + 0xd1b54a32d192ed03
		b.WriteString(s.words[(h>>33)%uint64(len(s.words))] + " ")
	}
	b.WriteString("</p>")
	for i, link := range links {
		fmt.Fprintf(&b, "<a href=\"%s\">%s</a>\n", strings.ReplaceAll(link, "&", "&amp;"), s.words[i%len(s.words)])
	}
	b.WriteString("</body></html>")
	return Response{Status: http.StatusOK, Type: htmlType, Body: []byte(b.String())}
}

// opaque is the i-th identifier that follows from a text.
func opaque(text string, i int) string {
	return fmt.Sprintf("%016x", mix(text+"/"+strconv.Itoa(i))|1<<63)
}

// mix is FNV-1a of 64 bits, mixed once more.
func mix(text string) uint64 {
	h := uint64(0xcbf29ce484222325)
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * 0x100000001b3
	}
	return (h ^ h>>29) * 0xbf58476d1ce4e5b9
}
