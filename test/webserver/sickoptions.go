package webserver

import (
	"fmt"
	"time"
)

// SickOptions describe a web of names in which healthy hosts, sick hosts and dead names share
// registrable domains. Fields that are zero get a default.
type SickOptions struct {
	// Seed of everything that is drawn.
	Seed uint64
	// Domains are registrable domains; hosts of each sort are spread over them. Default 2.
	Domains int
	// Healthy, Sick and Dead are the numbers of hosts of each sort. Defaults: 4, one of each
	// kind of Sicknesses but Dead, and 10.
	Healthy, Sick, Dead int
	// Kinds of the sick hosts, in turn. Default: all of Sicknesses but Dead.
	Kinds []string
	// Pages of a healthy host, and SickPages of a sick host that answers. Defaults 50 and 60.
	Pages, SickPages int
	// MedianBytes and MeanBytes of generated pages, as in Options.
	MedianBytes, MeanBytes int
	// Docs is a directory whose folders are served instead of generated pages: each folder
	// has the documents of one healthy host. A folder whose name has a dot is a host of that
	// name. If there are fewer folders than hosts, several hosts serve the same folder.
	Docs string
	// Unlinked leaves the links to sick hosts and dead names out. All else is the same.
	Unlinked bool
	// Replaced makes each link to a sick host or a dead name lead to one page of a healthy host,
	// so that pages have as many links as with sick hosts. Other hosts get other pages.
	Replaced bool

	// Port of all hosts; 0 picks a free one. Hosts with TLS have the same port at addresses
	// of their own, or 443 if Port is 80.
	Port int
	// NameServer is the UDP address of the name server. Default 127.0.0.1, at a free port.
	NameServer string

	// OutageFrom and OutageUntil are the outage of the kind outage, since the start of the
	// web. Default until 3 s.
	OutageFrom, OutageUntil time.Duration
	// BusyUntil is until when the kind busy-503-retry-after is busy. Default 3 s.
	BusyUntil time.Duration
	// Permits are the requests that the kinds limit-… permit in a Window. Defaults: 10, a minute.
	Permits int
	Window  time.Duration
	// SlowEvery is the time between two bytes of the kind slow-body. Default 1 s.
	SlowEvery time.Duration
}

// WithDefaults returns o with its zero fields set.
func (o SickOptions) WithDefaults() SickOptions {
	if len(o.Kinds) == 0 {
		for _, k := range Sicknesses() {
			if k.Kind != Dead {
				o.Kinds = append(o.Kinds, k.Kind)
			}
		}
	}
	for _, n := range []struct {
		value *int
		what  int
	}{
		{&o.Domains, 2}, {&o.Healthy, 4}, {&o.Sick, len(o.Kinds)}, {&o.Dead, 10}, {&o.Pages, 50}, {&o.SickPages, 60}, {&o.Permits, 10},
	} {
		if *n.value == 0 {
			*n.value = n.what
		}
	}
	for _, d := range []struct {
		value *time.Duration
		what  time.Duration
	}{
		{&o.OutageUntil, 3 * time.Second}, {&o.BusyUntil, 3 * time.Second}, {&o.Window, time.Minute}, {&o.SlowEvery, time.Second},
	} {
		if *d.value == 0 {
			*d.value = d.what
		}
	}
	if o.Seed == 0 {
		o.Seed = 1
	}
	if o.NameServer == "" {
		o.NameServer = "127.0.0.1:0"
	}
	return o
}

// Validate reports options that cannot describe a web.
func (o SickOptions) Validate() error {
	for _, n := range []struct {
		name         string
		value, least int
	}{
		{"domains", o.Domains, 1}, {"healthy hosts", o.Healthy, 1}, {"sick hosts", o.Sick, 1}, {"dead names", o.Dead, 1},
		{"pages", o.Pages, 1}, {"pages of a sick host", o.SickPages, 1}, {"permits", o.Permits, 1},
	} {
		if n.value < n.least {
			return fmt.Errorf("%s %d: want at least %d", n.name, n.value, n.least)
		}
	}
	if n := o.Healthy + o.Sick; n > maxDomains {
		return fmt.Errorf("hosts %d: want at most %d", n, maxDomains)
	}
	for _, kind := range o.Kinds {
		if _, ok := sicknessOf(kind); !ok || kind == Dead {
			return fmt.Errorf("kind %q: no host is sick in this way", kind)
		}
	}
	if o.OutageFrom < 0 || o.OutageUntil < o.OutageFrom {
		return fmt.Errorf("outage from %v until %v: want 0 ≤ from ≤ until", o.OutageFrom, o.OutageUntil)
	}
	return nil
}

func sicknessOf(kind string) (Sickness, bool) {
	for _, k := range Sicknesses() {
		if k.Kind == kind {
			return k, true
		}
	}
	return Sickness{}, false
}
