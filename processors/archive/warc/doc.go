// Package warc writes HTTP exchanges as WARC 1.1 files (ISO 28500:2017,
// https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/)
// and repairs what a crash leaves.
//
// # Files
//
// A file is named prefix-timestamp-serial-host.warc.gz. While it is written, the name
// ends in .open. It begins with a warcinfo record; each exchange is a response record and
// a request record. Every record is a gzip member of its own (Annex D of the standard),
// so that readers can seek to any record.
//
// # The body is decoded
//
// Records of the loop have bodies without their Content-Encoding and Transfer-Encoding,
// so that bodies cannot be archived as they came over the wire. A response record has the
// decoded body. The two headers are renamed to X-Weft-Orig-Content-Encoding and
// X-Weft-Orig-Transfer-Encoding. A Content-Length that is not true any more is renamed to
// X-Weft-Orig-Content-Length, and Content-Length is the length of what is stored. So the
// record is a valid HTTP message for every reader, and says what was changed. A body that
// was cut at the limit is marked WARC-Truncated: length.
//
// The rest of a head is byte for byte what went over the wire: the status line with its
// version and reason, the order and spelling of fields, white space, folded lines and
// octets that are not UTF-8. A response without codings and with its length is exactly
// what the server sent, and a request is exactly what was asked. Interim responses (1xx)
// are left out. HTTP/2 has no such text: its exchanges are written as HTTP/1.1 messages,
// which readers understand, and marked WARC-Protocol: h2. Exchanges whose head is longer
// than 64 KiB, and those that an earlier version of Weft fetched, are written so, too.
//
// # robots.txt and checks
//
// An exchange for a robots.txt is archived like any other, and each redirect to it, too. So
// is a check, which asks for a page again to learn whether its host answers. Its body is
// left out if it is too large for a record of fetched.
//
// # Identity
//
// A record's id is a name-based UUID of the exchange (its id and its time) and of the
// record's type. An exchange that is delivered again after a crash is written again with
// the same ids, by which readers recognise it.
//
// # Failure
//
// Write buffers. When Flush has returned, the kernel has the data, which survives the
// process. After kill −9 a file that ends in .open may end within a member, or after a
// response without its request. [Open] reads such files, cuts them after the last whole
// member and gives them their final name. Every run begins a new file, because warcinfo
// describes the run. A write error is final: each later call returns it.
//
// # Why the writer is our own
//
// gowarc, which the tests use as a reader, writes a record's header fields in the random
// order of a Go map, copies each body through a temporary file, gives records to a
// goroutine that panics on any error of the file system, and cannot go on after a crash.
// A library that the loop relies on must report a full disk, and not end the process.
package warc
