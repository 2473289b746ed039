package accesslog

import (
	"fmt"
	"strings"
	"time"
)

// Entry is one request. Start and End are microseconds since 1970, and the same
// in formats without durations.
type Entry struct {
	Start, End int64
	// Host is the name that was asked for, lower case, without a port; empty
	// if the format has none.
	Host string
	// Path with the query, as it was asked for.
	Path   string
	Status int
	Agent  string
}

// Format is how lines are read. The zero value is none; ask Named.
type Format struct {
	Name string
	// Durations: entries tell start and end.
	Durations bool
	// Tolerance is what may be missing from an interval because the format
	// cuts its times, or its server stamps them late.
	Tolerance time.Duration

	parse func(line string) (Entry, error)
}

// formats are those that are known. nginx reads its clock once for each turn of
// its event loop, and Caddy stamps after the response has left: the client may
// have gone on by then.
var formats = []Format{
	{"combined", false, time.Second, combined},
	{"vcombined", false, time.Second, vcombined},
	{"nginx-msec", true, 10 * time.Millisecond, nginx},
	{"json", true, 10 * time.Millisecond, jsonLine},
	{"caddy", true, 10 * time.Millisecond, caddy},
	{"weft", true, time.Millisecond, weft},
}

// Names are the names of the formats.
func Names() []string {
	names := make([]string, len(formats))
	for i, f := range formats {
		names[i] = f.Name
	}
	return names
}

// Named returns the format of that name.
func Named(name string) (Format, error) {
	for _, f := range formats {
		if f.Name == name {
			return f, nil
		}
	}
	return Format{}, fmt.Errorf("no format %q of access logs: %s", name, strings.Join(Names(), ", "))
}

// Parse reads one line, without its end. An error says that it is none of the
// format.
func (f Format) Parse(line string) (Entry, error) {
	e, err := f.parse(line)
	e.Host = strings.ToLower(withoutPort(e.Host))
	return e, err
}

// withoutPort cuts the port off a host; an IPv6 address keeps its brackets.
func withoutPort(host string) string {
	colon := strings.LastIndexByte(host, ':')
	if colon < 0 || colon < strings.LastIndexByte(host, ']') {
		return host
	}
	return host[:colon]
}
