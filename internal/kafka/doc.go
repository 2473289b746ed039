// Package kafka says how to reach a Kafka cluster: its brokers, TLS with or without a client
// certificate, and a user with a password. It makes all Kafka clients of the program.
//
// # Files are read at each connection
//
// Files of certificates, keys and passwords are read again for each connection: a crawl lasts
// longer than they do, and new files are used without a restart. If a file is missing or half
// written, that connection fails and the client tries again.
//
// # What is never done
//
// The verification of the brokers' certificates cannot be switched off. CAFile names a private
// authority, and ServerName the name in the certificate of a broker that is reached by another
// name.
//
// A Secret always prints as "[secret]"; only this package reads it.
package kafka
