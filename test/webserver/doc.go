// Package webserver serves a web of many hosts on loopback, and checks with its access
// log how a crawler behaved.
//
// # One port, many domains
//
// Each IP address is a registrable domain, and on Linux all of 127.0.0.0/8 answers on
// the loopback interface. A web of N domains is therefore N addresses 127.1.x.y on one
// port of a listener on 0.0.0.0. The Host header of a request names the domain. No
// name is looked up.
//
// # Sites
//
// A [Site] answers for all domains of a web. [Generated] is computed from a seed. Each
// page is made when it is asked for, in about ten microseconds, from blocks of text
// that are prepared at the start. A web of millions of pages needs no memory, and
// little of the processor that it shares with the crawler. [Tree] serves one directory
// of real documents on several hosts. [TrapSite] has every known kind of trap.
//
// # Sick hosts
//
// A [SickServer] serves a web of names. It has a name server of its own, and each of its hosts
// has an address and listeners of its own. Healthy hosts, sick hosts and names that do not exist
// share registrable domains, and healthy pages link to all of them. [Sicknesses] is the table of
// all kinds: what such a host does, and which pages a crawler should get from it. A crawler finds
// the names with [SickServer.Resolver], or with a resolv.conf that names the server's address.
//
//	web, err := webserver.ServeSick(webserver.SickOptions{Kinds: []string{"outage", "limit-429"}})
//	options.Resolver = web.Resolver()  // of httpclient
//	options.Seeds = web.Seeds()        // all healthy hosts
//	for host, path := range web.Pages() { … }  // what must be fetched in the end
//
// # The audit
//
// A [Server] notes the start and the end of each request by one clock, and keeps them
// as [Entry] values. [Audit] is a pure function of the entries and of what is expected.
// It finds the shortest pause of a domain, requests that overlap, pages that are missing
// or repeated, requests before robots.txt, and requests that robots.txt denies.
package webserver
