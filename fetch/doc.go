// Package fetch makes HTTP exchanges for the crawler: one request, one
// response, an outcome in every case. It knows no topics, no robots rules and
// no delays; the stage that calls it decides what is asked and when.
//
// # An exchange
//
// [Client.Do] takes a canonical URL and returns an [Exchange], never an error.
//
//	Request ─▶ permit? ─▶ idle connection ────────────────┐
//	             │           or resolve ─▶ refuse private  │
//	             │           ─▶ connect ─▶ TLS (ALPN)      ▼
//	             │                                  permit? write request
//	             ▼                                         │
//	   Exchange{Class, Error, …} ◀─ decode, cut ◀─ body ◀─ header
//
// A response that was read whole, or cut at a limit and flagged, has an empty
// [Class], whatever its status. Everything else has a named class; see the
// table at [Class]. Status and headers are kept when the header was read, even
// if the body failed; a body that failed is dropped, for half a page parsed is
// worse than a page asked for again.
//
// Redirects are resolved and reported, not followed: the target belongs to
// another URL, perhaps another domain, with rules and a delay of its own. Only
// [Client.Robots] follows them, asking its caller before each.
//
// # At most one request on the wire
//
// net/http repeats an idempotent request by itself when a kept connection
// turns out to be dead, and HTTP/2 does so for refused streams. The server may
// have seen the first one, and a repeat comes without the domain's delay. So
// each exchange carries a grant that the connection consults in Write: once
// bytes of the request have reached the kernel, a second attempt is refused
// and the exchange ends. A repeat after a write that accepted no byte is
// harmless and remains.
//
// What so becomes of a request on a kept connection is [ClassStaleConnection],
// and no fault of the server's: the exchange is the caller's to make again, in
// its time. Its origin, and one that answers 421, is then asked on new
// connections for some minutes (see [stale]), so the next exchange does not
// meet the same.
//
// # The lease
//
// [Request].Permit is the stage's right to begin a request. It is asked when
// Do begins and again inside Write, on the way to the socket:
//
//   - HTTP/1.1, with and without TLS: in every Write of the exchange. The
//     connection carries nothing but this request, so a permit that says no
//     means that no byte of it was written.
//   - HTTP/2: when a stream is opened on the connection, and in every Write of
//     the connection while the exchange lasts. These may also be window
//     updates or settings; refusing them breaks the connection, which is meant.
//
// What remains: a process frozen between the check and the write(2) that
// follows it, which writes when it thaws; and bytes that the kernel accepted
// earlier and sends or repeats later. Connecting and TLS handshakes are not
// requests; one begun under a valid permit may end after it. A permit that
// ends while a response is read does not stop the reading: cancel the context
// with [ErrLeaseLost] as its cause for that.
//
// # Hostile servers
//
// Whatever a server does, an exchange ends within Options.TotalTimeout and its
// connecting, for its connection is then reset ([attempt.abort]); a body that
// comes below Options.MinBodyRate ends before (see [pace]). What a response
// cannot say is bad_response ([contradiction]), and a connection on which the
// length of a body was said in two ways is not used again ([doubtful]).
// HTTP/1.1 connections take nothing while they are idle.
// What an HTTP/2 peer may send is counted per exchange, since most of its
// frames need not belong to one, and when there is none ([idleAllowance]).
// net/http writes some of what servers do to the standard logger of package
// log; who runs a crawler should drop that. docs/conformance.md has the table.
//
// # State
//
// A Client holds idle connections (closed after Options.IdleTimeout), cached
// addresses (see [resolver]), origins that do not keep connections (see
// [stale]), and pooled decoders and buffers. All of it is a
// cache. It is safe for concurrent use. Its goroutines are those of net/http's
// transport, two per HTTP/1.1 and one per HTTP/2 connection, name look-ups,
// and connection attempts in a race; [Client.Close] ends them.
//
// # Memory
//
// An exchange holds at most 1 MiB of body (and as much again in a pooled buffer
// while it is read), the header limit, and a window of 32 KiB for each layer of
// gzip and deflate. Every layer of decoding is limited while reading, so a small
// body cannot become a large one in memory.
//
// The windows of brotli, 16 MiB at most, and zstd, 8 MiB (RFC 9659), are not an
// exchange's. Bodies in these codings are read before they are decoded, eight
// layers at a time over all exchanges, so servers that hang hold none of them
// (see [bodies.unpack]).
//
// Larger bodies, before or after decoding, share [Options].LargeBodyBytes. One
// waits, with its connection open and its time running, until there is room for all
// that it may become; if its time ends so, the exchange is a local_error and no
// fault of the server's. Those that have room, and come too slowly for it while
// others wait, end as
// slow_body (see [room]).
// The room is free again when the caller says so ([Exchange.Release]).
package fetch
