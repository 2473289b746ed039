// Package warc writes HTTP exchanges as WARC 1.1 files (ISO 28500:2017,
// https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/)
// and repairs what a crash leaves.
//
// # Files
//
// A file is named prefix-timestamp-serial-host.warc.gz and carries the suffix
// .open while it is written. It begins with a warcinfo record; each exchange
// is a response record and a request record. Every record is a gzip member of
// its own, as Annex D of the standard has it, so readers can seek to any.
//
// # The body is decoded
//
// The loop carries bodies without their Content-Encoding and
// Transfer-Encoding, so these cannot be archived as they came over the wire.
// A response record holds the decoded body. The two headers are renamed to
// X-Weft-Orig-Content-Encoding and X-Weft-Orig-Transfer-Encoding, a
// Content-Length that is no longer true to X-Weft-Orig-Content-Length, and
// Content-Length is set to the length of what is stored. The record is thus a
// valid HTTP message to every reader, and says what was changed. A body that
// was cut at the limit is marked WARC-Truncated: length.
//
// All else of a head is byte for byte what went over the wire: the status line with
// its version and reason, the order and spelling of fields, white space, folded lines
// and octets that are no UTF-8; a response that was sent without codings and with its
// length is what the server sent, and a request what was asked. Interim responses (1xx)
// are left out. HTTP/2 has no such text: its exchanges are written as HTTP/1.1 messages,
// which is what readers understand, and marked WARC-Protocol: h2. So are those whose
// head is longer than 64 KiB, and those that an earlier version of Weft fetched.
//
// # robots.txt
//
// Each exchange for a robots.txt is archived as that of a page is, one for each
// redirect.
//
// # Identity
//
// A record's id is a name-based UUID of the exchange (its id and its time) and
// of the record's type. The same exchange written twice, because it was
// delivered again after a crash, has the same ids and so can be recognised.
//
// # Failure
//
// Write buffers; what Flush has returned for is with the kernel and outlives
// the process. After kill −9 a file with the suffix .open may end in a torn
// member, or in a response without its request. [Open] reads such files, cuts
// them after the last whole member and gives them their final name; a run
// always begins a file of its own, because its warcinfo describes that run. A
// write error is final: each later call returns it.
//
// # Why the writer is our own
//
// gowarc, which the tests use as a reader, writes a record's header fields in
// the random order of a Go map, copies each body through a spooled temporary
// file, hands records to a goroutine that panics on any error of the file
// system, and cannot go on after a crash. A library that the loop relies on
// must report a full disk, not end the process.
package warc
