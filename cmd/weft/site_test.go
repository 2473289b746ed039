package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"

	"github.com/weftcrawl/weft/test/webserver"
)

// serveSite is a command of the test scripts: site SEEDFILE [LOG] serves 60 pages
// on three domains until it is interrupted, and logs who asked.
func serveSite() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := site(ctx, os.Args[1], append(os.Args[2:], os.DevNull)[0]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func site(ctx context.Context, seeds, logFile string) error {
	log, err := os.Create(logFile)
	if err != nil {
		return err
	}
	defer log.Close()
	web, err := webserver.NewGenerated(webserver.Options{Pages: 60, Domains: 3, MedianBytes: 2000, MeanBytes: 3000})
	if err != nil {
		return err
	}
	server, err := webserver.Serve(web, webserver.ServerOptions{Log: log})
	if err != nil {
		return err
	}
	if err := os.WriteFile(seeds, []byte(strings.Join(server.Seeds(), "\n")+"\n"), 0o644); err != nil {
		return err
	}
	<-ctx.Done()
	return server.Close()
}
