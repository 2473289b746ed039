// Command web serves the local web of the benchmarks until it is interrupted.
//
// It prints one line of JSON: the port of all domains, the files of root URLs
// and of the access log, and the address of a control server, which answers to
//
//	/count   pages served so far (status 200, without robots.txt)
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/weftcrawl/weft/bench/localweb"
	"github.com/weftcrawl/weft/test/webserver"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "web:", err)
		os.Exit(1)
	}
}

func run(args []string) (err error) {
	f := flag.NewFlagSet("web", flag.ExitOnError)
	spec := localweb.Spec{Pages: 20_000, Domains: 50, Seed: 1}
	spec.Register(f)
	port := f.Int("port", 0, "`port` of all domains; 0 picks one")
	control := f.String("control", "127.0.0.1:0", "`address` of the control server")
	logFile := f.String("log", "", "write the access log to this `file`")
	seedsFile := f.String("seeds", "", "write the root URLs to this `file`")
	latency := f.Duration("latency", 0, "`time` added to each response")
	if err := f.Parse(args); err != nil {
		return err
	}
	web, err := spec.Web()
	if err != nil {
		return err
	}
	options := webserver.ServerOptions{Port: *port, Latency: *latency, Gzip: spec.Gzip}
	if *logFile != "" {
		log, err := os.Create(*logFile)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, log.Close()) }()
		options.Log = log
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	server, err := webserver.Serve(web, options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	if *seedsFile != "" {
		seeds := server.Seeds()
		if spec.Young {
			seeds = seeds[:1]
		}
		if err := os.WriteFile(*seedsFile, []byte(strings.Join(seeds, "\n")+"\n"), 0o644); err != nil {
			return err
		}
	}
	l, err := net.Listen("tcp", *control)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /count", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, server.PagesServed()) })
	c := &http.Server{Handler: mux, ReadHeaderTimeout: time.Second}
	go func() { _ = c.Serve(l) }() // ends with Close
	defer func() { _ = c.Close() }()
	if err := json.NewEncoder(os.Stdout).Encode(map[string]any{
		"port": server.Port(), "control": "http://" + l.Addr().String(), "seeds": *seedsFile, "log": *logFile,
	}); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}
