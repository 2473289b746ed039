// Package securedkafka makes what tests of a secured Kafka cluster need:
// certificate authorities with the certificates that they sign, and the options
// of an Apache Kafka (package kafkaserver) whose listeners want TLS, client
// certificates and passwords.
package securedkafka
