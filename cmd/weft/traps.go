package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/weftcrawl/weft/processors"
	"github.com/weftcrawl/weft/progress"
	"github.com/weftcrawl/weft/topics"
	"github.com/weftcrawl/weft/traps"
)

type trapsCmd struct {
	Host     string `arg:"" optional:"" help:"Traps of this host, or of this registrable domain, only."`
	Template string `arg:"" optional:"" help:"With --lift: what the URLs of the trap look like, as the list shows it."`

	reachFlags
	Lift    bool `xor:"lift" help:"Bring the URLs that a trap holds back into the crawl, and hold none back any more."`
	LiftAll bool `xor:"lift" help:"--lift for all traps, or for those of HOST."`
	JSON    bool `name:"json" help:"Print JSON lines."`
}

// Run is called by kong.
func (c *trapsCmd) Run(ctx context.Context, std streams) error {
	switch {
	case c.Lift && c.Template == "":
		return usagef("--lift needs a host and a template, as weft traps lists them")
	case !c.Lift && c.Template != "":
		return usagef("a template is for --lift")
	}
	reach := func(ctx context.Context) (func(), error) { return c.look(ctx, std) }
	if c.Lift || c.LiftAll {
		reach = c.reach
	}
	release, err := reach(ctx)
	if err != nil {
		return err
	}
	defer release()
	names := topics.Loop(c.Crawl)
	if err := c.exists(ctx, names.Deduped); err != nil {
		return err
	}
	found, err := c.find(ctx, std, names)
	switch {
	case err != nil:
		return err
	case c.Lift || c.LiftAll:
		return c.lift(ctx, std.out, names, found)
	case c.JSON:
		return eachTrap(json.NewEncoder(std.out), found)
	}
	return listTraps(std.out, found)
}

// find returns the traps that the arguments select.
func (c *trapsCmd) find(ctx context.Context, std streams, names topics.Names) ([]*traps.Trap, error) {
	looks := !c.Lift && !c.LiftAll // who lifts may not be allowed to read what is withdrawn
	all, err := processors.Traps(ctx, names, looks, tellDamage(std), c.client()...)
	return slices.DeleteFunc(all, func(t *traps.Trap) bool {
		return c.Host != "" && c.Host != t.Host && c.Host != t.Domain || c.Template != "" && c.Template != t.Template
	}), err
}

func eachTrap(out *json.Encoder, found []*traps.Trap) error {
	out.SetEscapeHTML(false)
	for _, t := range found {
		if err := out.Encode(t); err != nil {
			return fmt.Errorf("write trap: %w", err)
		}
	}
	return nil
}

// listTraps prints traps for people.
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
			fmt.Fprintf(&b, "  %s: %s held back%s\n", t.Reason, progress.Count(int64(t.Held)), withdrawnText(t))
		default:
			fmt.Fprintf(&b, "  lifted: %s came back, %s held back\n", progress.Count(int64(t.Released)), progress.Count(int64(t.Held)))
		}
		for _, url := range t.Examples {
			fmt.Fprintf(&b, "    %s\n", url)
		}
	}
	fmt.Fprintf(&b, "%s URLs held back in %s traps\n", progress.Count(int64(held)), progress.Count(int64(holding)))
	_, err := io.WriteString(out, b.String())
	return err
}

// withdrawnText tells of the URLs that were admitted before a trap was one.
func withdrawnText(t *traps.Trap) string {
	if t.Withdrawn == 0 {
		return ""
	}
	return fmt.Sprintf(", %s withdrawn from the queue", progress.Count(int64(t.Withdrawn)))
}

// lift lifts traps.
func (c *trapsCmd) lift(ctx context.Context, out io.Writer, names topics.Names, found []*traps.Trap) error {
	if c.Lift && len(found) == 0 {
		return fmt.Errorf("no trap %s %s is known", c.Host, c.Template)
	}
	for _, t := range found {
		if c.LiftAll && t.Lifted && t.Held == 0 {
			continue
		}
		if err := processors.LiftTrap(ctx, names, t, c.client()...); err != nil {
			return err
		}
		if _, err := fmt.Fprintf(out, "lifted: %s %s, %s come back\n", t.Host, t.Template, progress.Count(int64(t.Held))); err != nil {
			return fmt.Errorf("write what was lifted: %w", err)
		}
	}
	return nil
}
