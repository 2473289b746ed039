package fetch

import (
	"fmt"
	"net/netip"
	"slices"
)

// reach is which addresses may be connected to: those of the public internet,
// those of networks that were named, or all. A page may name any host, and a
// name may resolve to anything, so this is what stands between a hostile link
// and the services beside the crawler (server-side request forgery).
type reach struct {
	all      bool
	networks []netip.Prefix
}

// refusal says why a may not be connected to; empty: it may. IPv4-mapped
// addresses are the IPv4 addresses that the kernel takes them for.
func (r reach) refusal(a netip.Addr) string {
	if r.all || r.named(a.Unmap()) {
		return ""
	}
	return special(a)
}

// named reports whether a is in one of the networks that were named. Whoever
// names that of an intranet does not mean the cloud's metadata, which may lie
// in it: these hosts are named by their own address alone.
func (r reach) named(a netip.Addr) bool {
	for _, network := range r.networks {
		if network.Contains(a) && (network.IsSingleIP() || !slices.Contains(metadata, a)) {
			return true
		}
	}
	return false
}

// allowed returns the addresses that may be connected to, at most
// maxAddresses. A name that has others besides is dialled at these only, as
// resolvers do that strip private addresses from answers: names of public hosts
// with a stray ::1 or 10.0.0.1 are common mistakes, and to refuse them whole
// would protect nobody better. What is checked is what is dialled, so a name
// that changes its address in between (DNS rebinding) gains nothing.
func (r reach) allowed(addrs []netip.Addr) []netip.Addr {
	allowed := make([]netip.Addr, 0, min(len(addrs), maxAddresses))
	for _, a := range addrs {
		if len(allowed) < maxAddresses && r.refusal(a) == "" {
			allowed = append(allowed, a)
		}
	}
	return allowed
}

// special says what a is other than a unicast address of the public internet;
// empty: it is one.
//
// Sources: the IANA special-purpose address registries (RFC 6890, RFC 8190) as
// of 2026-07-18, which testdata has, and IPv6 global unicast being 2000::/3
// (RFC 4291 section 2.4). Some blocks that the registries call globally
// reachable hold no web servers, and the nearest of those anycast services may
// be one of the crawler's own network: they are refused too. IPv6 addresses
// that embed IPv4 addresses, to which a router or the kernel sends what is sent
// to them, are no more public than what they embed.
func special(a netip.Addr) string {
	switch {
	case !a.IsValid():
		return "no address"
	case a.Zone() != "":
		return "an address of one link" // RFC 4007
	}
	a = a.Unmap()
	for _, inner := range embedded(a) {
		if what := special(inner); what != "" {
			return fmt.Sprintf("%s, %s", inner, what)
		}
	}
	for _, b := range specialBlocks {
		if b.Contains(a) {
			return b.what
		}
	}
	if a.Is6() && !globalUnicast.Contains(a) && !nat64.Contains(a) {
		return "no global unicast"
	}
	return ""
}

// embedded returns the IPv4 addresses within an IPv6 address of a translator or
// of tunnels, of which one may begin where another ends.
func embedded(a netip.Addr) []netip.Addr {
	if !a.Is6() {
		return nil
	}
	b := a.As16()
	var inner []netip.Addr
	switch {
	case nat64.Contains(a):
		return append(inner, netip.AddrFrom4([4]byte(b[12:16])))
	case sixToFour.Contains(a):
		inner = append(inner, netip.AddrFrom4([4]byte(b[2:6])))
	}
	if b[8]&^0x02 == 0 && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe && globalUnicast.Contains(a) {
		// An ISATAP interface identifier (RFC 5214 section 6.1).
		inner = append(inner, netip.AddrFrom4([4]byte(b[12:16])))
	}
	return inner
}

// ParseNetwork reads an entry of Options.AllowNetworks.
func ParseNetwork(text string) (netip.Prefix, error) {
	network, err := netip.ParsePrefix(text)
	switch {
	case err != nil:
		return netip.Prefix{}, fmt.Errorf("network %q is not an address, a slash and a number of bits, such as 10.1.0.0/16", text)
	case network.Addr().Is4In6():
		return netip.Prefix{}, fmt.Errorf("network %q is of IPv4-mapped addresses: write it as one of IPv4", text)
	case network != network.Masked():
		return netip.Prefix{}, fmt.Errorf("network %q has more bits than it says: %v and %v are networks",
			text, network.Masked(), netip.PrefixFrom(network.Addr(), network.Addr().BitLen()))
	}
	return network, nil
}
