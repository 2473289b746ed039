// Package jsonl writes the records of the topic parsed to files as JSON lines. Each
// record is written exactly once, whatever happens to the process. Lines reads such a file.
//
// # States
//
// A record is *appended* first: it is in a buffer, or in the file, but not recorded.
// Flush makes it *recorded*: Flush writes the buffer out, ends the compressor's frame, and
// then replaces the sidecar pages.state. The sidecar names the current file, its length,
// and for each partition the offset to go on with. Offsets returns what is recorded.
//
// # Invariants
//
//   - The files before the current one and the recorded length of the current one hold
//     exactly the records below the recorded offsets, each once, in the order in which
//     they were appended.
//   - The recorded length is the end of a line. In a compressed file it is the end of a
//     gzip member (RFC 1952) or of a zstd frame (RFC 8878). Both formats may be
//     concatenated, so that a file that is cut there is valid.
//
// # Failure
//
// After kill −9 the current file may be longer than recorded, and may end within a line;
// the next file may exist, too. Open cuts the current file, deletes the next one, and the
// consumer reads again from Offsets. The sidecar is replaced by a rename, so that it is the
// old one or the new one. It also has a checksum. If it is damaged, or missing beside
// numbered files, or names a length that the file does not have, Open returns an error:
// to go on would silently lose or repeat records.
//
// Flush hands data to the kernel. This is enough when the process ends. With
// [Options.Sync] it also waits for the disk, which is needed to survive a loss of power.
//
// A stream cannot be cut. Records that were appended after the last Flush are written
// again after a crash: at least once.
//
// A write error is final: every later Append and Flush returns it, and the consumer
// begins anew with Open.
package jsonl
