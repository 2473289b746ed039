package main

import (
	"github.com/weftcrawl/weft/crawl"
)

// listenFlags open the embedded broker to other Kafka clients.
type listenFlags struct {
	Listen        string `placeholder:"ADDR" help:"Open the embedded broker to other Kafka clients at host:port: they may read everything and write seeds."`
	ListenTrusted bool   `help:"Let clients that come to --listen do everything, as stages and administrators do."`
	ListenTLSCert string `name:"listen-tls-cert" placeholder:"FILE" type:"path" help:"Certificate of --listen with its chain, in PEM: clients speak TLS."`
	ListenTLSKey  string `name:"listen-tls-key" placeholder:"FILE" type:"path" help:"Key of that certificate, in PEM."`
	ListenTLSCA   string `name:"listen-tls-ca" placeholder:"FILE" type:"path" help:"Authorities, in PEM, of the certificates that clients of --listen need; by default they need none."`
	ListenUsers   string `placeholder:"FILE" type:"path" help:"File of lines name:password: clients of --listen log in as one of them, by SASL (PLAIN, SCRAM-SHA-256, SCRAM-SHA-512)."`
}

// door says who may come to --listen.
func (f listenFlags) door() crawl.Door {
	return crawl.Door{
		Trusted: f.ListenTrusted, CertFile: f.ListenTLSCert, KeyFile: f.ListenTLSKey, ClientCAFile: f.ListenTLSCA, UsersFile: f.ListenUsers,
	}
}

func (f listenFlags) check() error {
	switch {
	case f.Listen == "" && f.door() != crawl.Door{}:
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
