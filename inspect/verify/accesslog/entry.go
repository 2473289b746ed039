package accesslog

import (
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/weftcrawl/weft/internal/urls"
)

// Entry is one request. Start and End are microseconds since 1970, and the same
// in formats without durations.
type Entry struct {
	Start, End int64
	// Host is the requested name, lower case, without a port; empty if the format has no
	// host.
	Host string
	// Path with the query, as in the request.
	Path   string
	Status int
	Agent  string
	// Server is the address that the request came to; not valid in formats without it.
	Server netip.Addr
}

// Format is a format of lines. Named returns one; the zero value is not valid.
type Format struct {
	Name string
	// Durations: entries have start and end.
	Durations bool
	// Tolerance is by how much an interval may be too short because the format cuts its
	// times, or its server writes them late.
	Tolerance time.Duration

	parse func(line string) (Entry, error)
}

// formats are the known formats. nginx reads its clock once for each turn of its event loop, and Caddy
// reads it after the response was sent: the client may have continued by then.
var formats = []Format{
	{"combined", false, time.Second, combined},
	{"vcombined", false, time.Second, vcombined},
	{"nginx-msec", true, 10 * time.Millisecond, nginx},
	{"nginx-tabs", true, 10 * time.Millisecond, tabs},
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

// Parse reads one line, without its end. An error means that the line is not of the format.
func (f Format) Parse(line string) (Entry, error) {
	e, err := f.parse(line)
	e.Host = strings.ToLower(urls.WithoutPort(e.Host))
	return e, err
}
