package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/weftcrawl/weft/test/child"
	"github.com/weftcrawl/weft/test/webserver"
)

// maxSickRatio is the bar of `run sick`: the time until the last page of a healthy host with
// links to sick hosts and dead names, divided by the time without them.
const maxSickRatio = 1.1

// inside is the flag of a process that has namespaces of its own.
const inside = "-inside"

// The webs of `run sick`.
const (
	withoutLinks = "without"
	withOthers   = "with others in their place"
	withSick     = "with"
)

// sickWebs are the webs, in the order of the first round.
var sickWebs = []string{withoutLinks, withOthers, withSick}

// sick crawls a web without links to sick hosts and dead names, with links to healthy hosts in
// their place, and with them, a few times each.
func sick(ctx context.Context, args []string, out io.Writer) error {
	if !slices.Contains(args, inside) && !slices.Contains(args, "-h") {
		return inNamespace(ctx, append([]string{"sick", inside}, args...), out)
	}
	b := newBench("sick", out)
	b.BoolVar(&b.bars, "bars", false, "fail when a bar is missed")
	b.Bool(inside[1:], false, "this process has namespaces of its own; the program sets it itself")
	var o webserver.SickOptions
	b.StringVar(&o.Docs, "docs", "", "serve each folder of this `directory` as a healthy host, instead of generated pages")
	b.IntVar(&o.Healthy, "healthy", 60, "healthy `hosts`")
	b.IntVar(&o.Sick, "sick", 40, "sick `hosts`, of each kind in turn")
	b.IntVar(&o.Dead, "dead", 600, "`names` that do not exist")
	b.IntVar(&o.Domains, "domains", 20, "registrable `domains`, each with healthy hosts, sick hosts and dead names")
	b.IntVar(&o.Pages, "pages", 400, "generated `pages` of a healthy host")
	b.Uint64Var(&o.Seed, "seed", 1, "`seed` of the generated web")
	b.DurationVar(&o.OutageFrom, "outage-from", 5*time.Second, "`time` after the start at which hosts of the kind outage go down")
	b.DurationVar(&o.OutageUntil, "outage-until", 20*time.Second, "`time` after the start at which they come back")
	b.DurationVar(&o.BusyUntil, "busy-until", 20*time.Second, "`time` after the start until which hosts of the kind busy-503-retry-after are busy")
	crawl := b.String("crawl", "{bin}/weft crawl --sitemaps off --scope any --delay 0 --allow-private --seeds {seeds} --data {data}", "`command` of the crawler")
	rounds := b.Int("rounds", 3, "`rounds` of crawls of all webs; the verdict is about the median of their ratios")
	limit := b.Duration("limit", 5*time.Minute, "a crawl that has not all pages after this `time` has failed")
	quiet := b.Duration("quiet", 3*time.Second, "stop a crawl that has all pages and asked no healthy host for this `time`")
	return b.run(args, func() error {
		if err := settle(b.dir); err != nil {
			return err
		}
		o.Port, o.NameServer = 80, "127.0.0.1:53"
		var all []sickRound
		for n := range *rounds {
			round := sickRound{}
			for i := range sickWebs {
				web := sickWebs[(n+i)%len(sickWebs)] // none has an advantage by its place
				o.Unlinked, o.Replaced = web == withoutLinks, web == withOthers
				r := sickRun{name: web, dir: filepath.Join(b.dir, fmt.Sprint(n+1, web)), line: *crawl, bin: b.bin, limit: *limit, quiet: *quiet, options: o}
				report, err := r.run(ctx)
				if err != nil {
					return fmt.Errorf("crawl %s: %w", web, err)
				}
				fmt.Fprint(out, report)
				round[web] = report
			}
			all = append(all, round)
		}
		b.missed = sickVerdict(out, all)
		return nil
	})
}

// sickRun is one crawl of the web.
type sickRun struct {
	name, dir, line, bin string
	limit, quiet         time.Duration
	options              webserver.SickOptions
}

func (r sickRun) run(ctx context.Context) (report sickReport, err error) {
	if err := os.MkdirAll(r.dir, 0o755); err != nil {
		return report, err
	}
	site, err := webserver.ServeSick(r.options)
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, site.Close()) }()
	wanted := wantedOf(site) // takes a while with real documents
	seeds := filepath.Join(r.dir, "seeds.txt")
	if err := os.WriteFile(seeds, []byte(strings.Join(site.Seeds(), "\n")+"\n"), 0o644); err != nil {
		return report, err
	}
	values := map[string]string{"bin": r.bin, "seeds": seeds, "data": filepath.Join(r.dir, "data")}
	log := filepath.Join(r.dir, "output.log")
	started := time.Now()
	c, err := start(command(r.line, values), log)
	if err != nil {
		return report, err
	}
	own, err := processCPU(os.Getpid())
	if err != nil {
		c.Kill()
		return report, err
	}
	ended, took, err := r.watch(ctx, c, site, wanted, started)
	if err != nil {
		return report, fmt.Errorf("%w%s", err, lastLines(log))
	}
	report = judgeSick(site.Hosts(), wanted, site.Entries(), started)
	report.name, report.ended, report.took = r.name, ended, time.Since(started)
	report.cpu, report.webCPU = took.crawler, took.web-own
	for _, h := range site.Hosts() {
		report.kinds[h.Kind].lookUps += site.LookUps(h)
		if h.Kind != "" {
			report.kinds[h.Kind].wanted += len(site.GoodPages(h))
		}
	}
	return report, nil
}

// watch waits until the crawler ends, or stops it: when it has all pages and asks healthy
// hosts no more, or at the limit. It returns how the crawl ended, and the processor time until it
// had all pages.
func (r sickRun) watch(
	ctx context.Context, c *child.Process, site *webserver.SickServer, wanted wantedPages, started time.Time,
) (ended string, took sickCPU, err error) {
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	var p sickProgress
	for {
		select {
		case <-ctx.Done():
			c.Kill()
			return "", took, context.Cause(ctx)
		case <-c.Ended:
			return "the crawl ended by itself", took, c.Err
		case <-tick.C:
		}
		if len(p.had) < len(wanted.documents) {
			took.read(c.Process.Pid)
		}
		p.read(site.Entries(), wanted, func(name string) bool { h := site.Host(name); return h != nil && h.Healthy() })
		if len(p.had) == len(wanted.documents) && time.Since(time.Unix(0, p.lastAsked)) > r.quiet {
			return "stopped with all pages", took, interrupt(c)
		}
		if time.Since(started) > r.limit {
			return "stopped at the limit", took, interrupt(c)
		}
	}
}

// sickCPU is the processor time of the crawler, and of this process, which serves the web.
type sickCPU struct{ crawler, web time.Duration }

// read reads both. A process that has ended keeps its time.
func (s *sickCPU) read(pid int) {
	if crawler, err := processCPU(pid); err == nil {
		s.crawler = crawler
	}
	if web, err := processCPU(os.Getpid()); err == nil {
		s.web = web
	}
}

// sickProgress is how far a crawl has come. It reads each entry of a growing log once, so that
// watching costs the crawler little time.
type sickProgress struct {
	entries   int
	had       map[document]bool
	lastAsked int64 // when the last request to a healthy host began, in nanoseconds since 1970
}

func (p *sickProgress) read(log []webserver.Entry, wanted wantedPages, healthy func(host string) bool) {
	if p.had == nil {
		p.had = map[document]bool{}
	}
	for _, e := range log[p.entries:] {
		if healthy(e.Domain) {
			p.lastAsked = max(p.lastAsked, e.Start)
			if d, ok := wanted.has(e); ok {
				p.had[d] = true
			}
		}
	}
	p.entries = len(log)
}

// document is what a host shows at one path or at several.
type document struct{ host, name string }

// wantedPages are the documents that a crawl must have, and which document a path shows.
type wantedPages struct {
	documents map[document]string // with one path of each
	of        func(host, path string) document
}

// has tells whether a healthy host answered with a document that is wanted.
func (w wantedPages) has(e webserver.Entry) (document, bool) {
	if e.Status != http.StatusOK {
		return document{}, false
	}
	d := w.of(e.Domain, e.Path)
	_, ok := w.documents[d]
	return d, ok
}

func wantedOf(site *webserver.SickServer) wantedPages {
	names := map[string]document{} // by host and path: the file system is asked once
	w := wantedPages{documents: map[document]string{}, of: func(host, path string) document {
		d, ok := names[host+path]
		if !ok {
			d = document{host, site.Document(site.Host(host), path)}
			names[host+path] = d
		}
		return d
	}}
	for host, path := range site.Pages() {
		w.documents[w.of(host, path)] = path
	}
	return w
}
