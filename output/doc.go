// Package output writes the records of the topic parsed to files as JSON
// lines, each record exactly once whatever happens to the process.
//
// # States
//
// Data is *appended* (in a buffer, or in the file but not yet recorded) and
// becomes *recorded* with Flush: the file is written out and the compressor's
// frame ended, and then the sidecar pages.state is replaced. The sidecar names
// the current file, its length, and the offset that each partition goes on
// with. What Offsets reports is recorded.
//
// # Invariants
//
//   - The first length bytes of the current file, and all of the files before
//     it, hold exactly the records below the recorded offsets, once each, in
//     the order in which they were appended.
//   - The recorded length is the end of a line and, in a compressed file, of a
//     gzip member (RFC 1952) or zstd frame (RFC 8878). Both formats are made to
//     be concatenated, so a file that was cut there is whole.
//
// # Failure
//
// After kill −9 the current file may be longer than recorded, even by part of
// a line, and a next file may have been begun. Open cuts the one, deletes the
// other, and the consumer reads again from Offsets. The sidecar is replaced by
// a rename, so it is old or new and never half of each; it carries a checksum
// all the same, and when it is damaged, or missing beside numbered files, or
// promises more than the file holds, Open refuses: going on would lose or
// repeat records without a word.
//
// Flush hands data to the kernel, which is enough against the end of the
// process. With [Options.Sync] it also waits for the disk, which is what it
// takes to survive the loss of power.
//
// When writing to a stream there is nothing that could be cut. Records
// appended after the last Flush are then repeated after a crash: at least
// once.
//
// A write error is final: every later Append and Flush returns it, and the
// consumer starts anew from Open.
package output
