// Command run measures a crawler against the local web, each program in a
// process of its own.
//
//	run speed    the limit program and the crawler in pairs, on few and on 2,000 young
//	             domains, with and without gzip: CPU a page and a KiB, pages/s, peak
//	             memory, and the ratios with confidence intervals. A page that is
//	             missing is an error. With -docs it draws its part of docs/performance.md
//	run peers    the limit program, the crawler and the crawlers of bench/peers in turn:
//	             the same, by the web's own log, and where the crawler's CPU goes. With
//	             -docs it draws docs/performance.md
//	run polite   the crawler against many domains with a delay, killed with
//	             SIGKILL on the way if wanted, judged by the web's own log
//	run cluster  the same crawl with the embedded broker, on Apache Kafka, and
//	             there by three processes, and the ratios
//	run scale    a crawl on a cluster whose processes come, go and are killed:
//	             for how long no request is made after each change
//	run cost     what a page, a link, a KiB, a domain and a URL that waits cost
//	             each stage and each topic: the model that weft plan computes by
//	run sick     the crawler against 60 healthy hosts whose pages link to 40 sick
//	             hosts and 600 dead names of the same domains, and against the
//	             same web without these links: pages reached, and the ratio of
//	             the times until the last healthy page. Besides, the ratio to a
//	             web in which these links lead to healthy hosts, because each
//	             link costs time, wherever it leads
//	run addresses  several processes on Apache Kafka against ten thousand names of
//	             one address: the rate of its requests, and how much of the
//	             address's budget they use
//	run growth   a crawl of a web without an end, until it knows ten million URLs: what
//	             a page costs when few are known, and when many are
//	run pace     no crawl: how even the pace of one was, by the access log of its
//	             web server. It prints the pages of each 10 s, and their coefficient
//	             of variation
//
// run sick serves its web at port 80 and a name server at port 53, which the crawler
// finds in /etc/resolv.conf. So it runs in a network and a mount namespace of its
// own, like those of unshare -n -m. That needs root or user namespaces; without them
// it ends with an error. run addresses does the same.
//
// -docs DIR serves each folder of DIR as a host, for example a folder docs.python.org
// with the documentation of Python. Links of such documents to other hosts lead to
// names that do not exist, in both crawls. URLs of hosts that are down stay queued, so
// run sick stops a crawl when all pages of healthy hosts were fetched and these hosts
// get no more requests. All figures are from the log of the web. The table of
// webserver.Sicknesses has the kinds of sick hosts.
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
		"speed": speed, "polite": polite, "cluster": compare, "scale": scale, "cost": cost, "sick": sick, "addresses": addresses,
		"pace": pace, "peers": peers, "growth": growth,
	}
	if len(args) == 0 || commands[args[0]] == nil {
		return errors.New("usage: run speed|peers|polite|cluster|scale|cost|sick|addresses|growth|pace [flags]; -h after the name lists them")
	}
	return commands[args[0]](ctx, args[1:], os.Stdout)
}
