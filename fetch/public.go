package fetch

import (
	"net/netip"
)

// public reports whether a is a unicast address of the public internet. The
// rest is refused when AllowPrivate is off: a page may name any host, and a
// name may resolve to anything, so this is what stands between a hostile link
// and the services beside the crawler (server-side request forgery).
//
// Sources: the IANA special-purpose address registries (RFC 6890) as of 2025,
// IPv6 global unicast being 2000::/3 (RFC 4291 section 2.4). IPv6 addresses
// that embed an IPv4 address are as public as what they embed.
func public(a netip.Addr) bool {
	if !a.IsValid() || a.Zone() != "" {
		return false
	}
	a = a.Unmap()
	if a.Is4() {
		return !within(a, specialIPv4)
	}
	switch b := a.As16(); {
	case nat64.Contains(a):
		return public(netip.AddrFrom4([4]byte(b[12:16])))
	case sixToFour.Contains(a):
		return public(netip.AddrFrom4([4]byte(b[2:6])))
	}
	return globalUnicast.Contains(a) && !within(a, specialIPv6)
}

var (
	// 64:ff9b::/96, the well-known NAT64 prefix (RFC 6052): the last 32 bits.
	nat64 = netip.MustParsePrefix("64:ff9b::/96")
	// 2002::/16 (RFC 3056): the 32 bits after the prefix.
	sixToFour = netip.MustParsePrefix("2002::/16")

	globalUnicast = netip.MustParsePrefix("2000::/3")

	specialIPv4 = prefixes(
		"0.0.0.0/8",        // this network
		"10.0.0.0/8",       // private (RFC 1918)
		"100.64.0.0/10",    // carrier-grade NAT (RFC 6598); Alibaba's metadata
		"127.0.0.0/8",      // loopback
		"168.63.129.16/32", // Azure's metadata and DNS, public by number only
		"169.254.0.0/16",   // link-local; metadata of most clouds
		"172.16.0.0/12",    // private
		"192.0.0.0/24",     // protocol assignments; Oracle's metadata
		"192.0.2.0/24",     // documentation (RFC 5737)
		"192.31.196.0/24",  // AS112 (RFC 7535)
		"192.52.193.0/24",  // AMT (RFC 7450)
		"192.88.99.0/24",   // 6to4 relays, withdrawn (RFC 7526)
		"192.168.0.0/16",   // private
		"192.175.48.0/24",  // AS112 (RFC 7534)
		"198.18.0.0/15",    // benchmarks (RFC 2544)
		"198.51.100.0/24",  // documentation
		"203.0.113.0/24",   // documentation
		"224.0.0.0/4",      // multicast
		"240.0.0.0/4",      // reserved, and limited broadcast
	)
	specialIPv6 = prefixes(
		"2001::/23",         // protocol assignments; Teredo, ORCHID, benchmarks
		"2001:db8::/32",     // documentation
		"2620:4f:8000::/48", // AS112
		"3fff::/20",         // documentation (RFC 9637)
	)
)

func prefixes(texts ...string) []netip.Prefix {
	list := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		list[i] = netip.MustParsePrefix(text)
	}
	return list
}

func within(a netip.Addr, list []netip.Prefix) bool {
	for _, prefix := range list {
		if prefix.Contains(a) {
			return true
		}
	}
	return false
}
