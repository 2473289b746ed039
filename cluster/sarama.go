package cluster

import (
	"context"
	"net"

	"github.com/IBM/sarama"
	"github.com/twmb/franz-go/pkg/sasl"
)

// Configure tells a client of sarama how to reach the cluster; the brokers are
// an argument of its constructors. The error is that of a file.
func (a Access) Configure(config *sarama.Config) error {
	if dial := a.dial(); dial != nil {
		// Proxy is sarama's word for a dialer that is not its own.
		config.Net.Proxy.Enable, config.Net.Proxy.Dialer = true, saramaDialer(dial)
	}
	if a.SASL.Mechanism == "" {
		return nil
	}
	password, err := a.SASL.password()
	if err != nil {
		return err
	}
	mechanism := a.SASL.mechanism()
	config.Net.SASL.Enable = true
	config.Net.SASL.Mechanism = sarama.SASLMechanism(mechanism.Name())
	config.Net.SASL.User, config.Net.SASL.Password = a.SASL.User, password
	config.Net.SASL.SCRAMClientGeneratorFunc = func() sarama.SCRAMClient {
		return &saramaScram{mechanism: mechanism}
	}
	return nil
}

// saramaDialer is the dialer of all clients, as sarama asks for one.
type saramaDialer func(ctx context.Context, network, address string) (net.Conn, error)

// Dial connects to a broker.
func (d saramaDialer) Dial(network, address string) (net.Conn, error) {
	return d(context.Background(), network, address)
}

// saramaScram is one authentication by franz-go's SCRAM, as sarama asks for it.
type saramaScram struct {
	mechanism sasl.Mechanism
	session   sasl.Session
	first     []byte // what the client says first
	done      bool
}

// Begin starts an authentication; the mechanism knows user and password.
func (s *saramaScram) Begin(_, _, _ string) (err error) {
	s.session, s.first, err = s.mechanism.Authenticate(context.Background(), "")
	return err
}

// Step answers a challenge of the broker, the first of which is empty.
func (s *saramaScram) Step(challenge string) (string, error) {
	if s.first != nil {
		first := string(s.first)
		s.first = nil
		return first, nil
	}
	done, answer, err := s.session.Challenge([]byte(challenge))
	s.done = done
	return string(answer), err
}

// Done tells whether both sides have proven that they know the password.
func (s *saramaScram) Done() bool { return s.done }
