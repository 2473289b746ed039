package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/weftcrawl/weft/crawl"
	"github.com/weftcrawl/weft/inspect/progress"
	"github.com/weftcrawl/weft/inspect/why"
	"github.com/weftcrawl/weft/internal/politeness"
	"github.com/weftcrawl/weft/internal/urls"
	"github.com/weftcrawl/weft/topics"
)

type domainCmd struct {
	Domain string `arg:"" help:"A domain, a host or an address."`

	reachFlags
	Delay    *time.Duration `name:"delay" env:"-" placeholder:"DUR" help:"Minimum time between two requests to the domain. A longer Crawl-delay of its robots.txt still holds."`
	PerDay   *int64         `name:"per-day" env:"-" placeholder:"N" help:"Make at most N requests a day (UTC) to the domain; 0: the crawl's limit."`
	Priority *string        `name:"priority" env:"-" enum:"high,normal,low" placeholder:"HOW" help:"high, normal or low. It decides which domains go first when more domains are due than visits may go out."`
	Block    bool           `name:"block" env:"-" xor:"block" help:"Make no more requests to the domain, in all processes and after restarts. Its URLs stay queued."`
	Reason   string         `name:"reason" env:"-" placeholder:"TEXT" help:"Why the domain is blocked."`
	Unblock  bool           `name:"unblock" env:"-" xor:"block" help:"End a block. This also ends an automatic block because of errors."`
	Reset    bool           `name:"reset" env:"-" help:"Remove all settings of the domain. Other flags set new ones."`
	JSON     bool           `name:"json" help:"Print JSON."`
}

// changes tells whether the flags ask for a new setting.
func (c *domainCmd) changes() bool {
	return c.Delay != nil || c.PerDay != nil || c.Priority != nil || c.Block || c.Unblock || c.Reset
}

func (c *domainCmd) check() error {
	switch {
	case c.Delay != nil && (*c.Delay < 0 || *c.Delay > politeness.MaxDelay):
		return usagef("--delay %v is not between 0 and %v", *c.Delay, politeness.MaxDelay)
	case c.PerDay != nil && *c.PerDay < 0:
		return usagef("--per-day %d is negative", *c.PerDay)
	case c.Reason != "" && !c.Block:
		return usagef("--reason needs --block")
	case len(c.Reason) > topics.MaxReason:
		return usagef("--reason has more than %d bytes", topics.MaxReason)
	case strings.ContainsFunc(c.Reason, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return usagef("--reason holds a control character")
	}
	return nil
}

// Run shows a domain as weft why does, or changes its setting.
func (c *domainCmd) Run(ctx context.Context, std streams) error {
	host, err := hostOf(c.Domain)
	if err = cmp.Or(err, c.check()); err != nil {
		return err
	}
	if !c.changes() {
		about := &whyCmd{reachFlags: c.reachFlags, About: &c.Domain, JSON: c.JSON}
		return about.Run(ctx, std)
	}
	open, err := c.open(ctx, std, crawl.ToWrite, topics.Loop(c.Crawl).Config)
	if err != nil {
		return err
	}
	defer open.close()
	domain := urls.BundledSuffixes().Domain(host)
	setting, err := topics.WriteSetting(ctx, open.names, domain, c.change, open.client()...)
	if errors.Is(err, topics.ErrUndefined) {
		err = usageError{err}
	}
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(std.out, setting)
	}
	_, err = fmt.Fprintf(std.out, "%s: %s\n", domain, cmp.Or(settingText(setting), "as the crawl says"))
	return err
}

// change returns s with the changes that the flags ask for.
func (c *domainCmd) change(s topics.Setting) topics.Setting {
	if c.Reset {
		s = topics.Setting{Domain: s.Domain}
	}
	s.SetAt = time.Now().UTC().Truncate(time.Millisecond)
	if c.Delay != nil {
		delay := c.Delay.Milliseconds()
		s.DelayMS = &delay
	}
	if c.PerDay != nil {
		s.PerDay = *c.PerDay
	}
	if c.Priority != nil {
		s.Priority = strings.TrimSuffix(*c.Priority, "normal")
	}
	if c.Block || c.Unblock {
		s.Blocked, s.Reason = c.Block, c.Reason
	}
	return s
}

func settingText(s topics.Setting) string {
	return (&why.Setting{DelayMS: s.DelayMS, PerDay: s.PerDay, Priority: s.Priority, Blocked: s.Blocked, Reason: s.Reason}).Text()
}

type domainsCmd struct {
	Match string `arg:"" optional:"" help:"Only domains with this text in their name."`

	reachFlags
	Sort    string `enum:"pages,pending,errors,bytes,slow,last,name" default:"pages" help:"Order: pages, pending, errors, bytes, slow (mean time of an answer), last (request) or name. The largest comes first."`
	Blocked bool   `help:"Only blocked domains."`
	Set     bool   `name:"set" help:"Only domains with a setting."`
	Limit   int    `short:"n" default:"50" placeholder:"N" help:"Print at most N domains; 0: all."`
	JSON    bool   `name:"json" help:"Print JSON lines."`
}

func (c *domainsCmd) Run(ctx context.Context, std streams) error {
	if c.Limit < 0 {
		return usagef("--limit %d is negative", c.Limit)
	}
	asker, end, err := c.asker(ctx, std)
	if err != nil {
		return err
	}
	defer end()
	all, err := asker.Domains(ctx, time.Now())
	if err != nil {
		return err
	}
	rows := slices.DeleteFunc(all, func(r *why.DomainRow) bool {
		return !strings.Contains(r.Domain, c.Match) || c.Blocked && r.State != why.StateBlocked || c.Set && r.Setting.Text() == ""
	})
	slices.SortFunc(rows, c.order())
	found := len(rows)
	if c.Limit > 0 {
		rows = rows[:min(c.Limit, found)]
	}
	if c.JSON {
		return printLines(std.out, "domain", rows)
	}
	return listDomains(std.out, rows, found)
}

// order returns the order of the rows. Rows that are equal are sorted by their names.
func (c *domainsCmd) order() func(a, b *why.DomainRow) int {
	by := map[string]func(r *why.DomainRow) int64{
		"pages": func(r *why.DomainRow) int64 { return r.Fetched }, "pending": func(r *why.DomainRow) int64 { return r.Pending },
		"errors": func(r *why.DomainRow) int64 { return r.Errors }, "bytes": func(r *why.DomainRow) int64 { return r.Bytes },
		"slow": func(r *why.DomainRow) int64 { return r.MeanMS }, "last": func(r *why.DomainRow) int64 { return r.LastAt.UnixMilli() },
		"name": func(*why.DomainRow) int64 { return 0 },
	}[c.Sort]
	return func(a, b *why.DomainRow) int {
		return cmp.Or(cmp.Compare(by(b), by(a)), strings.Compare(a.Domain, b.Domain))
	}
}

func listDomains(out io.Writer, rows []*why.DomainRow, found int) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "DOMAIN\tSTATE\tPENDING\tFETCHED\tFAILED\tREFUSED\tERRORS\tBYTES\tMEAN\tLAST\tSETTING")
	for _, r := range rows {
		last := "-"
		if !r.LastAt.IsZero() {
			last = r.LastAt.Local().Format(time.DateTime)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%d ms\t%s\t%s\n", r.Domain, r.State, progress.Count(r.Pending),
			progress.Count(r.Fetched), progress.Count(r.Failed), progress.Count(r.Refused), progress.Count(r.Errors),
			progress.Bytes(r.Bytes), r.MeanMS, last, cmp.Or(r.Setting.Text(), "-"))
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("write domains: %w", err)
	}
	_, err := fmt.Fprintf(out, "%s of %s domains\n", progress.Count(len(rows)), progress.Count(found))
	return err
}
