package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/weftcrawl/weft/test/webserver"
)

// sickReport is what the web's log says of one crawl.
type sickReport struct {
	name, ended string
	took        time.Duration
	// wanted is the number of documents of healthy hosts that links reach, fetched how many
	// of them were fetched. missing names the others.
	wanted, fetched int
	missing         []string
	// last is the time of the first fetch of the last document, lastAsked the start of the
	// last request to a healthy host; both since the crawler's start.
	last, lastAsked time.Duration
	// repeats are requests to healthy hosts for documents that they had answered before.
	// before are requests that came before the answer for robots.txt.
	repeats, before int
	// overlaps are requests that began during another request of their registrable domain.
	// held are the overlaps in which the other request was never answered in full.
	overlaps, held int
	kinds          map[string]*kindReport
}

// kindReport is about all hosts of one kind; healthy hosts have an empty kind.
type kindReport struct {
	hosts, lookUps int
	// requests include connections without a request; most is the number of the host with most
	// requests.
	requests, most int
	// pages were fetched with status 200, of so many wanted.
	pages, wanted int
}

// judgeSick reads a log.
func judgeSick(hosts []*webserver.Host, wanted wantedPages, log []webserver.Entry, started time.Time) sickReport {
	r := sickReport{wanted: len(wanted.documents), kinds: map[string]*kindReport{}}
	byName := map[string]*webserver.Host{}
	for _, h := range hosts {
		byName[h.Name] = h
		if r.kinds[h.Kind] == nil {
			r.kinds[h.Kind] = &kindReport{}
		}
		r.kinds[h.Kind].hosts++
	}
	log = slices.SortedFunc(slices.Values(log), func(a, b webserver.Entry) int { return cmp.Compare(a.Start, b.Start) })
	var healthy []webserver.Entry
	had := map[document]bool{}
	requests := map[string]int{}
	fetched := map[string]bool{}
	for _, e := range log {
		h := byName[e.Domain]
		if h == nil {
			continue // such as a request without a Host header
		}
		k := r.kinds[h.Kind]
		k.requests++
		requests[h.Name]++
		k.most = max(k.most, requests[h.Name])
		if page := e.Domain + e.Path; e.Status == http.StatusOK && e.Path != "/robots.txt" && !fetched[page] {
			fetched[page] = true
			k.pages++
		}
		if !h.Healthy() {
			continue
		}
		healthy = append(healthy, e)
		r.lastAsked = time.Duration(e.Start - started.UnixNano())
		if d, ok := wanted.has(e); ok && !had[d] {
			had[d] = true
			r.last = max(r.last, time.Duration(e.End-started.UnixNano()))
		}
	}
	r.fetched = len(had)
	for d, path := range wanted.documents {
		if !had[d] {
			r.missing = append(r.missing, d.host+path)
		}
	}
	slices.Sort(r.missing)
	audit := webserver.Audit(healthy, webserver.Expect{})
	r.repeats, r.before = audit.Repeats, audit.BeforeRobots
	r.overlap(log, byName)
	if k := r.kinds[""]; k != nil {
		k.pages, k.wanted = r.fetched, r.wanted
	}
	return r
}

// overlap counts requests of a registrable domain that went on at the same time.
func (r *sickReport) overlap(log []webserver.Entry, byName map[string]*webserver.Host) {
	// end of the requests so far: of answered requests, and of the others.
	type domain struct{ answered, held int64 }
	domains := map[string]*domain{}
	for _, e := range log {
		h := byName[e.Domain]
		if h == nil {
			continue
		}
		d := domains[h.Domain]
		if d == nil {
			d = &domain{}
			domains[h.Domain] = d
		}
		switch {
		case e.Start < d.answered:
			r.overlaps++
		case e.Start < d.held:
			r.overlaps++
			r.held++
		}
		if e.Status == webserver.StatusAborted {
			d.held = max(d.held, e.End)
		} else {
			d.answered = max(d.answered, e.End)
		}
	}
}

// String is the report on a few lines.
func (r sickReport) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s sick hosts and dead names: %d of %d pages of healthy hosts, the last after %.1f s; %s after %.1f s\n",
		r.name, r.fetched, r.wanted, r.last.Seconds(), r.ended, r.took.Seconds())
	fmt.Fprintf(&b, "repeats %d, before robots.txt %d, overlaps within a domain %d, %d of them with a request that was never answered in full\n",
		r.repeats, r.before, r.overlaps, r.held)
	missing := map[string]int{}
	for _, m := range r.missing {
		missing[m[:strings.IndexByte(m, '/')]]++
	}
	for _, host := range slices.Sorted(maps.Keys(missing)) {
		fmt.Fprintf(&b, "missing: %d pages of %s\n", missing[host], host)
	}
	for _, m := range r.missing[:min(20, len(r.missing))] {
		fmt.Fprintf(&b, "missing: %s\n", m)
	}
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "kind\thosts\tlook-ups\trequests\tmost of a host\tpages\tof\t")
	for _, kind := range slices.Sorted(maps.Keys(r.kinds)) {
		k := r.kinds[kind]
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t\n", cmp.Or(kind, "healthy"), k.hosts, k.lookUps, k.requests, k.most, k.pages, k.wanted)
	}
	_ = t.Flush()
	b.WriteByte('\n')
	return b.String()
}

// sickVerdict compares both crawls and counts missed bars.
func sickVerdict(out io.Writer, without, with sickReport) (missed int) {
	c := checks{out: out}
	for _, r := range []sickReport{without, with} {
		c.check(r.fetched == r.wanted, "%s: pages of healthy hosts %d of %d, bar all", r.name, r.fetched, r.wanted)
		c.check(r.repeats == 0, "%s: pages fetched again %d, bar 0", r.name, r.repeats)
		c.check(r.before == 0, "%s: requests before robots.txt %d, bar 0", r.name, r.before)
		c.check(r.overlaps == r.held, "%s: requests of a domain at once %d, bar 0; besides %d beside a request that was never answered in full",
			r.name, r.overlaps-r.held, r.held)
	}
	ratio := with.last.Seconds() / without.last.Seconds()
	c.check(with.fetched == with.wanted && ratio <= maxSickRatio, "the last page after %.1f s with and %.1f s without: ratio %.2f, bar ≤ %.1f",
		with.last.Seconds(), without.last.Seconds(), ratio, maxSickRatio)
	return c.missed
}
