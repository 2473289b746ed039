package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/weftcrawl/weft/bench/localweb"
	"github.com/weftcrawl/weft/bench/performance"
)

// Names of the parts of docs/performance.md that are drawn.
const (
	peersPart   = "peers"
	machinePart = "machine"
	sharesPart  = "shares"
	limitPart   = "limit"
)

func peers(ctx context.Context, args []string, out io.Writer) error {
	b := newBench("peers", out)
	b.spec = localweb.Spec{Pages: 5_000, Domains: 50, Seed: 1}
	b.spec.Register(b.FlagSet)
	tools := b.String("tools", ".tools/peers", "`directory` of what bench/peers/fetch installs")
	docs := b.String("docs", "", "draw performance.md and performance.svg in this `directory`")
	rounds := b.Int("rounds", 3, "`rounds`, each of all programs in turn")
	names := b.String("programs", "", "`names` of the programs, with commas between them; empty: all. "+performance.Weft+" always runs")
	return b.run(args, func() error {
		programs := performance.Programs()
		if *names != "" {
			only := append(strings.Split(*names, ","), performance.Weft)
			programs = slices.DeleteFunc(programs, func(p performance.Program) bool { return !slices.Contains(only, p.Name) })
		}
		runs, err := b.rounds(ctx, programs, *rounds, *tools)
		if err != nil {
			return err
		}
		shares, cpuPerPage, err := b.shares(ctx, programs)
		if err != nil {
			return fmt.Errorf("take a profile of weft: %w", err)
		}
		all := performance.Summarize(programs, runs)
		return b.draw(all, map[string]string{
			peersPart:   performance.Table(all),
			machinePart: fmt.Sprintf("%s, with %d pages on %d domains in %d rounds.\n", measured(), b.spec.Pages, b.spec.Domains, *rounds),
			sharesPart:  performance.ShareTable(shares, cpuPerPage),
		}, *docs)
	})
}

// measured says when and where a measurement was made.
func measured() string {
	return fmt.Sprintf("Measured on %s: %s", time.Now().UTC().Format(time.DateOnly), machine())
}

// quiet is how long no new page may be served before a program is given up.
const quiet = time.Minute

// rounds runs the programs in turn, so that what else the machine does hits all.
func (b *bench) rounds(ctx context.Context, programs []performance.Program, rounds int, tools string) (runs []performance.Run, err error) {
	for round := 1; round <= rounds; round++ {
		for _, p := range programs {
			line := strings.ReplaceAll(p.Command, "{tools}", tools)
			r, err := b.measure(ctx, program{name: p.Name, line: line, quiet: quiet}, round)
			if err != nil {
				return nil, err
			}
			runs = append(runs, r.run())
			if err := os.RemoveAll(b.dirOf(p.Name, round)); err != nil {
				return nil, err
			}
		}
	}
	return runs, nil
}

// draw prints the parts of performance.md, and puts them and the plot into the documents
// if there is a directory for them.
func (b *bench) draw(all []performance.Summary, parts map[string]string, docs string) error {
	for _, part := range []string{machinePart, peersPart, sharesPart} {
		fmt.Fprintf(b.out, "\n%s", parts[part])
	}
	if docs == "" {
		return nil
	}
	plot, err := performance.Plot(all)
	if err != nil {
		return err
	}
	return errors.Join(replaceParts(docs, parts), os.WriteFile(filepath.Join(docs, "performance.svg"), []byte(plot), 0o644))
}

// replaceParts puts drawn parts into performance.md of a directory of documents.
func replaceParts(docs string, parts map[string]string) error {
	name := filepath.Join(docs, "performance.md")
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	document := string(text)
	for part, text := range parts {
		if document, err = performance.Replace(document, part, text); err != nil {
			return fmt.Errorf("draw %s: %w", name, err)
		}
	}
	return os.WriteFile(name, []byte(document), 0o644)
}
