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
	// after says when half of the documents had been fetched, 90 % and 99 % of them.
	after [3]time.Duration
	// cpu is the processor time of the crawler until it had all documents, webCPU that of the
	// web. Both are read every half second, so they may miss the last half second.
	cpu, webCPU time.Duration
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
	var ends []time.Duration
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
			ends = append(ends, time.Duration(e.End-started.UnixNano()))
		}
	}
	r.fetched = len(had)
	r.pace(ends)
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

// pace notes when documents had been fetched.
func (r *sickReport) pace(ends []time.Duration) {
	if len(ends) == 0 {
		return
	}
	slices.Sort(ends)
	for i, percent := range []int{50, 90, 99} {
		r.after[i] = ends[(len(ends)*percent+99)/100-1]
	}
	r.last = ends[len(ends)-1]
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
	fmt.Fprintf(&b, "sick hosts and dead names, %s: %d of %d pages of healthy hosts, the last after %.1f s; %s after %.1f s\n",
		r.name, r.fetched, r.wanted, r.last.Seconds(), r.ended, r.took.Seconds())
	fmt.Fprintf(&b, "repeats %d, before robots.txt %d, overlaps within a domain %d, %d of them with a request that was never answered in full\n",
		r.repeats, r.before, r.overlaps, r.held)
	fmt.Fprintf(&b, "half of these pages after %.1f s, 90 %% after %.1f s, 99 %% after %.1f s; the crawler took %.1f s of processor time, the web %.1f s\n",
		r.after[0].Seconds(), r.after[1].Seconds(), r.after[2].Seconds(), r.cpu.Seconds(), r.webCPU.Seconds())
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

// sickRound has a crawl of each web, one after the other.
type sickRound map[string]sickReport

// sickVerdict compares the crawls of each round and counts missed bars. What a crawl may not do
// counts in each crawl. The time is the median of the rounds, because a machine is not always
// equally fast. Each link costs time, wherever it leads: the ratio to the web with others in
// their place says what the hosts alone cost.
func sickVerdict(out io.Writer, rounds []sickRound) (missed int) {
	c := checks{out: out}
	all := true
	times, cpus := map[string][]float64{}, map[string][]float64{}
	for _, round := range rounds {
		for _, web := range sickWebs {
			r := round[web]
			c.check(r.fetched == r.wanted, "%s: pages of healthy hosts %d of %d, bar all", r.name, r.fetched, r.wanted)
			c.check(r.repeats == 0, "%s: pages fetched again %d, bar 0", r.name, r.repeats)
			c.check(r.before == 0, "%s: requests before robots.txt %d, bar 0", r.name, r.before)
			c.check(r.overlaps == r.held, "%s: requests of a domain at once %d, bar 0; besides %d beside a request that was never answered in full",
				r.name, r.overlaps-r.held, r.held)
			all = all && r.fetched == r.wanted
		}
		with := round[withSick]
		for _, web := range sickWebs[:2] {
			beside := round[web]
			times[web] = append(times[web], with.last.Seconds()/beside.last.Seconds())
			cpus[web] = append(cpus[web], with.cpu.Seconds()/beside.cpu.Seconds())
		}
		fmt.Fprintf(out, "the last page after %.1f s with, %.1f s with others in their place, %.1f s without; processor time of the crawler %.1f s, %.1f s, %.1f s\n",
			with.last.Seconds(), round[withOthers].last.Seconds(), round[withoutLinks].last.Seconds(),
			with.cpu.Seconds(), round[withOthers].cpu.Seconds(), round[withoutLinks].cpu.Seconds())
	}
	fmt.Fprintf(out, "        with, and with others in their place: median ratio of the times %.2f, of processor times %.2f\n",
		median(times[withOthers]), median(cpus[withOthers]))
	middle := median(times[withoutLinks])
	c.check(all && middle <= maxSickRatio, "the time until the last page, with and without: median ratio %.2f, bar ≤ %.1f; of processor times %.2f",
		middle, maxSickRatio, median(cpus[withoutLinks]))
	return c.missed
}

// median is the middle of some numbers, or the mean of the two in the middle.
func median(of []float64) float64 {
	of = slices.Sorted(slices.Values(of))
	return (of[(len(of)-1)/2] + of[len(of)/2]) / 2
}
