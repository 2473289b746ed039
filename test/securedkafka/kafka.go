package securedkafka

import (
	"fmt"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/internal/kafka"
	"github.com/weftcrawl/weft/test/kafkaserver"
)

// Listeners of a secured Kafka.
const (
	TLS      = "TLS"      // TLS alone
	Mutual   = "MUTUAL"   // TLS with client certificates
	Login    = "LOGIN"    // TLS and a password, by any mechanism
	Expired  = "EXPIRED"  // TLS with a certificate that has expired
	Elsehost = "ELSEHOST" // TLS with a certificate for the host kafka.example
)

// User and Password that the listener Login knows. The password is not a
// simple one: it holds what texts around it have to quote.
const (
	User     = "weft"
	Password = `s3cr3t-0f=w3ft"x'%41`
)

// Kafka is an Apache Kafka whose listeners are secured.
type Kafka struct {
	*kafkaserver.Cluster
	// Authority has signed the brokers' certificates, and signs the certificates of clients.
	Authority *Authority
}

// Start starts a secured Kafka that ends with the test.
func Start(t testing.TB) Kafka {
	t.Helper()
	kafkaserver.Need(t, kafkaserver.Current)
	ca := NewAuthority(t)
	properties := map[string]string{
		"listener.name.mutual.ssl.client.auth": "required",
		"ssl.truststore.type":                  "PEM",
		"ssl.truststore.location":              ca.File,
		"listener.name.login.plain.sasl.jaas.config": fmt.Sprintf(
			`org.apache.kafka.common.security.plain.PlainLoginModule required user_%s="%s";`, User, jaas(Password)),
		"listener.name.login.scram-sha-256.sasl.jaas.config": scramModule,
		"listener.name.login.scram-sha-512.sasl.jaas.config": scramModule,
		"listener.name.login.sasl.enabled.mechanisms":        "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
	}
	good := ca.Sign(t, "broker", Options{})
	for listener, c := range map[string]Certificate{
		TLS: good, Mutual: good, Login: good,
		Expired:  ca.Sign(t, "expired", Options{Expired: true}),
		Elsehost: ca.Sign(t, "elsehost", Options{Host: "kafka.example"}),
	} {
		prefix := "listener.name." + strings.ToLower(listener) + ".ssl.keystore."
		properties[prefix+"type"], properties[prefix+"location"] = "PEM", c.BothFile
	}
	credential := "[name=" + User + ",password=" + Password + "]"
	kafka := kafkaserver.Start(t, kafkaserver.Options{
		Listeners: []kafkaserver.Listener{
			{Name: TLS, Protocol: "SSL"}, {Name: Mutual, Protocol: "SSL"}, {Name: Login, Protocol: "SASL_SSL"},
			{Name: Expired, Protocol: "SSL"}, {Name: Elsehost, Protocol: "SSL"},
		},
		Properties: properties,
		Format:     []string{"--add-scram", "SCRAM-SHA-256=" + credential, "--add-scram", "SCRAM-SHA-512=" + credential},
	})
	return Kafka{kafka, ca}
}

const scramModule = "org.apache.kafka.common.security.scram.ScramLoginModule required;"

// jaas quotes a text for a JAAS configuration inside a properties file, where
// the backslash is a quote itself.
func jaas(text string) string { return strings.ReplaceAll(text, `"`, `\\"`) }

// Over reaches a listener by TLS, trusting the authority.
func (k Kafka) Over(listener string) kafka.Access {
	return kafka.Access{
		Brokers: k.AddrsOf(listener), TLS: kafka.TLS{On: true, CAFile: k.Authority.File},
	}
}

// As reaches the listener Login as User.
func (k Kafka) As(mechanism kafka.Mechanism, password string) kafka.Access {
	a := k.Over(Login)
	a.SASL = kafka.SASL{Mechanism: mechanism, User: User, Password: kafka.NewSecret(password)}
	return a
}

// With reaches the listener Mutual with a client certificate.
func (k Kafka) With(c Certificate) kafka.Access {
	a := k.Over(Mutual)
	a.TLS.CertFile, a.TLS.KeyFile = c.CertFile, c.KeyFile
	return a
}
