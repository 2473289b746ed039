package httpclient

import (
	"fmt"
	"net/netip"
	"slices"
)

// reach says to which addresses the crawler may connect: the public internet, the named
// networks, or all. A page may name any host, and a name may resolve to any address. So reach
// protects the services beside the crawler from hostile links (server-side request forgery).
type reach struct {
	all      bool
	networks []netip.Prefix
}

// refusal says why the crawler may not connect to a; empty: it may. The kernel takes an
// IPv4-mapped address for its IPv4 address, and so does refusal.
func (r reach) refusal(a netip.Addr) string {
	if r.all || r.named(a.Unmap()) {
		return ""
	}
	return special(a)
}

// named reports whether a is in one of the named networks. The network of an intranet may
// contain the metadata hosts of a cloud, which its user does not mean to permit. So such a host
// is named only by its own address.
func (r reach) named(a netip.Addr) bool {
	for _, network := range r.networks {
		if network.Contains(a) && (network.IsSingleIP() || !slices.Contains(metadata, a)) {
			return true
		}
	}
	return false
}

// allowed returns the addresses to which the crawler may connect, at most maxAddresses. A
// name that has other addresses as well is dialled at the allowed ones only. Resolvers that
// strip private addresses from answers do the same: public hosts with a stray ::1 or
// 10.0.0.1 are common mistakes, and refusing the whole name would protect no service better.
// The addresses that are checked are those that are dialled, so a name that changes its
// address in between (DNS rebinding) gains nothing.
func (r reach) allowed(addrs []netip.Addr) []netip.Addr {
	allowed := make([]netip.Addr, 0, min(len(addrs), maxAddresses))
	for _, a := range addrs {
		if len(allowed) < maxAddresses && r.refusal(a) == "" {
			allowed = append(allowed, a)
		}
	}
	return allowed
}

// special says what kind of special address a is; empty: a is a unicast address of the public
// internet.
//
// Sources: the IANA special-purpose address registries (RFC 6890, RFC 8190) as of 2026-07-18,
// which testdata has, and IPv6 global unicast, 2000::/3 (RFC 4291 section 2.4). Some blocks
// that the registries call globally reachable contain no web servers, only anycast services.
// The nearest such service may be in the crawler's own network, so these blocks are refused
// too. A router or the kernel sends packets for some IPv6 addresses to an IPv4 address that
// they embed. Such an address is public only if the embedded address is.
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

// embedded returns the IPv4 addresses within an IPv6 address of a translator or of tunnels. A
// tunnel may begin where another one ends.
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
		return netip.Prefix{}, fmt.Errorf("network %q has IPv4-mapped addresses: write it as an IPv4 network", text)
	case network != network.Masked():
		return netip.Prefix{}, fmt.Errorf("network %q has more bits than it says: %v and %v are networks",
			text, network.Masked(), netip.PrefixFrom(network.Addr(), network.Addr().BitLen()))
	}
	return network, nil
}

// otherProtocols are the ports that browsers refuse for http and https, in ascending order
// (https://fetch.spec.whatwg.org/#port-blocking). A request to such a port would be read as
// mail, as chat or as a job for a printer, and the author of a page could choose its text.
// No page that people see is there.
var otherProtocols = []uint16{
	1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95,
	101, 102, 103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179,
	389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587,
	601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061,
	6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
}

// forOther reports whether a port belongs to another protocol. The standard's list has port 0
// too, which checkHost refuses.
func forOther(port uint16) bool {
	_, found := slices.BinarySearch(otherProtocols, port)
	return found
}
