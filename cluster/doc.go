// Package cluster says how to reach a Kafka cluster: its brokers, TLS with or
// without a client certificate, and a user with a password. Both Kafka clients
// of the program, franz-go and the sarama under goka, are told by one value,
// Access, so that they cannot disagree.
//
// # Files are read at each connection
//
// Certificates, keys and passwords that are given as files are read again
// whenever a connection is made: a crawl outlives them, and what replaces them
// on disk is taken up without a restart. A file that is missing or half written
// at such a moment fails that connection, and clients try again. (sarama is
// given the password of PLAIN when a ledger's processor is built; one that has
// changed since ends the processor, and its supervisor builds the next.)
//
// # What is never done
//
// There is no way to switch the verification of the brokers' certificates off: a
// private authority is named by CAFile, and a broker that is reached by another
// name than its certificate's by ServerName.
//
// A Secret prints as "[secret]", whatever prints it; only this package reads it.
package cluster
