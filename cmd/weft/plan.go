package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/weftcrawl/weft/inspect/plan"
	"github.com/weftcrawl/weft/inspect/progress"
)

type planCmd struct {
	Pages         amount  `placeholder:"N" help:"Pages to be fetched: 1000000, 1M, 1B."`
	Days          float64 `placeholder:"D" help:"Days that the crawl may take."`
	Domains       amount  `placeholder:"M" help:"Registrable domains of the pages."`
	LargestDomain amount  `placeholder:"N" default:"0" help:"Pages of the largest domain; 0: the mean of all domains."`

	PageBytes   byteSize      `placeholder:"SIZE" default:"100KiB" help:"Mean size of a page's body, uncompressed."`
	Links       float64       `placeholder:"N" default:"60" help:"Mean number of links of a page."`
	Known       float64       `placeholder:"N" default:"4" help:"URLs known at the end, for each fetched page."`
	LargeBodies float64       `placeholder:"SHARE" default:"0.001" help:"Share of bodies that are above --body-threshold, between 0 and 1."`
	Delay       time.Duration `placeholder:"DUR" default:"1s" help:"Time between two requests to a domain."`
	Response    time.Duration `placeholder:"DUR" default:"500ms" help:"Mean time of a response."`

	Replication   int     `placeholder:"N" default:"-1" help:"Copies of each partition; -1: three."`
	RetentionDays float64 `placeholder:"D" default:"7" help:"Days for which parsed is kept."`

	Cores        int      `placeholder:"N" default:"16" help:"Cores of a machine."`
	Memory       byteSize `placeholder:"SIZE" default:"64GiB" help:"Memory of a machine."`
	Disk         byteSize `placeholder:"SIZE" default:"4TiB" help:"Disk of a machine."`
	Network      float64  `placeholder:"GBIT" default:"10" help:"Network of a machine, Gbit/s in each direction."`
	ProcessCores int      `placeholder:"N" default:"4" help:"Cores for a process of a stage."`
	Load         float64  `placeholder:"SHARE" default:"0.6" help:"Share of a machine that the crawl may use, between 0 and 1."`

	Costs bool   `help:"Print the costs behind the plans, and where they were measured."`
	Model string `placeholder:"FILE" type:"path" help:"File of costs that bin/run cost -json wrote. Default: the costs of docs/scale.md."`
	JSON  bool   `name:"json" help:"Print one JSON object."`
}

func (c *planCmd) Run(std streams) error {
	model, err := c.model()
	if err != nil {
		return err
	}
	if c.Costs {
		_, err := io.WriteString(std.out, model.Table())
		return err
	}
	crawl, err := c.crawl()
	if err != nil {
		return err
	}
	p := plan.For(crawl, model)
	if c.JSON {
		return printJSON(std.out, p)
	}
	return writePlan(std.out, p, model.Measured)
}

func (c *planCmd) crawl() (plan.Crawl, error) {
	if c.Pages == 0 || c.Days == 0 || c.Domains == 0 {
		return plan.Crawl{}, usagef("--pages, --days and --domains say what to plan for: weft plan --pages 1B --days 30 --domains 20M")
	}
	if c.Replication == -1 {
		c.Replication = plan.DefaultCrawl().Replication
	}
	crawl := plan.Crawl{
		Pages: int64(c.Pages), Days: c.Days, Domains: int64(c.Domains), LargestDomain: int64(c.LargestDomain),
		PageBytes: int64(c.PageBytes), Links: c.Links, Known: c.Known, LargeShare: c.LargeBodies,
		Delay: c.Delay, Response: c.Response,
		Replication: c.Replication, RetentionDays: c.RetentionDays,
		Cores: c.Cores, Memory: int64(c.Memory), Disk: int64(c.Disk), Network: int64(c.Network * 1e9),
		ProcessCores: c.ProcessCores, Load: c.Load,
	}
	if err := crawl.Validate(); err != nil {
		return plan.Crawl{}, usagef("%s", strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	return crawl, nil
}

func (c *planCmd) model() (plan.Model, error) {
	if c.Model == "" {
		return plan.Default(), nil
	}
	text, err := os.ReadFile(c.Model)
	if err != nil {
		return plan.Model{}, usagef("--model: %w", err)
	}
	m, err := plan.ParseModel(text)
	if err != nil {
		return plan.Model{}, usagef("--model %s: %s", c.Model, strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	return m, nil
}

func writePlan(out io.Writer, p plan.Plan, from plan.Measured) error {
	size := func(v float64) string { return progress.Bytes(int64(v)) }
	rate := func(v float64) string { return progress.Bytes(int64(v)) + "/s" }
	c, t := p.Crawl, tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	errs := []error{nil}
	section := func(format string, args ...any) {
		errs = append(errs, t.Flush())
		fmt.Fprintf(out, format+"\n", args...)
	}
	section("%s pages in %s: %s/s, %s URLs known", progress.Count(c.Pages), days(c.Days), figure(p.Rate), progress.Count(int64(p.URLs)))
	section("politeness  %s", politely(p))
	for i, b := range p.Bottlenecks[:2] {
		section("%-10s  %s: %s", []string{"bottleneck", "then"}[i], b.What, b.Why)
	}
	section("\nSTAGES  on %d partitions, %s", p.Partitions, cmp.Or(p.PartitionsWhy, "which will do"))
	fmt.Fprintln(t, "  stage\tcores busy\tprocesses\tmemory\tstate on disk")
	stores := map[string]float64{}
	for _, s := range p.Stores {
		stores[s.Stage] = s.Disk
	}
	for _, s := range p.Stages {
		disk := ""
		if stores[s.Stage] > 0 {
			disk = size(stores[s.Stage])
		}
		fmt.Fprintf(t, "  %s\t%s\t%d\t%s\t%s\n", s.Stage, figure(s.Cores), s.Processes, size(s.Memory), disk)
	}
	section("\nTOPICS  %d copies", c.Replication)
	fmt.Fprintln(t, "  topic\trecords/s\tbytes\tkept\ton disk")
	for _, l := range p.Topics {
		kept := l.Kept
		if l.Topic == "parsed" {
			kept = days(min(c.RetentionDays, c.Days))
		}
		fmt.Fprintf(t, "  %s\t%s\t%s\t%s\t%s\n", l.Topic, figure(l.Records), rate(l.Bytes), kept, size(l.Disk))
	}
	section("\nMACHINES  of %d cores, %.3g GiB memory, %.3g TiB disk, %g Gbit/s, used to %.0f %%",
		c.Cores, float64(c.Memory)/(1<<30), float64(c.Disk)/(1<<40), float64(c.Network)/1e9, c.Load*100)
	fmt.Fprintln(t, "  for\tmachines\tby CPU\tmemory\tdisk\tnetwork")
	for _, m := range []struct {
		name string
		plan.Machines
	}{{"stages", p.Workers}, {"brokers", p.Brokers}} {
		fmt.Fprintf(t, "  %s\t%d\t%s\t%s\t%s\t%s\n", m.name, m.Count, figure(m.CPU), figure(m.Memory), figure(m.Disk), figure(m.Network))
	}
	n := p.Network
	section("\nNETWORK  %s from the web; %s to brokers, %s from them, %s between them", rate(n.FromWeb), rate(n.ToBrokers), rate(n.FromBrokers), rate(n.Replicas))
	section("OBJECTS  %s of checkpoints, %s of large bodies (%s)", size(p.Objects.Checkpoints), size(p.Objects.Bodies), rate(p.Objects.BodiesRate))
	section("A MACHINE LOST  its domains wait %s with checkpoints in the object store, %s without; its pages %s, while parse reads parsed",
		lasting(p.Recovery.WithCheckpoints), lasting(p.Recovery.WithoutCheckpoints), lasting(p.Recovery.Pages))
	section("\nBy costs of %s, on %s: weft plan --costs, docs/scale.md.", from.Date, from.Machine)
	return errors.Join(errs...)
}

func politely(p plan.Plan) string {
	c, q := p.Crawl, p.Politeness
	said := fmt.Sprintf("%s domains, asked %v after each response, permit %s pages/s", progress.Count(c.Domains), c.Delay, figure(q.Most))
	switch {
	case q.Possible:
		return "possible: " + said
	case q.Most >= p.Rate:
		return fmt.Sprintf("not possible: %s, but the largest domain takes %s days", said, figure(q.DaysNeeded))
	case q.DomainsNeeded == 0:
		return "not possible: the time is too short for a single robots.txt"
	}
	return fmt.Sprintf("not possible: %s; it takes %s domains, or %s days", said, progress.Count(q.DomainsNeeded), figure(q.DaysNeeded))
}

func days(n float64) string {
	if n == 1 {
		return "1 day"
	}
	return fmt.Sprintf("%g days", n)
}

// figure is a number with its significant digits.
func figure(v float64) string {
	switch {
	case v < 1:
		return fmt.Sprintf("%.2f", v)
	case v < 100:
		return fmt.Sprintf("%.1f", v)
	}
	return progress.Count(int64(v + 0.5))
}

// lasting is a time in seconds, minutes or hours.
func lasting(seconds float64) string {
	switch {
	case seconds < 120:
		return fmt.Sprintf("%.0f s", seconds)
	case seconds < 2*60*60:
		return fmt.Sprintf("%.0f min", seconds/60)
	}
	return fmt.Sprintf("%.1f h", seconds/60/60)
}
