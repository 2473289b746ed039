package traps

import "strings"

// Reason says why URLs are held back. The values are stable: they label metrics
// and records.
type Reason string

const (
	// Calendar is a template made of dates.
	Calendar Reason = "calendar"
	// Pagination is one that numbers the pages of a list.
	Pagination Reason = "pagination"
	// Session is one that tells visitors apart.
	Session Reason = "session"
	// Faceted is one that combines parameters, as a search by facets does.
	Faceted Reason = "faceted"
	// SameContent is one that is none of these.
	SameContent Reason = "same_content"
	// TooManyURLs is one that has as many URLs as one may have.
	TooManyURLs Reason = "too_many_urls"
	// TooManyPages is a domain that has as many URLs as one may have.
	TooManyPages Reason = "too_many_pages"
)

// byContent tells whether the reason is what pages showed; the others hold as long
// as a limit does.
func (r Reason) byContent() bool { return r != TooManyURLs && r != TooManyPages }

// reasons in the order of their codes in the store, which never change.
var reasons = [...]Reason{"", Calendar, Pagination, Session, Faceted, SameContent}

// Looks is what a URL would be held back as, whatever it shows: SameContent if it
// looks like nothing that servers make without end.
func Looks(url string) Reason {
	_, template := Of(url)
	return reasonOf(template)
}

// reasonOf names what a template whose pages are all the same is.
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
		if s == hash && i < len(segments)-1 || sessions[after(s, ';')] {
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
	for _, name := range names {
		if known[name] {
			return true
		}
	}
	return false
}

func after(s string, mark byte) string {
	if i := strings.IndexByte(s, mark); i >= 0 {
		return s[i+1:]
	}
	return ""
}
