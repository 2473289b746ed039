package traps

import (
	"encoding/binary"
	"strings"
)

// The keys of a partition. A domain, a host and a template have no zero byte.
//
//	t/ d DOMAIN                    the domain's census
//	t/ h DOMAIN 0 HOST             one of the first mostHosts hosts
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

// identity names a pattern of a domain. In keys the template follows the host directly;
// the character that begins a template is in no host.
type identity struct{ host, template string }

// Template returns the template that an event names. Events of older programs have
// directories with capitals: both spellings are one trap.
func Template(name string) string { return strings.ToLower(name) }

func named(host, template string) identity { return identity{host, Template(template)} }

// valid tells whether an identity that comes from outside can be one.
func (id identity) valid() bool {
	templates := strings.HasPrefix(id.template, "/") || id.template == scattered || id.template == whole
	return templates && !strings.ContainsAny(id.host, "/\x00") && !strings.Contains(id.template, "\x00")
}

const (
	// scattered is the template, on the domain as its host, of the URLs beyond
	// mostPatterns.
	scattered = "*"
	// whole is the template, on the domain as its host, of the URLs beyond
	// Options.PagesPerDomain.
	whole = "(pages)"
)

// Bounds of a domain's templates and hosts, so that no site makes the state grow for
// ever. They are part of the fold, and so never change.
const (
	// mostNamed: further templates do not have the names of directories, because a
	// server can make them up.
	mostNamed = 128
	// mostPatterns: further templates are scattered.
	mostPatterns = 1024
	// mostHosts: further hosts count as one, "*.domain".
	mostHosts = 32
)
