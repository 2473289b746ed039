package kafkaserver

import (
	"fmt"
	"strings"
)

// Versions of Apache Kafka that tests run against; deploy/kafka fetches them.
const (
	// Current is what Options.Version is by default.
	Current = "4.1.0"
	// Older is the last line of versions before that.
	Older = "3.9.1"
)

// Options of a cluster. The zero value is one broker of version Current that
// clients reach in plaintext.
type Options struct {
	// Version of Apache Kafka; Current.
	Version string
	// Brokers is how many there are, 1 or 3; 1. Their ids are 1 to Brokers,
	// and each is a controller too.
	Brokers int
	// Listeners for clients, besides the brokers' own. Clients use the first;
	// none: they use the brokers' own.
	Listeners []Listener
	// Properties for each broker's server.properties; they win over the
	// package's own.
	Properties map[string]string
	// Format are further arguments of the tool that formats the brokers'
	// storage, such as --add-scram.
	Format []string
}

// Listener of each broker, on a free port of 127.0.0.1.
type Listener struct {
	// Name is of capital letters and digits. Properties call it
	// listener.name.<name in small letters>.
	Name string
	// Protocol is PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL.
	Protocol string
}

// The brokers' own listeners.
const (
	inside     = "INSIDE"
	controller = "CONTROLLER"
)

func (o Options) withDefaults() Options {
	if o.Version == "" {
		o.Version = Current
	}
	if o.Brokers == 0 {
		o.Brokers = 1
	}
	return o
}

// Validate says what is wrong with the options, if anything.
func (o Options) Validate() error {
	if o.Brokers != 0 && o.Brokers != 1 && o.Brokers != 3 {
		return fmt.Errorf("kafkaserver: %d brokers are neither 1 nor 3", o.Brokers)
	}
	seen := map[string]bool{inside: true, controller: true}
	for _, l := range o.Listeners {
		switch {
		case l.Name == "" || strings.Trim(l.Name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") != "":
			return fmt.Errorf("kafkaserver: listener name %q is not of capital letters and digits", l.Name)
		case seen[l.Name]:
			return fmt.Errorf("kafkaserver: listener name %s is taken", l.Name)
		case !protocols[l.Protocol]:
			return fmt.Errorf("kafkaserver: listener %s has the unknown protocol %q", l.Name, l.Protocol)
		}
		seen[l.Name] = true
	}
	return nil
}

var protocols = map[string]bool{"PLAINTEXT": true, "SSL": true, "SASL_PLAINTEXT": true, "SASL_SSL": true}

// listeners are all that a broker has, in the order of a node's ports.
func (o Options) listeners() []Listener {
	return append([]Listener{{inside, "PLAINTEXT"}, {controller, "PLAINTEXT"}}, o.Listeners...)
}
