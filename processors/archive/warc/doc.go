// Package warc makes WARC 1.1 files of HTTP exchanges (ISO 28500:2017,
// https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/), with an
// index in the format CDXJ.
//
// # A file
//
// A file is a [Head] and then what [File] writes. Every record is a gzip member or a zstd
// frame of its own (Annex D of the standard), so that readers can seek to any record.
//
//	warcinfo   the head: which records of fetched are in the file, and the crawl's definition
//	response   as it came; or revisit, if the payload is in the file already, or for a 304
//	request    as it was sent
//	metadata   of an exchange without a response: the class of its error; or, in files of
//	           their own, of a page: what parsed says of it
//
// A payload with a content coding is stored in its member and not compressed again. The digest
// of a record with a payload is that of the payload. Other records have a block digest, except for
// the metadata of pages. The checksum of a member is of the whole record.
//
// The bytes are a function of the head and of the exchanges: there is no clock and no random
// id. The head is written last, when the end of the file is known. It is stored and not
// compressed, and its numbers have a fixed width, so that its length does not depend on them.
//
// # As on the wire
//
// The head of a message is byte for byte what went over the wire: the status line with its
// version and reason, the order and spelling of fields, white space, folded lines and octets
// that are not UTF-8. A body has its content codings, if the record of fetched has them
// (Fetched.coded_body). A transfer coding belongs to a connection and is removed, as in most
// archives. The field Transfer-Encoding is then renamed to X-Weft-Orig-Transfer-Encoding,
// Content-Length to X-Weft-Orig-Content-Length, and Content-Length at the end of the head is the length
// of what is stored. The same is done if Content-Length is not that length. So the record is a valid
// HTTP message for every reader, and [OriginalHead] has its head as it came. A 304 and a 204 have no
// body. Only Transfer-Encoding is renamed in them, because jwarc looks for chunks.
//
// A body that was cut at the limit, one that does not fit in a record of fetched in both forms if
// the crawl has no store of large bodies, and one that an earlier version fetched are only there
// without their codings. Then Content-Encoding is renamed, too. A body that was cut at the limit is
// marked WARC-Truncated: length. If the connection ended before the body did, the record is marked
// disconnect, and time if the body came too slowly. A body that was not read, or not to its end for
// another reason, such as a picture that the crawl does not want, is marked unspecified.
// Facts.ErrorClass says why.
//
// A response without transfer coding and with its length is exactly what the server sent, and
// a request is exactly what was asked. Interim responses (1xx) are left out. HTTP/2 has no
// such text: its exchanges are written as HTTP/1.1 messages, which readers understand, and
// marked WARC-Protocol: h2. Exchanges whose head is longer than 64 KiB, and those that an
// earlier version fetched without it, are written so, too.
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
// record's type. A page that was fetched twice, because its first exchange was not reported
// before a crash, is there twice, with two ids.
//
// # What parse needs besides
//
// The record of a response has a field Weft-Exchange with [Facts]: what the crawl knew of the exchange
// that is not in its messages. With them the exchange can be parsed again.
//
// # Files of earlier versions
//
// [Recover] finishes files that a killed process of an earlier version left open (.open).
//
// # Why the writer is our own
//
// gowarc, which the tests use as a reader, writes a record's header fields in the random
// order of a Go map, copies each body through a temporary file, gives records to a
// goroutine that panics on any error of the file system, and cannot go on after a crash.
// A library that the loop relies on must report a full disk, and not end the process.
package warc
