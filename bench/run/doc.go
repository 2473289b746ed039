// Command run measures a crawler against the local web, each program in a
// process of its own.
//
//	run speed    the limit program and the crawler in turn: pages/s, CPU a
//	             page, peak memory, and the ratio of the two
//	run polite   the crawler against many domains with a delay, killed with
//	             SIGKILL on the way if wanted, judged by the web's own log
//	run cluster  the same crawl with the embedded broker, on Apache Kafka, and
//	             there by three processes, and the ratios
//	run scale    a crawl on a cluster whose processes come, go and are killed:
//	             for how long nobody is asked after each change
//	run cost     what a page, a link, a KiB, a domain and a URL that waits cost
//	             each stage and each topic: the model that weft plan computes by
//
// A command is given as one line in which {seeds}, {urls}, {data} and {delay}
// stand for the file of root URLs, the file of all URLs, the data directory and
// the delay. Words are separated by white space; there is no quoting.
//
// With -bars the program exits with status 1 when a bar is missed.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := dispatch(ctx, os.Args[1:])
	if errors.Is(err, flag.ErrHelp) {
		os.Exit(2)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "run:", err)
		os.Exit(1)
	}
}

func dispatch(ctx context.Context, args []string) error {
	commands := map[string]func(context.Context, []string, io.Writer) error{
		"speed": speed, "polite": polite, "cluster": compare, "scale": scale, "cost": cost,
	}
	if len(args) == 0 || commands[args[0]] == nil {
		return errors.New("usage: run speed|polite|cluster|scale|cost [flags]; -h after the name lists them")
	}
	return commands[args[0]](ctx, args[1:], os.Stdout)
}
