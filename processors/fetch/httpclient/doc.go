// Package httpclient makes HTTP exchanges for the crawler: one request, one response, and
// an outcome in every case. It knows no topics, no robots rules and no delays. The stage
// that calls it decides what is asked and when.
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
// A response that was read whole, or cut at a limit and flagged, has an empty [Class], whatever
// its status. Every other result has a named class; see [Class]. Status and headers are kept
// when the header was read, even if the body failed. A body that failed is dropped: to parse
// half a page is worse than to request the page again.
//
// [Client.LookUp] does the look-up before the exchange, and [Client.LookAhead] long before
// it. So a name that does not exist, or whose servers are silent, delays no other name. Few
// names are looked up at once. A look-up that hangs does not count (package slots).
//
// No name is looked up for a request that will go to a kept connection, even if the records of
// the name are old (see [keptConns]). Each new connection has a look-up, and its addresses are
// judged.
//
// An answer is kept as long as its records say, within bounds (see [lifetimes]). Go's
// resolver does not tell their TTLs, so they are read from the messages that pass on its
// connections (see [observed]).
//
// Redirects are resolved and reported, not followed. The target is another URL, perhaps of
// another domain, with rules and a delay of its own. Only [Client.Robots] follows
// redirects, and asks its caller before each.
//
// # At most one request on the wire
//
// net/http repeats an idempotent request by itself when a kept connection turns out to be
// dead. HTTP/2 does so for refused streams. The server may have seen the first request, and
// the repeat comes without the domain's delay. So each exchange carries a grant, which the
// connection checks in Write. Once bytes of the request have reached the kernel, a second
// attempt is refused and the exchange ends. A repeat after a write that accepted no byte is
// harmless and remains possible.
//
// Such an end of a request on a kept connection is [ClassStaleConnection]. It is not the
// server's fault, and the caller makes the exchange again when it may. For some minutes
// the origin is asked on new connections, so that the next exchange does not end in the
// same way (see [stale]). The same holds for an origin that answers 421.
//
// # The lease
//
// [Request].Permit is the stage's right to begin a request. It is checked when Do begins
// and again inside Write, on the way to the socket:
//
//   - HTTP/1.1, with and without TLS: in every Write of the exchange. The connection
//     carries only this request, so when the permit says no, no byte of the request was
//     written.
//   - HTTP/2: when a stream is opened on the connection, and in every Write of the
//     connection while the exchange lasts. A Write may also be a window update or
//     settings. To refuse it breaks the connection, which is intended.
//
// Two cases remain. A process that is frozen between the check and the write(2) after it
// writes when it thaws. And the kernel may send, or repeat, bytes that it accepted earlier.
// Connecting and TLS handshakes are not requests: one that began under a valid permit may
// end after it. When a permit ends while a response is read, the reading goes on. To stop
// it, cancel the context with [ErrLeaseLost] as its cause.
//
// # Hostile servers
//
// Whatever a server does, an exchange ends within Options.TotalTimeout and its connecting,
// because its connection is then reset ([attempt.abort]). It ends earlier when its body
// comes below Options.MinBodyRate (see [pace]). A response that contradicts itself is
// bad_response ([contradiction]). A connection on which the length of a body was given in
// two ways is not used again ([doubtful]). HTTP/1.1 connections accept nothing while they
// are idle. What an HTTP/2 peer may send is counted for each exchange, since most of its
// frames need not belong to one, and also while there is no exchange ([idleAllowance]).
// net/http writes some of what servers do to the standard logger of package log; a crawler
// should drop that. docs/conformance.md has the table.
//
// # State
//
// A Client has idle connections (closed after Options.IdleTimeout), cached addresses (see
// [resolver]), origins that do not keep connections (see [stale]), and pooled decoders and
// buffers. All of it is a cache. A Client is safe for concurrent use. Its goroutines belong to
// net/http's transport (two for each HTTP/1.1 and one for each HTTP/2 connection), to name
// look-ups, and to connection attempts in a race. [Client.Close] ends them.
//
// # Memory
//
// An exchange has at most 1 MiB of body (and as much again in a pooled buffer while it is
// read), the header limit, and a window of 32 KiB for each layer of gzip and deflate. Every
// layer of decoding is limited while it is read, so that a small body cannot become a large
// one in memory.
//
// The windows of brotli, 16 MiB at most, and zstd, 8 MiB (RFC 9659), are shared. Bodies in
// these codings are read before they are decoded, eight layers at a time over all
// exchanges, so that servers that hang occupy none of them (see [bodies.unpack]).
//
// Larger bodies, before or after decoding, share [Options].LargeBodyBytes, the body memory
// (see [bodyMemory]). A large body waits, with its connection open and its time running,
// until it can reserve memory for all that it may become. If its time ends while it waits,
// the exchange is a local_error, which is not the server's fault. A body that has its
// reservation, and comes too slowly for it while others wait, ends as slow_body. The caller
// releases the reservation ([Exchange.Release]).
//
// # Reading order
//
// client.go is the way of an exchange; request.go and response.go are what goes out and
// comes back; attempt.go and conn.go watch one exchange on its connection; dial.go,
// lookup.go, kept.go, resolve.go, dns.go and public.go make connections; body.go, coding.go, limits.go and
// bodymemory.go read bodies; class.go names failures.
package httpclient
