package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/weftcrawl/weft/crawl"
	"github.com/weftcrawl/weft/inspect/progress"
	"github.com/weftcrawl/weft/processors/dedupe"
	"github.com/weftcrawl/weft/processors/dedupe/traps"
	"github.com/weftcrawl/weft/topics"
)

type trapsCmd struct {
	Host     string `arg:"" optional:"" help:"Only traps of this host or registrable domain."`
	Template string `arg:"" optional:"" help:"With --lift: the template of the trap, as the list shows it."`

	reachFlags
	Lift    bool `xor:"lift" help:"End a trap. The URLs that it holds back join the crawl, and so do later URLs of its template."`
	LiftAll bool `xor:"lift" help:"End all traps, or all traps of HOST."`
	JSON    bool `name:"json" help:"Print JSON lines."`
}

func (c *trapsCmd) Run(ctx context.Context, std streams) error {
	switch {
	case c.Lift && c.Template == "":
		return usagef("--lift needs a host and a template, as weft traps lists them")
	case !c.Lift && c.Template != "":
		return usagef("a template is for --lift")
	}
	use := crawl.ToRead
	if c.Lift || c.LiftAll {
		use = crawl.ToWrite
	}
	open, err := c.open(ctx, std, use, topics.Loop(c.Crawl).Deduped)
	if err != nil {
		return err
	}
	defer open.close()
	found, err := c.find(ctx, open, std)
	switch {
	case err != nil:
		return err
	case c.Lift || c.LiftAll:
		return c.lift(ctx, open, std.out, found)
	case c.JSON:
		return printLines(std.out, "trap", found)
	}
	return listTraps(std.out, found)
}

func (c *trapsCmd) find(ctx context.Context, open *openCrawl, std streams) ([]*traps.Trap, error) {
	withWithdrawn := !c.Lift && !c.LiftAll // the right to lift does not include the right to read scheduled
	all, err := dedupe.Traps(ctx, open.names, withWithdrawn, reportDamage(std), open.client()...)
	return slices.DeleteFunc(all, func(t *traps.Trap) bool {
		return c.Host != "" && c.Host != t.Host && c.Host != t.Domain || c.Template != "" && c.Template != t.Template
	}), err
}

func listTraps(out io.Writer, found []*traps.Trap) error {
	var b strings.Builder
	held, holding := 0, 0
	for _, t := range found {
		if held += t.Held; t.Held > 0 {
			holding++
		}
		fmt.Fprintf(&b, "%s %s\n", t.Host, t.Template)
		switch {
		case !t.Lifted:
			fmt.Fprintf(&b, "  %s: %s held back%s\n", t.Reason, progress.Count(t.Held), withdrawnText(t))
		default:
			fmt.Fprintf(&b, "  lifted: %s came back, %s held back\n", progress.Count(t.Released), progress.Count(t.Held))
		}
		for _, url := range t.Examples {
			fmt.Fprintf(&b, "    %s\n", url)
		}
	}
	fmt.Fprintf(&b, "%s URLs held back in %s traps\n", progress.Count(held), progress.Count(holding))
	_, err := io.WriteString(out, b.String())
	return err
}

// withdrawnText counts the URLs that were queued before the trap was known.
func withdrawnText(t *traps.Trap) string {
	if t.Withdrawn == 0 {
		return ""
	}
	return fmt.Sprintf(", %s withdrawn from the queue", progress.Count(t.Withdrawn))
}

func (c *trapsCmd) lift(ctx context.Context, open *openCrawl, out io.Writer, found []*traps.Trap) error {
	if c.Lift && len(found) == 0 {
		return fmt.Errorf("no trap %s %s is known", c.Host, c.Template)
	}
	for _, t := range found {
		if c.LiftAll && t.Lifted && t.Held == 0 {
			continue
		}
		if err := dedupe.LiftTrap(ctx, open.names, t, open.client()...); err != nil {
			return err
		}
		if _, err := fmt.Fprintf(out, "lifted: %s %s, %s come back\n", t.Host, t.Template, progress.Count(t.Held)); err != nil {
			return fmt.Errorf("write the lifted trap: %w", err)
		}
	}
	return nil
}
