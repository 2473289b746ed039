package main

import (
	"context"
	"fmt"
	"io"

	"github.com/weftcrawl/weft/crawl"
	"github.com/weftcrawl/weft/topics"
)

type serveCmd struct {
	listenFlags
	Data string `placeholder:"DIR" type:"path" default:"weft-data" help:"Directory of the crawl."`
}

// defaultListen is where weft serve listens unless told otherwise: where Kafka
// clients look for a broker.
const defaultListen = "127.0.0.1:9092"

// Run is called by kong.
func (c *serveCmd) Run(ctx context.Context, root *cli, std streams) error {
	if c.Listen == "" {
		c.Listen = defaultListen
	}
	if err := c.check(); err != nil {
		return err
	}
	return crawl.Serve(ctx, crawl.Options{
		Dir: c.Data, Listen: c.Listen, Door: c.door(), Definition: topics.Definition{Crawl: topics.DefaultCrawl}, Logger: root.logger(std.err),
	}, func(addr string) error { return tellServing(std.err, c.Data, addr) })
}

// tellServing says that a data directory is open to Kafka clients.
func tellServing(to io.Writer, data, addr string) error {
	_, err := fmt.Fprintf(to, "serving %s at %s until interrupted\n", data, addr)
	if err != nil {
		return fmt.Errorf("tell the address: %w", err)
	}
	return nil
}
