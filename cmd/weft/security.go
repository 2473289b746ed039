package main

import (
	"slices"

	"github.com/alecthomas/kong"

	"github.com/weftcrawl/weft/cluster"
)

// securityFlags say how a cluster's listeners want to be spoken to.
type securityFlags struct {
	TLS           bool   `name:"tls" help:"Speak TLS to the brokers."`
	TLSCA         string `name:"tls-ca" placeholder:"FILE" type:"path" help:"Certificate authorities of the brokers, in PEM; by default the system's."`
	TLSCert       string `name:"tls-cert" placeholder:"FILE" type:"path" help:"Client certificate, in PEM, with --tls-key."`
	TLSKey        string `name:"tls-key" placeholder:"FILE" type:"path" help:"Key of the client certificate, in PEM."`
	TLSServerName string `name:"tls-server-name" placeholder:"NAME" help:"Name in the brokers' certificates, where it is not that of their addresses."`

	SASL             string       `name:"sasl" enum:"none,plain,scram-sha-256,scram-sha-512" default:"none" help:"Log in to the brokers by plain, scram-sha-256 or scram-sha-512."`
	SASLUser         string       `name:"sasl-user" placeholder:"NAME" help:"User to log in as."`
	SASLPassword     passwordFlag `name:"sasl-password" placeholder:"..." help:"The user's password: only in the environment or the file of --config, since a command line can be seen by others."`
	SASLPasswordFile string       `name:"sasl-password-file" placeholder:"FILE" type:"path" help:"File that holds the user's password."`
}

// given tells whether anything is set.
func (f securityFlags) given() bool {
	a := f.over(nil)
	return a.TLS != cluster.TLS{} || a.SASL.Mechanism != "" || a.SASL.User != "" || a.SASL.PasswordFile != "" || !a.SASL.Password.IsZero()
}

// over is the access to brokers as the flags say.
func (f securityFlags) over(brokers []string) cluster.Access {
	mechanism := cluster.Mechanism(f.SASL)
	if f.SASL == "none" {
		mechanism = ""
	}
	return cluster.Access{
		Brokers: brokers,
		TLS:     cluster.TLS{On: f.TLS, CAFile: f.TLSCA, CertFile: f.TLSCert, KeyFile: f.TLSKey, ServerName: f.TLSServerName},
		SASL: cluster.SASL{
			Mechanism: mechanism, User: f.SASLUser, Password: f.SASLPassword.Secret, PasswordFile: f.SASLPasswordFile,
		},
	}
}

// passwordFlag is a password that the command line must not hold: everybody on
// the machine sees it there, and /debug/pprof/cmdline serves it.
type passwordFlag struct{ cluster.Secret }

// BeforeResolve is called by kong when the flag is given or in the environment.
func (passwordFlag) BeforeResolve(ctx *kong.Context, trace *kong.Path) error {
	if slices.Contains(ctx.Path, trace) {
		return usagef("--sasl-password can be seen by others on a command line: use WEFT_SASL_PASSWORD, the file of --config, or --sasl-password-file")
	}
	return nil
}
