package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/weftcrawl/weft/crawl"
	"github.com/weftcrawl/weft/inspect/erase"
	"github.com/weftcrawl/weft/internal/dirlock"
	"github.com/weftcrawl/weft/internal/urls"
	"github.com/weftcrawl/weft/processors/archive/jsonl"
)

// eraseFlags say from where pages are erased.
type eraseFlags struct {
	archiveFlags
	Copies []archivePages `placeholder:"PLACE" help:"Erase in files of pages there, too: generations of weft reparse, or data directories of crawls. Files in DIR/pages are always included."`
	Check  bool           `env:"-" help:"Only count what would be erased. The exit status is 1 if there is anything."`
	JSON   bool           `name:"json" help:"Print one JSON object."`
}

// archivePages is the location of files of pages. Of the data directory of a crawl it is the folder of its pages.
type archivePages location

// UnmarshalText implements encoding.TextUnmarshaler.
func (a *archivePages) UnmarshalText(text []byte) error {
	var l location
	err := l.UnmarshalText(text)
	*a = archivePages(within(string(l), pagesFolder))
	return err
}

const pagesFolder = "pages"

// errStillThere is the error of --check.
var errStillThere = errors.New("there is something to erase")

func (f *eraseFlags) run(ctx context.Context, std streams, selection erase.Selection, now time.Time) (err error) {
	o := erase.Options{Selection: selection, Now: now}
	if o.Archive, err = openThere(ctx, f.where()); err != nil {
		return usageError{fmt.Errorf("archive: %w", err)}
	}
	release, err := f.pages(ctx, &o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	begun, do := time.Now(), erase.Run
	if f.Check {
		do = erase.Search
	}
	report, err := do(ctx, o)
	took := time.Since(begun)
	switch {
	case errors.Is(err, erase.ErrUnfinished):
		return err
	case errors.Is(err, erase.ErrNoArchive), errors.Is(err, erase.ErrPlain):
		return usageError{err}
	case err != nil:
		return fmt.Errorf("erase: %w; the same command goes on", err)
	case f.JSON:
		err = printJSON(std.out, report)
	default:
		err = tellErased(std.out, report, took, f.Check)
	}
	if err == nil && f.Check && report.Found() > 0 {
		return errStillThere
	}
	return err
}

// pages adds the places of pages. Their crawls do not run until release is called.
func (f *eraseFlags) pages(ctx context.Context, o *erase.Options) (release func() error, err error) {
	var held []func() error
	releaseAll := func() (err error) {
		for _, one := range held {
			err = errors.Join(err, one())
		}
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, releaseAll())
		}
	}()
	places := f.Copies
	if own := filepath.Join(f.dir(), pagesFolder); isFolder(own) {
		places = append(places, archivePages(own))
	}
	for _, place := range places {
		bucket, err := openThere(ctx, string(place))
		if err != nil {
			return nil, usageError{fmt.Errorf("--copies: %w", err)}
		}
		one, err := f.hold(string(place))
		if err != nil {
			return nil, err
		}
		o.Pages, held = append(o.Pages, bucket), append(held, one)
	}
	return releaseAll, nil
}

// hold keeps a crawl from writing pages meanwhile, and ends its current file of pages.
func (f *eraseFlags) hold(place string) (release func() error, err error) {
	if _, err := os.Stat(filepath.Join(place, jsonl.StateName)); err != nil || f.Check {
		return func() error { return nil }, nil // no crawl writes there
	}
	release, err = crawl.Hold(filepath.Dir(place))
	if errors.Is(err, dirlock.ErrInUse) {
		return nil, fmt.Errorf("the crawl in %s runs: stop it, erase, and start it again: %w", filepath.Dir(place), err)
	}
	if err != nil {
		return nil, err
	}
	if err := jsonl.Seal(place); err != nil {
		return nil, errors.Join(err, release())
	}
	return release, nil
}

func tellErased(w io.Writer, r erase.Report, took time.Duration, check bool) error {
	var out strings.Builder
	verb := "erased"
	if check {
		verb = "found"
	}
	fmt.Fprintf(&out, "%s %d records of %d files and %d pages in %v\n", verb, r.Records, r.Read, r.Pages, took.Round(10*time.Millisecond))
	if r.Moved > 0 {
		fmt.Fprintf(&out, "%d records of other pages referred to them, and move\n", r.Moved)
	}
	if !check {
		fmt.Fprintf(&out, "%d files replaced, %d deleted; a second search found nothing\n", r.Files, r.Deleted)
		fmt.Fprintln(&out, "The topics of the crawl are not changed: they have their pages until their retention, see docs/archive.md.")
	}
	_, err := io.WriteString(w, out.String())
	return err
}

type eraseCmd struct {
	// One of the two, once: of a flag that is given twice only the last value would count, and the other page would stay.
	URL    []string `env:"-" xor:"what" required:"" sep:"none" placeholder:"URL" help:"Erase all that was fetched from this URL."`
	Domain []string `env:"-" xor:"what" required:"" sep:"none" placeholder:"DOMAIN" help:"Erase all that was fetched from this registrable domain and its hosts."`
	eraseFlags
}

func (c *eraseCmd) Run(ctx context.Context, std streams) error {
	if len(c.URL)+len(c.Domain) > 1 {
		return usagef("a command erases one URL or one domain: repeat the command for each")
	}
	if len(c.URL) > 0 {
		u, refusal := urls.Parse(c.URL[0])
		if refusal != urls.Accepted {
			return usagef("--url %q is not the URL of a page", c.URL[0])
		}
		return c.run(ctx, std, erase.URL(u.String()), time.Now())
	}
	domain, err := registrable(c.Domain[0])
	if err != nil {
		return err
	}
	return c.run(ctx, std, erase.Domain(domain), time.Now())
}

// registrable returns a registrable domain as it is in URLs.
func registrable(name string) (string, error) {
	host, err := hostOf(name)
	if err != nil {
		return "", err
	}
	if domain := urls.BundledSuffixes().Domain(host); domain != host {
		return "", usagef("%s is a host of the domain %s", name, domain)
	}
	return host, nil
}

type archiveExpireCmd struct {
	Keep   age            `env:"-" required:"" placeholder:"AGE" help:"Erase what was fetched longer ago, such as 90d or 36h; forever: only what --keep-of says."`
	KeepOf map[string]age `env:"-" placeholder:"DOMAIN=AGE,..." mapsep:"," help:"Another age for a registrable domain."`
	eraseFlags
}

func (c *archiveExpireCmd) Run(ctx context.Context, std streams) error {
	domains, err := agesOf(c.KeepOf)
	if err != nil {
		return err
	}
	now := time.Now()
	return c.run(ctx, std, erase.Older(erase.Keep{Default: time.Duration(c.Keep), Domains: domains}, now), now)
}

// agesOf are the ages of --keep-of by registrable domains as they are in URLs.
func agesOf(flag map[string]age) (map[string]time.Duration, error) {
	ages := make(map[string]time.Duration, len(flag))
	for name, of := range flag {
		domain, err := registrable(name)
		if _, twice := ages[domain]; err == nil && twice {
			err = usagef("%s has two ages", domain)
		}
		if err != nil {
			return nil, fmt.Errorf("--keep-of: %w", err)
		}
		ages[domain] = time.Duration(of)
	}
	return ages, nil
}

// age is a flag: 90d, 36h, or forever, which is 0.
type age time.Duration

// UnmarshalText implements encoding.TextUnmarshaler.
func (a *age) UnmarshalText(text []byte) error {
	*a = 0
	if string(text) == "forever" {
		return nil
	}
	var of time.Duration
	var err error
	if days, ok := strings.CutSuffix(string(text), "d"); ok {
		var n uint64
		n, err = strconv.ParseUint(days, 10, 16)
		of = time.Duration(n) * 24 * time.Hour
	} else {
		of, err = time.ParseDuration(string(text))
	}
	if err != nil || of < time.Second {
		return fmt.Errorf("%q is not an age such as 90d, 36h or forever", text)
	}
	*a = age(of)
	return nil
}
