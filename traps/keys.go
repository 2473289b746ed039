package traps

import (
	"encoding/binary"
	"strings"
)

// The keys of a partition. A domain, a host and a template have no zero byte.
//
//	t/ d DOMAIN                    the domain's census
//	t/ h DOMAIN 0 HOST             a host that is told apart from others
//	t/ p DOMAIN 0 HOST TEMPLATE    a pattern
//	t/ u DOMAIN 0 HOST TEMPLATE 0 SEQ8   a parked URL: a Target
const (
	censusKind  = "t/d"
	hostKind    = "t/h"
	patternKind = "t/p"
	parkedKind  = "t/u"
)

func censusKey(domain string) []byte { return []byte(censusKind + domain) }

func hostKey(domain, host string) []byte { return []byte(hostKind + domain + "\x00" + host) }

func patternKey(domain string, id identity) []byte {
	return []byte(patternKind + domain + "\x00" + id.host + id.template)
}

func parkedKey(domain string, id identity, seq uint64) []byte {
	return binary.BigEndian.AppendUint64([]byte(parkedKind+domain+"\x00"+id.host+id.template+"\x00"), seq)
}

// identity names a pattern of a domain. Keys have the host and the template one
// behind the other, and what begins a template is in no host.
type identity struct{ host, template string }

// Template is the template that an event names. Those of a crawl that was begun when
// names of directories had capitals have some: what had two spellings is one trap.
func Template(name string) string { return strings.ToLower(name) }

func named(host, template string) identity { return identity{host, Template(template)} }

// valid tells whether a name that comes from outside is one.
func (id identity) valid() bool {
	templates := strings.HasPrefix(id.template, "/") || id.template == scattered || id.template == whole
	return templates && !strings.ContainsAny(id.host, "/\x00") && !strings.Contains(id.template, "\x00")
}

const (
	// scattered is the template, on the domain as its host, of the URLs whose own
	// is not told apart any more.
	scattered = "*"
	// whole is the template, on the domain as its host, of the URLs beyond
	// Options.PagesPerDomain.
	whole = "(pages)"
)

// Bounds of what is told apart in a domain, so that no site makes the state grow
// for ever. They are part of the fold, and so never change.
const (
	// mostNamed: further templates go without the names of directories, which a
	// server can make up.
	mostNamed = 128
	// mostPatterns: further templates are scattered.
	mostPatterns = 1024
	// mostHosts: the rest of the hosts count as one, "*.domain".
	mostHosts = 32
)
