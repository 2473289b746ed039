package why

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/weftcrawl/weft/progress"
)

// WriteText prints the story as one screen.
func (s *CrawlStory) WriteText(w io.Writer) error {
	out := &screen{head: fmt.Sprintf("crawl %s: %s, %s pending in %s, %s", s.Crawl, s.State,
		plural(s.Pending, "URL"), plural(s.Domains, "domain"), plural(int64(s.Partitions), "partition"))}
	for i, f := range s.Findings {
		if i > 0 {
			out.text("")
		}
		out.text("%d. %s", i+1, f.Text)
		if f.Advice != "" {
			out.text("   %s", f.Advice)
		}
	}
	for _, unknown := range s.Unknown {
		out.text("\nNot known: %s.", unknown)
	}
	if err := out.flush(w); err != nil {
		return err
	}
	return s.tables(w)
}

func (s *CrawlStory) tables(w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if len(s.Waits) > 0 {
		fmt.Fprint(table, "\nHELD BY\tDOMAINS\t\tURLS\t\n")
	}
	for _, h := range s.Waits {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", h.Cause, progress.Count(h.Domains), percent(h.Domains, s.Domains),
			progress.Count(h.URLs), percent(h.URLs, s.Pending))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	table = tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if len(s.Slowest) > 0 {
		fmt.Fprint(table, "\nSLOWEST\tURLS\tDELAY\tAT LEAST\tHELD BY\n")
	}
	for _, d := range s.Slowest {
		atLeast := "-"
		if d.AtLeastMS > 0 {
			atLeast = span(ms(d.AtLeastMS))
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", d.Domain, progress.Count(d.Pending), span(ms(d.DelayMS)), atLeast, d.Hold.Cause)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	table = tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(table, "\nSTAGE\tPROCESSES\tBEHIND\n")
	for _, stage := range s.Stages {
		fmt.Fprintf(table, "%s\t%d\t%s\n", stage.Stage, stage.Members, progress.Count(stage.Behind))
	}
	return table.Flush()
}
