package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/weftcrawl/weft/inspect/difference"
)

type diffCmd struct {
	A        location `arg:"" help:"Pages before: a generation of weft reparse, a folder or bucket with JSON lines, or the data directory of a crawl."`
	B        location `arg:"" help:"Pages after."`
	Examples int      `placeholder:"N" default:"2" help:"Show N examples of each kind."`
	JSON     bool     `name:"json" help:"Print one JSON object."`
}

func (c *diffCmd) Run(ctx context.Context, std streams) error {
	if c.Examples < 0 {
		return usagef("--examples %d is negative", c.Examples)
	}
	a, err := openThere(ctx, within(string(c.A), "pages"))
	if err != nil {
		return usageError{err}
	}
	b, err := openThere(ctx, within(string(c.B), "pages"))
	if err != nil {
		return usageError{err}
	}
	report, err := difference.Compare(ctx, a, b, c.Examples)
	if err != nil {
		return fmt.Errorf("diff: %w", err)
	}
	if c.JSON {
		return printJSON(std.out, report)
	}
	return tellDifference(std.out, report)
}

func tellDifference(w io.Writer, r difference.Report) error {
	var out strings.Builder
	fmt.Fprintf(&out, "pages: %d before, %d after\n%d same, %d changed, %d added, %d gone\n", r.PagesA, r.PagesB, r.Same, r.Changed, r.Added, r.Gone)
	if r.RepeatsA+r.RepeatsB > 0 {
		fmt.Fprintf(&out, "repeats that are not counted: %d before, %d after\n", r.RepeatsA, r.RepeatsB)
	}
	for _, url := range r.AddedURLs {
		fmt.Fprintf(&out, "added: %s\n", url)
	}
	for _, url := range r.GoneURLs {
		fmt.Fprintf(&out, "gone: %s\n", url)
	}
	if len(r.Fields) > 0 {
		slices.SortStableFunc(r.Fields, func(a, b difference.Field) int {
			return cmp.Compare(b.Added+b.Gone+b.Changed, a.Added+a.Gone+a.Changed)
		})
		table := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
		fmt.Fprint(table, "\nFIELD\tADDED\tGONE\tCHANGED\n")
		for _, f := range r.Fields {
			fmt.Fprintf(table, "%s\t%d\t%d\t%d\n", f.Name, f.Added, f.Gone, f.Changed)
		}
		_ = table.Flush()
	}
	for _, f := range r.Fields {
		for _, e := range f.Examples {
			fmt.Fprintf(&out, "\n%s of %s\n", f.Name, e.URL)
			if e.Before != "" {
				fmt.Fprintf(&out, "  - %s\n", e.Before)
			}
			if e.After != "" {
				fmt.Fprintf(&out, "  + %s\n", e.After)
			}
		}
	}
	_, err := io.WriteString(w, out.String())
	return err
}
