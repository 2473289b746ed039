package variants

import (
	"strings"

	"github.com/weftcrawl/weft/internal/urls"
)

const www = "www."

// Site is where rules are learnt: the host with its port, without "www." in front, if the rest
// belongs to the same registrable domain and does not begin with "www." itself.
func Site(u urls.URL, domain string) string { return siteOfHost(u.Host(), domain) }

// siteOf is Site of a canonical URL that was not parsed; "" if it is not a URL.
func siteOf(url, domain string) string { return siteOfHost(urls.AuthorityOf(url), domain) }

func siteOfHost(host, domain string) string {
	bare, ok := strings.CutPrefix(host, www)
	if !ok || strings.HasPrefix(bare, www) || !urls.IsBelow(urls.WithoutPort(bare), domain) {
		return host
	}
	return bare
}

// Apply returns the variant into which rules merge u, a URL of a registrable domain,
// and the rules that were needed: none when the variant is u itself. u stays as it
// is if the result would not be a URL.
//
// The scheme comes first, then the host, the index file and the slash, so that
// the result is a fixed point, unless a rule and its opposite are both given.
func Apply(rules Set, u urls.URL, domain string) (kept urls.URL, used Set) {
	scheme, host, path := u.Scheme(), u.Host(), u.Path()
	query := u.PathAndQuery()[len(path):]
	switch other := otherScheme(u); {
	case rules.Has(HTTPS) && other == "https":
		scheme, used = other, used|of(HTTPS)
	case rules.Has(HTTP) && other == "http":
		scheme, used = other, used|of(HTTP)
	}
	switch bare := Site(u, domain); {
	case rules.Has(NoWWW) && bare != host:
		host, used = bare, used|of(NoWWW)
	case rules.Has(WWW) && bare == host && named(u.Hostname()) && !strings.HasPrefix(host, www):
		host, used = www+host, used|of(WWW)
	}
	if r, ok := indexRule(path); ok && rules.Has(r) {
		path, used = directory(path), used|of(r)
	}
	switch {
	case rules.Has(Slash) && slashable(path):
		path, used = path+"/", used|of(Slash)
	case rules.Has(NoSlash) && unslashable(path):
		path, used = path[:len(path)-1], used|of(NoSlash)
	}
	if used == 0 {
		return u, 0
	}
	kept, refusal := urls.Parse(scheme + "://" + host + path + query)
	if refusal != urls.Accepted {
		return u, 0
	}
	return kept, used
}

// Between returns the rules by which from is merged into to; none when it is not.
func Between(from, to urls.URL, domain string) Set {
	if from == to {
		return 0
	}
	var origin Set
	switch {
	case from.Scheme() == to.Scheme():
	case to.Scheme() == "https":
		origin = of(HTTPS)
	default:
		origin = of(HTTP)
	}
	switch {
	case from.Host() == to.Host():
	case strings.HasPrefix(from.Host(), www):
		origin |= of(NoWWW)
	default:
		origin |= of(WWW)
	}
	paths := []Set{0}
	if from.Path() != to.Path() {
		paths = []Set{of(Slash), of(NoSlash)}
		if index, ok := indexRule(from.Path()); ok {
			paths = append(paths, of(index), of(index, NoSlash))
		}
	}
	for _, path := range paths {
		if kept, used := Apply(origin|path, from, domain); kept == to && used == origin|path {
			return used
		}
	}
	return 0
}

// Related tells whether rules could merge one of two URLs of a domain into the other.
func Related(a, b urls.URL, domain string) bool {
	return a != b && (Between(a, b, domain) != 0 || Between(b, a, domain) != 0)
}

// slashes are the rules that change where relative links lead: "b" at /a is another
// URL than "b" at /a/, and the same as "b" at /a/index.html is that at /a/.
const slashes = Set(1<<Slash | 1<<NoSlash)

// OtherSlash returns the URL that slash or no-slash makes of u; false when neither
// applies.
func OtherSlash(u urls.URL) (other urls.URL, ok bool) {
	other, used := Apply(of(Slash), u, "")
	if used == 0 {
		other, used = Apply(of(NoSlash), u, "")
	}
	return other, used != 0
}

// named tells a name from an address or a single label, which have no "www.".
func named(host string) bool {
	last := host[strings.LastIndexByte(host, '.')+1:]
	return last != host && !strings.HasPrefix(host, "[") && strings.Trim(last, "0123456789") != ""
}

func lastSegment(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

func directory(path string) string { return path[:len(path)-len(lastSegment(path))] }

// indexRule is the rule about the last segment of a path.
func indexRule(path string) (Rule, bool) {
	last := lastSegment(path)
	for i, file := range indexFiles {
		if last == file {
			return firstIndex + Rule(i), true
		}
	}
	return 0, false
}

func slashable(path string) bool {
	last := lastSegment(path)
	return last != "" && !strings.Contains(last, ".")
}

// unslashable tells whether a path can lose its final slash. The root cannot, and neither can a
// path that ends with an empty segment, or a path that would then end with an index file.
func unslashable(path string) bool {
	if len(path) == 1 || !strings.HasSuffix(path, "/") || strings.HasSuffix(path, "//") {
		return false
	}
	_, index := indexRule(path[:len(path)-1])
	return !index
}
