package traps

import (
	"slices"
	"strings"

	"github.com/weftcrawl/weft/codecs/weftpb"
)

// Reason says why URLs are held back. The values are stable: they label metrics
// and records.
type Reason string

const (
	// Calendar is a template made of dates.
	Calendar Reason = "calendar"
	// Pagination is a template that numbers the pages of a list.
	Pagination Reason = "pagination"
	// Session is a template that tells visitors apart.
	Session Reason = "session"
	// Faceted is a template that combines parameters, as a search by facets does.
	Faceted Reason = "faceted"
	// SameContent is any other template.
	SameContent Reason = "same_content"
	// TooManyURLs is a template with as many URLs as the limit allows.
	TooManyURLs Reason = "too_many_urls"
	// TooManyPages is a domain with as many URLs as the limit allows.
	TooManyPages Reason = "too_many_pages"
)

// byContent tells whether the reason is what pages showed. The other reasons depend on a
// limit.
func (r Reason) byContent() bool { return r != TooManyURLs && r != TooManyPages }

// reasons in the order of their codes in the store, which never change.
var reasons = [...]Reason{"", Calendar, Pagination, Session, Faceted, SameContent}

// ShowsNothingNew tells whether e says that the page at a URL has the content of
// another page.
func ShowsNothingNew(e *weftpb.Evidence, url string) bool {
	content := e.Kind == weftpb.Evidence_KIND_CONTENT || e.Kind == weftpb.Evidence_KIND_EMPTY
	return content && e.Url == url && e.Distance <= sameContentDistance
}

// sameContentDistance is the largest distance from another page's content at which a
// page shows nothing new. At a larger distance pages may still look nearly the same, but
// may be pages of a shop: with a few sentences of their own, and long ones about
// delivery that all pages have.
const sameContentDistance = 1

// Looks is the kind of trap that a URL looks like, whatever it shows; SameContent if it
// does not look like any.
func Looks(url string) Reason {
	_, template := Of(url)
	return reasonOf(template)
}

// reasonOf names the kind of trap that a template is when its pages are all the same.
func reasonOf(template string) Reason {
	path, query, _ := strings.Cut(template, "?")
	segments := strings.Split(path, "/")[1:]
	var names []string
	if query != "" && query != anyQuery[1:] {
		names = strings.Split(query, "&")
	}
	switch {
	case hasSession(segments, names):
		return Session
	case hasCalendar(segments, names):
		return Calendar
	case hasPager(segments, names):
		return Pagination
	case len(names) > 1 || query == anyQuery[1:]:
		return Faceted
	}
	return SameContent
}

func hasSession(segments, names []string) bool {
	for i, s := range segments {
		_, parameter, _ := strings.Cut(s, ";")
		if s == hash && i < len(segments)-1 || sessions[parameter] {
			return true
		}
	}
	return anyOf(names, sessions)
}

func hasCalendar(segments, names []string) bool {
	for i, s := range segments {
		key, value, _ := strings.Cut(s, "=")
		switch {
		case strings.HasPrefix(s, date):
			return true
		case s == year && i+1 < len(segments) && strings.HasPrefix(segments[i+1], number):
			return true
		case i < len(segments)-1 && calendars[s], value != "" && calendars[key]:
			return true
		}
	}
	return anyOf(names, calendars)
}

func hasPager(segments, names []string) bool {
	for i, s := range segments {
		key, _, _ := strings.Cut(s, "=")
		name := strings.TrimRight(strings.TrimSuffix(key, number), "-_")
		follows := i+1 < len(segments) && strings.HasPrefix(segments[i+1], number)
		if pagers[name] && (name != s || follows) {
			return true
		}
	}
	return anyOf(names, pagers)
}

func anyOf(names []string, known map[string]bool) bool {
	return slices.ContainsFunc(names, func(name string) bool { return known[name] })
}
