package httpclient

import "net/netip"

// block is a block of addresses that do not belong to the public internet.
type block struct {
	netip.Prefix
	what string
}

var (
	// 64:ff9b::/96, the well-known NAT64 prefix (RFC 6052): the last 32 bits.
	nat64 = netip.MustParsePrefix("64:ff9b::/96")
	// 2002::/16, 6to4 (RFC 3056): the 32 bits after the prefix.
	sixToFour = netip.MustParsePrefix("2002::/16")

	globalUnicast = netip.MustParsePrefix("2000::/3")
)

// metadata are the hosts from which a machine in a cloud gets its secrets.
var metadata = []netip.Addr{
	netip.MustParseAddr("100.100.100.200"), // Alibaba
	netip.MustParseAddr("168.63.129.16"),   // Azure
	netip.MustParseAddr("169.254.169.254"), // most
	netip.MustParseAddr("169.254.170.2"),   // Amazon's for containers
	netip.MustParseAddr("169.254.170.23"),  // Amazon's for pods
	netip.MustParseAddr("192.0.0.192"),     // Oracle
	netip.MustParseAddr("fd00:ec2::23"),    // Amazon's for pods
	netip.MustParseAddr("fd00:ec2::254"),   // Amazon
	netip.MustParseAddr("fd20:ce::254"),    // Google
}

// specialBlocks are checked in this order: a narrow block with a name of its own is before the
// block that contains it.
var specialBlocks = blocks(
	"0.0.0.0/8", "this network", // RFC 791; 0.0.0.0 is this host
	"10.0.0.0/8", "private use", // RFC 1918
	"100.64.0.0/10", "shared by a carrier's customers", // RFC 6598; Alibaba's metadata
	"127.0.0.0/8", "loopback", // RFC 1122
	"168.63.129.16/32", "Azure's metadata", // and its DNS: public by number only
	"169.254.0.0/16", "link-local", // RFC 3927; the metadata of most clouds
	"172.16.0.0/12", "private use", // RFC 1918
	"192.0.0.0/24", "protocol assignments", // RFC 6890; Oracle's metadata
	"192.0.2.0/24", "documentation", // RFC 5737
	"192.31.196.0/24", "AS112", // RFC 7535
	"192.52.193.0/24", "AMT", // RFC 7450
	"192.88.99.0/24", "6to4 relays", // RFC 7526
	"192.168.0.0/16", "private use", // RFC 1918
	"192.175.48.0/24", "AS112", // RFC 7534
	"198.18.0.0/15", "benchmarks", // RFC 2544
	"198.51.100.0/24", "documentation", // RFC 5737
	"203.0.113.0/24", "documentation", // RFC 5737
	"224.0.0.0/4", "multicast", // RFC 5771
	"255.255.255.255/32", "broadcast", // RFC 919
	"240.0.0.0/4", "reserved", // RFC 1112

	"::/128", "unspecified", // RFC 4291; this host, to some kernels
	"::1/128", "loopback", // RFC 4291
	"::/96", "IPv4-compatible", // RFC 4291 section 2.5.5.1
	"64:ff9b:1::/48", "a translator's", // RFC 8215; which IPv4 address it means is not known
	"100::/64", "discard-only", // RFC 6666
	"100:0:0:1::/64", "a dummy", // RFC 9780
	"2001::/32", "Teredo", // RFC 4380; an IPv4 server and client are in it
	"2001::/23", "protocol assignments", // RFC 2928; ORCHID, benchmarks, AMT, AS112
	"2001:db8::/32", "documentation", // RFC 3849
	"2620:4f:8000::/48", "AS112", // RFC 7534
	"3fff::/20", "documentation", // RFC 9637
	"5f00::/16", "segment routing", // RFC 9602
	"fc00::/7", "unique local", // RFC 4193; fd00:ec2::254 is Amazon's metadata
	"fe80::/10", "link-local", // RFC 4291
	"fec0::/10", "site-local", // RFC 3879
	"ff00::/8", "multicast", // RFC 4291
)

// blocks makes a list of pairs: a prefix, and what it is.
func blocks(pairs ...string) []block {
	list := make([]block, 0, len(pairs)/2)
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, block{netip.MustParsePrefix(pairs[i]), pairs[i+1]})
	}
	return list
}
