package warc

import (
	"cmp"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// SURT returns the key by which indexes are sorted: the host from its top-level domain on, and path
// and query in lower case. It is the key of pywb and cdxj-indexer, as DefaultIAURLCanonicalizer of
// surt 0.3.1 (https://github.com/internetarchive/surt) makes it of a canonical URL.
//
// Scheme, user, www., default ports, session ids and a slash at the end of the path are left out.
// Escapes are undone until there are none. Then blanks, control characters, bytes above 0x7e, # and %
// are escaped, dot segments and repeated slashes removed, and parameters sorted. A key has no blank.
func SURT(target string) string {
	target, _, _ = strings.Cut(target, "#")
	target, query, _ := strings.Cut(target, "?")
	scheme, rest := "http", target
	if known := hasScheme.FindString(target); known != "" {
		scheme, rest = strings.ToLower(known[:len(known)-1]), target[len(known):]
		if !strings.HasPrefix(rest, "//") { // dns:example.com
			return scheme + ":" + pathKey(unescaped(rest)) + queryKey(query)
		}
		rest = rest[len("//"):]
	}
	end := strings.IndexByte(rest, '/')
	if end < 0 {
		end = len(rest)
	}
	return hostKey(scheme, rest[:end]) + ")" + pathKey(withoutDots(unescaped(rest[end:]))) + queryKey(query)
}

// Keys are the keys that a URL may have in an index: SURT, and the key that earlier versions wrote, if
// it is another one.
func Keys(target string) []string {
	return slices.Compact([]string{SURT(target), formerSURT(target)})
}

var (
	hasScheme = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9+.-]*:`)
	www       = regexp.MustCompile(`^www\d*\.`)
)

// hostKey is the key of an authority: its labels from the last to the first, and its port.
func hostKey(scheme, authority string) string {
	authority = authority[strings.LastIndexByte(authority, '@')+1:]
	host, port, _ := strings.Cut(authority, ":")
	if address, isIPv6 := strings.CutPrefix(authority, "["); isIPv6 {
		host, port, _ = strings.Cut(address, "]")
		port = strings.TrimPrefix(port, ":")
	}
	host = strings.Trim(strings.ReplaceAll(unescaped(host), "..", "."), ".")
	labels := strings.Split(www.ReplaceAllString(escapedLower(host), ""), ".")
	slices.Reverse(labels) // an IPv6 address is one label
	key := strings.Join(labels, ",")
	if port != "" && port != defaultPorts[scheme] {
		key += ":" + escapedLower(port)
	}
	return key
}

var defaultPorts = map[string]string{"http": "80", "https": "443"}

// pathKey is the key of a path without escapes.
func pathKey(path string) string {
	path = escapedLower(path)
	if strings.Contains(path, ".aspx") {
		for _, session := range pathSessions {
			path = session.ReplaceAllString(path, "$1$2")
		}
	}
	if len(path) > 1 {
		path = strings.TrimSuffix(path, "/")
	}
	return path
}

// pathSessions are session ids of ASP.NET in paths.
var pathSessions = []*regexp.Regexp{
	regexp.MustCompile(`^(.*/)\((?:[a-z]\([0-9a-z]{24}\))+\)/([^?]+\.aspx.*)$`),
	regexp.MustCompile(`^(.*/)\([0-9a-z]{24}\)/([^?]+\.aspx.*)$`),
}

// withoutDots removes dot segments and repeated slashes. Like surt it keeps a .. that has nothing
// before it, and removes the slash behind a dot segment at the end.
func withoutDots(path string) string {
	var kept []string
	segments := strings.Split(path, "/")
	for _, segment := range segments[1:] { // before the first slash there is nothing
		switch {
		case segment == ".":
		case segment == ".." && len(kept) > 0:
			kept = kept[:len(kept)-1]
		default:
			kept = append(kept, segment)
		}
	}
	if len(kept) == 0 {
		return "/"
	}
	last := len(kept) - 1
	directories := slices.DeleteFunc(slices.Clone(kept[:last]), func(s string) bool { return s == "" })
	return "/" + strings.Join(append(directories, kept[last]), "/")
}

// queryKey is the key of a query, with its question mark; empty: nothing is left of it.
func queryKey(query string) string {
	query = escapedLower(unescaped(query))
	for _, session := range querySessions {
		if strings.Contains(query, session.name) {
			query = session.is.ReplaceAllString(query, "$1$2")
		}
	}
	if query == "" {
		return ""
	}
	parameters := strings.Split(query, "&")
	slices.SortFunc(parameters, compareParameters)
	return "?" + strings.Join(parameters, "&")
}

// querySessions are session ids in queries, in the order in which they are removed. The search for
// name saves time.
var querySessions = []struct {
	name string
	is   *regexp.Regexp
}{
	{"jsessionid=", regexp.MustCompile(`^(.*)jsessionid=[0-9a-z]{32}(?:&(.*))?$`)},
	{"phpsessid=", regexp.MustCompile(`^(.*)phpsessid=[0-9a-z]{32}(?:&(.*))?$`)},
	{"sid=", regexp.MustCompile(`^(.*)sid=[0-9a-z]{32}(?:&(.*))?$`)},
	{"aspsessionid", regexp.MustCompile(`^(.*)aspsessionid[a-z]{8}=[a-z]{24}(?:&(.*))?$`)},
	{"cftoken=", regexp.MustCompile(`^(.*)cfid=[^&]+&cftoken=[^&]+(?:&(.*))?$`)},
}

// compareParameters compares names and then values. A parameter without = is before an empty value.
func compareParameters(a, b string) int {
	nameA, valueA, _ := strings.Cut(a, "=")
	nameB, valueB, _ := strings.Cut(b, "=")
	return cmp.Or(strings.Compare(nameA, nameB), strings.Compare(valueA, valueB), len(a)-len(b))
}

// unescaped undoes percent-encoding until there is none.
func unescaped(s string) string {
	for strings.IndexByte(s, '%') >= 0 {
		next := unescapedOnce(s)
		if len(next) == len(s) {
			break
		}
		s = next
	}
	return s
}

// unescapedOnce leaves a % that is not before two hexadecimal digits.
func unescapedOnce(s string) string {
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if c, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				b = append(b, byte(c))
				i += 2
				continue
			}
		}
		b = append(b, s[i])
	}
	return string(b)
}

// escapedLower escapes what a key may not have, and writes the rest in lower case.
func escapedLower(s string) string {
	b := make([]byte, 0, len(s))
	for i := range len(s) {
		switch c := s[i]; {
		case c <= ' ' || c >= 0x7f || c == '#' || c == '%':
			b = fmt.Appendf(b, "%%%02x", c)
		case 'A' <= c && c <= 'Z':
			b = append(b, c+'a'-'A')
		default:
			b = append(b, c)
		}
	}
	return string(b)
}

// formerSURT is the key that earlier versions wrote. Their indexes stay as they are.
func formerSURT(target string) string {
	u, err := url.Parse(target)
	if err != nil || u.Host == "" {
		return strings.ToLower(target)
	}
	labels := strings.Split(www.ReplaceAllString(strings.ToLower(u.Hostname()), ""), ".")
	slices.Reverse(labels)
	key := strings.Join(labels, ",")
	if port := u.Port(); port != "" && port != defaultPorts[u.Scheme] {
		key += ":" + port
	}
	path := strings.ToLower(u.EscapedPath())
	if path = strings.TrimSuffix(path, "/"); path == "" {
		path = "/"
	}
	key += ")" + path
	if u.RawQuery != "" {
		parameters := strings.Split(strings.ToLower(u.RawQuery), "&")
		slices.Sort(parameters)
		key += "?" + strings.Join(parameters, "&")
	}
	return key
}
