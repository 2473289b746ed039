// Package kafkaserver runs Apache Kafka for tests: real brokers in KRaft mode, one
// or three of them, each a Java process of its own that listens on loopback,
// holds its data in a temporary directory and ends with the test.
//
// The jars are those that `make kafka-fetch`, a part of `make test`, has put
// into .tools. Without them or without Java, tests that ask for a broker are
// skipped, and say why; where the environment has CI=true they fail.
//
// A start takes some seconds. Tests that can share a cluster are subtests of the
// one that starts it, with topics and groups of their own.
//
// # Listeners
//
// Every broker has two listeners of its own: CONTROLLER, and INSIDE, over which
// brokers talk among themselves and the package asks whether they are ready.
// Both are plaintext. Clients use INSIDE too, unless a test asks for listeners
// of its own: those can have any security protocol, and whatever they need goes
// into Options.Properties and Options.Format, as Kafka's manual has it:
//
//	kafkaserver.Start(t, kafkaserver.Options{
//		Listeners: []kafkaserver.Listener{{Name: "CLIENTS", Protocol: "SASL_PLAINTEXT"}},
//		Properties: map[string]string{
//			"sasl.enabled.mechanisms": "SCRAM-SHA-512",
//			"listener.name.clients.scram-sha-512.sasl.jaas.config": "org.apache.kafka.common.security.scram.ScramLoginModule required;",
//			"authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
//		},
//		Format: []string{"--add-scram", "SCRAM-SHA-512=[name=weft,password=secret]"},
//	})
//
// Who comes over INSIDE is User:ANONYMOUS, which is a super user: so a test can
// grant and revoke rights from there (Cluster.Inside) in a cluster with an
// authorizer.
//
// # States
//
// A broker runs, is frozen (SIGSTOP), or has ended: Stop ends it as an operator
// does, Kill as a power cut does, and StartAgain has it go on with its data and
// at its addresses. Operations on brokers return when they are done: StartAgain
// when the broker is one of the cluster again. Cluster methods are for one
// goroutine at a time.
//
// # Defaults
//
// Brokers have Kafka's defaults, except for settings that make a test slow (delays of groups,
// 50 partitions of offsets) or take memory (64 MB of start heap, 384 MB at most), and for the
// time after which a dead broker is noticed: 3 s instead of 9. With three brokers replication
// is 3 and min.insync.replicas 2. Topics are not created by themselves.
package kafkaserver
