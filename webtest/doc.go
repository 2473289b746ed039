// Package webtest serves a web of many hosts on loopback and judges, from its
// own access log, how a crawler behaved towards it.
//
// # One port, many domains
//
// An IP address is a registrable domain of its own, and on Linux all of
// 127.0.0.0/8 answers on the loopback interface. A web of N domains is
// therefore N addresses 127.1.x.y on the one port of a listener on 0.0.0.0;
// the Host header of a request tells which domain is meant. No name resolution
// is involved.
//
// # Sites
//
// A [Site] answers for all domains of a web. [Generated] is computed from a
// seed: any page is made on the fly in some ten microseconds from blocks of
// text prepared at the start, so a web of millions of pages costs no memory
// and the server little of the processor that it shares with the crawler.
// [Tree] serves one directory of real documents on several hosts.
//
// # Judging from outside
//
// A [Server] stamps the start and the end of every request on one clock and
// keeps them as [Entry] values. [Audit] is a pure function of such entries and
// of what is expected: the shortest pause of a domain, requests that overlap,
// pages that are missing or repeated, requests before robots.txt, and requests
// for what robots.txt denies.
package webtest
