package kafka

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

// Mechanism is how a password is proven.
type Mechanism string

// The mechanisms. Plain sends the password to the broker, and without TLS everyone on the network
// can read it. Scram does not send it (RFC 5802, RFC 7677).
const (
	Plain       Mechanism = "plain"
	ScramSHA256 Mechanism = "scram-sha-256"
	ScramSHA512 Mechanism = "scram-sha-512"
)

// SASL is the user for the brokers. The zero value is no user, or the user of the client
// certificate.
type SASL struct {
	Mechanism Mechanism // empty: none
	User      string
	// Password, or a file that holds it. The end of the file's line is not
	// part of it.
	Password     Secret
	PasswordFile string
}

// Validate reports options that cannot work. It reads the file.
func (s SASL) Validate() error {
	given := s.User != "" || s.PasswordFile != "" || !s.Password.IsZero()
	switch s.Mechanism {
	case Plain, ScramSHA256, ScramSHA512:
	case "":
		if given {
			return errors.New("there is a user or a password, but no SASL mechanism")
		}
		return nil
	default:
		return fmt.Errorf("SASL mechanism %q is not one of %s, %s and %s", s.Mechanism, Plain, ScramSHA256, ScramSHA512)
	}
	switch {
	case s.User == "":
		return errors.New("there is a SASL mechanism, but no user")
	case s.Password.IsZero() && s.PasswordFile == "":
		return fmt.Errorf("there is no password for the user %s", s.User)
	case !s.Password.IsZero() && s.PasswordFile != "":
		return errors.New("there is a password and a password file: only one of them is possible")
	}
	_, err := s.password()
	return err
}

func (s SASL) password() (string, error) {
	if s.PasswordFile == "" {
		return s.Password.reveal(), nil
	}
	text, err := os.ReadFile(s.PasswordFile)
	if err != nil {
		return "", fmt.Errorf("read password: %w", err)
	}
	password := strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), "\r")
	if password == "" {
		return "", fmt.Errorf("read password: %s is empty", s.PasswordFile)
	}
	return password, nil
}

// mechanism reads the password again for each connection.
func (s SASL) mechanism() sasl.Mechanism {
	byScram := func(context.Context) (scram.Auth, error) {
		password, err := s.password()
		return scram.Auth{User: s.User, Pass: password}, err
	}
	switch s.Mechanism {
	case ScramSHA256:
		return scram.Sha256(byScram)
	case ScramSHA512:
		return scram.Sha512(byScram)
	}
	return plain.Plain(func(context.Context) (plain.Auth, error) {
		password, err := s.password()
		return plain.Auth{User: s.User, Pass: password}, err
	})
}
