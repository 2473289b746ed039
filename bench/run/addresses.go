package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/weftcrawl/weft/test/child"
)

// leastUsed is the bar of `run addresses`: the part of an address's budget that must be used.
const leastUsed = 0.9

// addresses has several processes crawl many names of one address, and judges by the log of
// its server.
func addresses(ctx context.Context, args []string, out io.Writer) error {
	if !slices.Contains(args, inside) && !slices.Contains(args, "-h") {
		return inNamespace(ctx, append([]string{"addresses", inside}, args...), out)
	}
	b := newBench("addresses", out)
	b.BoolVar(&b.bars, "bars", false, "fail when a bar is missed")
	b.Bool(inside[1:], false, "this process has namespaces of its own; the program sets it itself")
	names := b.Int("names", 10_000, "`names` of the address, each a domain")
	processes := b.Int("processes", 4, "`processes` of the crawl")
	delay := b.Duration("address-delay", 50*time.Millisecond, "`time` between the starts of two requests to the address")
	lasts := b.Duration("time", time.Minute, "`time` that is judged, from the first request on")
	kafka := registerKafka(b.FlagSet)
	return b.run(args, func() error {
		if err := settle(b.dir); err != nil {
			return err
		}
		if err := writeNames(b.dir, *names); err != nil {
			return err
		}
		server, err := serveStarts("127.0.0.1:80")
		if err != nil {
			return err
		}
		defer server.close()
		broker, err := kafka.start(ctx, b.dir)
		if err != nil {
			return err
		}
		defer broker.end()
		flags := fmt.Sprintf(" --partitions %d --delay 1s --sitemaps off --allow-private --address-exempt 192.0.2.0/24 --address-delay %v --brokers %s", 2**processes, *delay, broker.addr)
		if err := runToEnd(ctx, command("{bin}/weft topics create --replication 1"+flags, map[string]string{"bin": b.bin})); err != nil {
			return err
		}
		var team []*child.Process
		defer func() {
			for _, p := range team {
				p.Kill()
			}
		}()
		for i := range *processes {
			line := fmt.Sprintf("{bin}/weft run all --data {dir}/p%d --brokers %s", i, broker.addr)
			p, err := start(command(line, map[string]string{"bin": b.bin, "dir": b.dir}), filepath.Join(b.dir, fmt.Sprintf("p%d.log", i)))
			if err != nil {
				return err
			}
			team = append(team, p)
		}
		seed := "{bin}/weft seed {dir}/seeds.txt --brokers " + broker.addr
		if err := runToEnd(ctx, command(seed, map[string]string{"bin": b.bin, "dir": b.dir})); err != nil {
			return err
		}
		starts, err := server.after(ctx, *lasts)
		if err != nil {
			return err
		}
		b.missed = judgeStarts(out, starts, *delay, *processes)
		return nil
	})
}

// writeNames writes the names of the address to /etc/hosts, and a seed for each to seeds.txt.
func writeNames(dir string, n int) error {
	hosts, seeds := strings.Builder{}, strings.Builder{}
	hosts.WriteString("127.0.0.1 localhost\n")
	for i := range n {
		fmt.Fprintf(&hosts, "127.0.0.1 www.n%d.com\n", i)
		fmt.Fprintf(&seeds, "http://www.n%d.com/\n", i)
	}
	return errors.Join(
		os.WriteFile(filepath.Join(dir, "hosts"), []byte(hosts.String()), 0o644), // mounted by settle
		os.WriteFile(filepath.Join(dir, "seeds.txt"), []byte(seeds.String()), 0o644),
	)
}

// startsServer notes the start of each request. Each of its pages links to twenty others.
type startsServer struct {
	http.Server
	mu     sync.Mutex
	starts []time.Time
}

func serveStarts(addr string) (*startsServer, error) {
	listener, err := net.Listen("tcp4", addr)
	if err != nil {
		return nil, err
	}
	s := &startsServer{}
	var page strings.Builder
	page.WriteString("<title>a page</title>")
	for i := range 20 {
		fmt.Fprintf(&page, "<a href=/p%d>%d</a> ", i, i)
	}
	s.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.starts = append(s.starts, time.Now())
		s.mu.Unlock()
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, page.String())
	})
	go func() { _ = s.Serve(listener) }()
	return s, nil
}

func (s *startsServer) close() { _ = s.Close() }

// after returns the starts of requests within a time from the first one on.
func (s *startsServer) after(ctx context.Context, lasts time.Duration) ([]time.Time, error) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(lasts + patience); ; {
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-tick.C:
		}
		s.mu.Lock()
		starts := slices.Clone(s.starts)
		s.mu.Unlock()
		switch {
		case len(starts) > 0 && time.Since(starts[0]) > lasts:
			return slices.DeleteFunc(starts, func(t time.Time) bool { return t.Sub(starts[0]) > lasts }), nil
		case len(starts) == 0 && time.Now().After(deadline):
			return nil, errors.New("no request came")
		}
	}
}

// judgeStarts prints the rate of requests to the address, and counts missed bars.
func judgeStarts(out io.Writer, starts []time.Time, delay time.Duration, processes int) (missed int) {
	budget := 1 / delay.Seconds()
	rate := float64(len(starts)-1) / starts[len(starts)-1].Sub(starts[0]).Seconds()
	fmt.Fprintf(out, "%d requests, %.2f a second: %.3f of the budget of %.0f, at least %.1f wanted\n", len(starts), rate, rate/budget, budget, leastUsed)
	if rate < leastUsed*budget {
		missed++
	}
	for _, window := range []time.Duration{time.Second, 10 * time.Second, 30 * time.Second} {
		// Each process may begin one request at the beginning of a window.
		most, may := mostWithin(starts, window), int(window.Seconds()*budget)+processes
		fmt.Fprintf(out, "at most %d in %v, %d are the budget with a request more for each of the %d processes\n", most, window, may, processes)
		if most > may {
			missed++
		}
	}
	return missed
}

// mostWithin is the largest number of starts within any window.
func mostWithin(starts []time.Time, window time.Duration) (most int) {
	first := 0
	for i, t := range starts {
		for t.Sub(starts[first]) >= window {
			first++
		}
		most = max(most, i-first+1)
	}
	return most
}
