// Package broker runs a Kafka-protocol broker in this process, so that a crawl
// on one machine needs no services.
package broker
