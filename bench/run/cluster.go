package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/weftcrawl/weft/bench/localweb"
)

// minOnKafka is the bar of `run cluster`: the rate on Apache Kafka, as a share
// of that with the embedded broker.
const minOnKafka = 0.6

// comparison is the same crawl embedded, on a cluster, and there by more
// processes.
type comparison struct {
	bin       string
	brokers   string
	broker    int // the process of the broker; 0: somewhere else
	crawl     string
	processes int
	spec      localweb.Spec
	site      localweb.Web
	dir       string
}

// The names of the programs.
const (
	embedded = "embedded"
	onKafka  = "Kafka"
)

func compare(ctx context.Context, args []string, out io.Writer) error {
	f := flag.NewFlagSet("run cluster", flag.ContinueOnError)
	c := comparison{spec: localweb.Spec{Pages: 20_000, Domains: 50, Seed: 1}}
	c.spec.Register(f)
	f.StringVar(&c.bin, "bin", "bin", "`directory` of the programs weft and web")
	f.IntVar(&c.processes, "processes", 3, "`processes` of the crawl by more than one")
	f.StringVar(&c.crawl, "crawl", "cluster-"+strconv.FormatInt(time.Now().Unix(), 36), "`name` that the new crawls begin with")
	kafka := registerKafka(f)
	rounds := f.Int("rounds", 2, "`rounds`")
	dir := f.String("tmp", "", "keep files in this `directory` instead of a temporary one")
	bars := f.Bool("bars", false, "fail when a bar is missed")
	if err := f.Parse(args); err != nil {
		return err
	}
	var clean func()
	var err error
	if c.dir, clean, err = workDir(*dir); err != nil {
		return err
	}
	defer clean()
	if c.site, err = c.spec.Web(); err != nil {
		return err
	}
	broker, err := kafka.start(ctx, c.dir)
	if err != nil {
		return err
	}
	defer broker.end()
	c.brokers, c.broker = broker.addr, broker.pid
	rows, err := c.run(ctx, *rounds, out)
	if err != nil {
		return err
	}
	if missed := compared(out, rows); *bars && missed > 0 {
		return fmt.Errorf("%d bars missed", missed)
	}
	return nil
}

// clusterRow is one program in one round, and what it cost the broker.
type clusterRow struct {
	row
	broker time.Duration
}

// run measures all programs in turn, after a crawl that does not count: the
// broker's Java compiles itself.
func (c *comparison) run(ctx context.Context, rounds int, out io.Writer) (rows []clusterRow, err error) {
	for round := range rounds + 1 {
		for _, p := range c.programs(round) {
			if round == 0 && p.name != onKafka {
				continue
			}
			r, err := c.measure(ctx, p, round)
			if err != nil {
				return nil, fmt.Errorf("%s, round %d: %w", p.name, round, err)
			}
			fmt.Fprintln(out, r)
			if round > 0 {
				rows = append(rows, r)
			}
		}
	}
	return rows, nil
}

// crawlFlags are what all programs are given.
const crawlFlags = " --delay 0 --allow-private --scope host"

// programs are those of a round, each on the cluster with a crawl of its own.
func (c *comparison) programs(round int) []program {
	line := "{bin}/weft crawl --seeds {seeds} --data {data}" + crawlFlags
	one, more := c.name(1, round), c.name(c.processes, round)
	team := program{name: fmt.Sprintf("%s, %d processes", onKafka, c.processes), line: line + c.at(more)}
	for range c.processes - 1 {
		team.beside = append(team.beside, "{bin}/weft run all --data {data}"+c.at(more))
	}
	return []program{{name: embedded, line: line}, {name: onKafka, line: line + c.at(one)}, team}
}

func (c *comparison) name(processes, round int) string {
	return fmt.Sprintf("%s-%d-%d", c.crawl, processes, round)
}

func (c *comparison) at(crawl string) string { return " --brokers " + c.brokers + " --crawl " + crawl }

func (c *comparison) measure(ctx context.Context, p program, round int) (r clusterRow, err error) {
	if len(p.beside) > 0 { // who runs beside does not begin a crawl
		words := command("{bin}/weft topics create"+crawlFlags+c.at(c.name(c.processes, round)), map[string]string{"bin": c.bin})
		if said, err := exec.CommandContext(ctx, words[0], words[1:]...).CombinedOutput(); err != nil {
			return r, fmt.Errorf("topics create: %w\n%s", err, said)
		}
	}
	before, err := c.brokerCPU()
	if err != nil {
		return r, err
	}
	name := strings.NewReplacer(",", "", " ", "-").Replace(p.name)
	r.row, err = measureOne(ctx, p, c.bin, c.spec, c.site, filepath.Join(c.dir, fmt.Sprintf("%s-%d", name, round)))
	after, errAfter := c.brokerCPU()
	r.round, r.broker = round, after-before
	return r, errors.Join(err, errAfter)
}

func (c *comparison) brokerCPU() (time.Duration, error) {
	if c.broker == 0 {
		return 0, nil
	}
	return processCPU(c.broker)
}

// compared prints all rows and the ratios of the programs' means, and counts
// missed bars.
func compared(out io.Writer, rows []clusterRow) (missed int) {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "\nprogram\tround\tpages\trepeats\tseconds\tpages/s\tCPU µs/page\tbroker µs/page\tweb µs/page\tpeak MB\t")
	sum, names := map[string]float64{}, []string{}
	lost := 0
	for _, r := range rows {
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%.1f\t%.0f\t%.0f\t%.0f\t%.0f\t%s\t\n", r.name, r.round, r.report.Fetched, r.report.Repeats, r.wall.Seconds(),
			r.pagesPerSecond(), r.cpuPerPage(), micros(r.broker, r.report.Fetched), micros(r.webCPU, r.report.Fetched), mb(r.peakKB))
		if sum[r.name] == 0 {
			names = append(names, r.name)
		}
		sum[r.name] += r.pagesPerSecond()
		lost += r.report.Expected - r.report.Fetched
	}
	_ = t.Flush()
	c := checks{out: out}
	fmt.Fprintln(out)
	ratio := sum[onKafka] / sum[embedded]
	c.check(ratio >= minOnKafka, "ratio Kafka/embedded %.2f, bar ≥ %.2f", ratio, minOnKafka)
	c.check(lost == 0, "pages missing %d, bar 0", lost)
	for _, name := range names {
		if name != embedded && name != onKafka {
			fmt.Fprintf(out, "        one process/%s %.2f\n", strings.TrimPrefix(name, onKafka+", "), sum[onKafka]/sum[name])
		}
	}
	return c.missed
}
