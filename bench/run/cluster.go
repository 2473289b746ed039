package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/weftcrawl/weft/bench/localweb"
)

// minOnKafka is the bar of `run cluster`: the rate on Apache Kafka, as a share
// of that with the embedded broker.
const minOnKafka = 0.75

// The names of the programs.
const (
	embedded = "embedded"
	onKafka  = "Kafka"
)

// compare measures the same crawl embedded, on a cluster, and there by more
// processes.
func compare(ctx context.Context, args []string, out io.Writer) error {
	b := newWebBench("cluster", out, localweb.Spec{Pages: 20_000, Domains: 50, Seed: 1})
	processes := b.Int("processes", 3, "`processes` of the crawl by more than one")
	name := b.String("crawl", "cluster-"+strconv.FormatInt(time.Now().Unix(), 36), "`name` that the new crawls begin with")
	rounds := b.Int("rounds", 3, "`rounds`")
	warm := b.Int("warm", 5, "`crawls` on the cluster before the rounds; they do not count, because the broker's Java compiles itself")
	kafka := registerKafka(b.FlagSet)
	return b.run(args, func() error {
		broker, err := kafka.start(ctx, b.dir)
		if err != nil {
			return err
		}
		defer broker.end()
		var rows []clusterRow
		for round := range *warm + *rounds {
			for _, p := range clusterPrograms(fmt.Sprintf("%s-%%d-%d", *name, round), broker.addr, *processes) {
				if round < *warm && p.name != onKafka {
					continue
				}
				r, err := b.measureOnCluster(ctx, p, round, broker)
				if err != nil {
					return err
				}
				if round >= *warm {
					rows = append(rows, r)
				}
			}
		}
		b.missed = compared(out, rows)
		return nil
	})
}

type clusterRow struct {
	row
	broker time.Duration
}

// crawlFlags are what all programs are given.
const crawlFlags = " --sitemaps off --delay 0 --allow-private --scope host"

// clusterProgram is a program, and a command that makes its topics first; empty:
// the program does so itself.
type clusterProgram struct {
	program
	before string
}

// clusterPrograms are the programs of a round. Each program on the cluster has its own crawl, whose
// name has the number of processes.
func clusterPrograms(crawl, brokers string, processes int) []clusterProgram {
	at := func(processes int) string {
		return " --brokers " + brokers + " --crawl " + fmt.Sprintf(crawl, processes)
	}
	line := "{bin}/weft crawl --seeds {seeds} --data {data}" + crawlFlags
	team := clusterProgram{program: program{name: fmt.Sprintf("%s, %d processes", onKafka, processes), line: line + at(processes)}}
	for range processes - 1 {
		team.beside = append(team.beside, "{bin}/weft run all --data {data}"+at(processes))
		team.before = "{bin}/weft topics create" + crawlFlags + at(processes) // processes that run stages do not create a crawl
	}
	return []clusterProgram{{program: program{name: embedded, line: line}}, {program: program{name: onKafka, line: line + at(1)}}, team}
}

func (b *bench) measureOnCluster(ctx context.Context, p clusterProgram, round int, broker *kafkaBroker) (r clusterRow, err error) {
	if p.before != "" {
		if err := runToEnd(ctx, command(p.before, map[string]string{"bin": b.bin})); err != nil {
			return r, err
		}
	}
	before, err := broker.cpu()
	if err != nil {
		return r, err
	}
	r.row, err = b.measure(ctx, p.program, round)
	after, errAfter := broker.cpu()
	r.broker = after - before
	return r, errors.Join(err, errAfter)
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
			r.run().PagesPerSecond(), r.run().CPUPerPage(), micros(r.broker, r.report.Fetched), micros(r.webCPU, r.report.Fetched), mb(r.peakKB))
		if sum[r.name] == 0 {
			names = append(names, r.name)
		}
		sum[r.name] += r.run().PagesPerSecond()
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
