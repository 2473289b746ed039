// Package metrics names what Weft counts, in one place, and serves it to
// Prometheus together with health and profiles.
//
// Labels are bounded: stages, topics, partitions and reasons that are constants
// of the program; never a URL, a host or a domain. There are no globals: a
// [Set] belongs to the registry that it was made with.
package metrics
