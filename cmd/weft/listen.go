package main

import (
	"context"
	"fmt"
	"io"

	"github.com/weftcrawl/weft/crawl"
	"github.com/weftcrawl/weft/topics"
)

// listenFlags open the embedded broker to other Kafka clients.
type listenFlags struct {
	Listen        string `placeholder:"ADDR" help:"Open the embedded broker to other Kafka clients at host:port: they may read everything and write seeds."`
	ListenTrusted bool   `help:"Let the clients of --listen do everything, as stages and administrators do."`
	ListenTLSCert string `name:"listen-tls-cert" placeholder:"FILE" type:"path" help:"Certificate of --listen with its chain, in PEM: clients speak TLS."`
	ListenTLSKey  string `name:"listen-tls-key" placeholder:"FILE" type:"path" help:"Key of that certificate, in PEM."`
	ListenTLSCA   string `name:"listen-tls-ca" placeholder:"FILE" type:"path" help:"Authorities, in PEM, of the certificates that clients of --listen need; by default they need no certificate."`
	ListenUsers   string `placeholder:"FILE" type:"path" help:"File of lines name:password: clients of --listen log in as one of these users, by SASL (PLAIN, SCRAM-SHA-256, SCRAM-SHA-512)."`
}

// listener says which clients may connect to --listen.
func (f listenFlags) listener() crawl.Listener {
	return crawl.Listener{
		Trusted: f.ListenTrusted, CertFile: f.ListenTLSCert, KeyFile: f.ListenTLSKey, ClientCAFile: f.ListenTLSCA, UsersFile: f.ListenUsers,
	}
}

func (f listenFlags) check() error {
	switch {
	case f.Listen == "" && f.listener().Given():
		return usagef("--listen-trusted, --listen-tls-… and --listen-users are about --listen, which is not given")
	case f.Listen == "":
		return nil
	case (f.ListenTLSCert == "") != (f.ListenTLSKey == ""):
		return usagef("--listen-tls-cert and --listen-tls-key come together")
	case f.ListenTLSCA != "" && f.ListenTLSCert == "":
		return usagef("--listen-tls-ca needs --listen-tls-cert")
	}
	return checkAddress("--listen", f.Listen)
}

type serveCmd struct {
	listenFlags
	Data string `placeholder:"DIR" type:"path" default:"weft-data" help:"Directory of the crawl."`
}

// defaultListen is where weft serve listens by default, and where Kafka clients look
// for a broker by default.
const defaultListen = "127.0.0.1:9092"

func (c *serveCmd) Run(ctx context.Context, root *cli, std streams) error {
	if c.Listen == "" {
		c.Listen = defaultListen
	}
	if err := c.check(); err != nil {
		return err
	}
	return crawl.Serve(ctx, crawl.Options{
		Dir: c.Data, Listen: c.Listen, Listener: c.listener(), Definition: topics.Definition{Crawl: topics.DefaultCrawl}, Logger: root.logger(std.err),
	}, func(addr string) error { return tellServing(std.err, c.Data, addr) })
}

func tellServing(to io.Writer, data, addr string) error {
	_, err := fmt.Fprintf(to, "serving %s at %s until interrupted\n", data, addr)
	if err != nil {
		return fmt.Errorf("tell the address: %w", err)
	}
	return nil
}
