package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/weftcrawl/weft/bench/localweb"
)

// bench is what the commands have in common: their flags, a directory for all
// files, and the bars.
type bench struct {
	*flag.FlagSet
	out  io.Writer
	bin  string
	dir  string
	spec localweb.Spec
	bars bool

	missed int // bars
}

// newBench registers the flags of every command.
func newBench(name string, out io.Writer) *bench {
	b := &bench{FlagSet: flag.NewFlagSet("run "+name, flag.ContinueOnError), out: out}
	b.StringVar(&b.bin, "bin", "bin", "`directory` of the programs weft, web and limit")
	b.StringVar(&b.dir, "tmp", "", "keep files in this `directory` instead of a temporary one")
	return b
}

// newWebBench registers the flags of a command with one web, and with bars.
func newWebBench(name string, out io.Writer, spec localweb.Spec) *bench {
	b := newBench(name, out)
	b.spec = spec
	b.spec.Register(b.FlagSet)
	b.BoolVar(&b.bars, "bars", false, "fail when a bar is missed")
	return b
}

// run parses the flags, and measures with a directory that is there.
func (b *bench) run(args []string, measure func() error) (err error) {
	if err := b.Parse(args); err != nil {
		return err
	}
	if b.dir == "" {
		if b.dir, err = os.MkdirTemp("", "weft-bench-"); err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(b.dir) }()
	}
	if err := os.MkdirAll(b.dir, 0o755); err != nil {
		return err
	}
	if err := measure(); err != nil {
		return err
	}
	if b.bars && b.missed > 0 {
		return fmt.Errorf("%d bars missed", b.missed)
	}
	return nil
}

func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}

type checks struct {
	out    io.Writer
	missed int
}

func (c *checks) check(ok bool, format string, args ...any) {
	word := "ok    "
	if !ok {
		word = "MISSED"
		c.missed++
	}
	fmt.Fprintf(c.out, word+"  "+format+"\n", args...)
}
