// Package processors holds the stages of the loop, one file a stage: what it
// reads, what it writes, and which pure function decides.
//
// normalize, fetch and parse are stateless consumer groups (worker.go, and
// lanes of their own for fetch); dedupe and schedule are ledgers (goka.go).
// Every stage delivers at least once: a crash repeats work and drops none.
// A record that a stage cannot use goes to the topic rejected, and the stage
// goes on.
package processors
