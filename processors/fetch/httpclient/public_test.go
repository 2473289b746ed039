package httpclient

import (
	"encoding/csv"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"
)

// row is a block of a registry of IANA.
type row struct {
	netip.Prefix
	reachable bool // "Globally Reachable" is True
}

// registry reads a registry's file: some rows have several blocks, and notes
// stand in brackets behind them.
func registry(t *testing.T, file string) []row {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	reachable := slices.Index(lines[0], "Globally Reachable")
	var rows []row
	for _, line := range lines[1:] {
		texts, _, _ := strings.Cut(line[0], "[")
		for text := range strings.SplitSeq(texts, ",") {
			rows = append(rows, row{netip.MustParsePrefix(strings.TrimSpace(text)), line[reachable] == "True"})
		}
	}
	return rows
}

// registries are both, 26 and 25 blocks.
func registries(t *testing.T) []row {
	t.Helper()
	all := append(registry(t, "testdata/iana-ipv4-special-registry-1.csv"), registry(t, "testdata/iana-ipv6-special-registry-1.csv")...)
	if len(all) != 51 {
		t.Fatalf("%d blocks", len(all))
	}
	return all
}

// stricter are the blocks that the registries call globally reachable and that
// are refused all the same.
var stricter = map[string]string{
	"192.0.0.9/32":      "port control of the network's own translator",
	"192.0.0.10/32":     "a relay of the network's own",
	"192.31.196.0/24":   "AS112: a sink of name servers, perhaps the network's own",
	"192.52.193.0/24":   "AMT relays, perhaps the network's own",
	"192.175.48.0/24":   "AS112",
	"2001:1::1/128":     "port control of the network's own translator",
	"2001:1::2/128":     "a relay of the network's own",
	"2001:1::3/128":     "service registration in the network",
	"2001:3::/32":       "AMT relays",
	"2001:4:112::/48":   "AS112",
	"2001:20::/28":      "ORCHID: no addresses, but identifiers",
	"2001:30::/28":      "drones' identifiers",
	"2620:4f:8000::/48": "AS112",
}

// embedding are the blocks whose addresses are as public as the IPv4 address
// within, whatever the registries say.
var embedding = map[string]string{
	"::ffff:0.0.0.0/96": "the kernel takes them for IPv4",
	"64:ff9b::/96":      "a translator takes them for IPv4",
	"2002::/16":         "a tunnel takes them there",
}

// Every block of IANA's registries: what they do not call globally reachable is
// refused, at its first, second, middle and last address. What differs is
// listed, and differs.
func TestRegistries(t *testing.T) {
	rows := registries(t)
	differs, embeds := map[string]bool{}, map[string]bool{}
	for _, r := range rows {
		name := r.String()
		for _, a := range samples(r.Prefix) {
			inner, ok := within4(a)
			if _, listed := embedding[name]; ok && listed {
				embeds[name] = true
				if got, want := special(a) == "", special(inner) == ""; got != want {
					t.Errorf("%s: %v is public: %v, and %v in it: %v", name, a, got, inner, want)
				}
				continue
			}
			want := narrowest(rows, a).reachable
			if got := special(a) == ""; got == want {
				continue
			} else if got {
				t.Errorf("%s: %v is public", name, a)
				continue
			}
			if owner := narrowest(rows, a).String(); stricter[owner] == "" {
				t.Errorf("%s: %v is refused (%s), although %s is globally reachable", name, a, special(a), owner)
			} else {
				differs[owner] = true
			}
		}
	}
	for name := range stricter {
		if !differs[name] {
			t.Errorf("%s is listed as refused and is not, or is not in the registries", name)
		}
	}
	for name := range embedding {
		if !embeds[name] {
			t.Errorf("%s is listed as embedding IPv4 and does not, or is not in the registries", name)
		}
	}
}

// elsewhere are the blocks that are refused and not in the registries.
var elsewhere = map[string]string{
	"168.63.129.16/32": "Azure's documentation",
	"224.0.0.0/4":      "IANA's registry of IPv4 multicast",
	"::/96":            "RFC 4291 section 2.5.5.1, deprecated",
	"fec0::/10":        "RFC 3879, deprecated",
	"ff00::/8":         "IANA's registry of IPv6 multicast",
}

// Nothing is refused without a source.
func TestBlocksHaveSources(t *testing.T) {
	rows := registries(t)
	for _, b := range specialBlocks {
		name := b.String()
		listed := slices.ContainsFunc(rows, func(r row) bool { return r.Prefix == b.Prefix })
		if listed == (elsewhere[name] != "") {
			t.Errorf("%s: in the registries %v, elsewhere %q", name, listed, elsewhere[name])
		}
		if b.Prefix != b.Masked() || b.what == "" {
			t.Errorf("%s is %q", name, b.what)
		}
	}
}

// samples are addresses of a block.
func samples(p netip.Prefix) []netip.Addr {
	first := p.Masked().Addr()
	last, middle := first.AsSlice(), first.AsSlice()
	for bit := p.Bits(); bit < first.BitLen(); bit++ {
		last[bit/8] |= 0x80 >> (bit % 8)
		if bit > p.Bits() {
			middle[bit/8] |= 0x80 >> (bit % 8)
		}
	}
	list := []netip.Addr{first}
	for _, raw := range [][]byte{middle, last} {
		a, _ := netip.AddrFromSlice(raw)
		list = append(list, a)
	}
	if second := first.Next(); p.Contains(second) {
		list = append(list, second)
	}
	return list
}

// within4 returns the IPv4 address in one of a listed block, written again.
func within4(a netip.Addr) (netip.Addr, bool) {
	b := a.As16()
	switch {
	case a.Is4In6():
		return a.Unmap(), true
	case netip.MustParsePrefix("64:ff9b::/96").Contains(a):
		return netip.AddrFrom4([4]byte{b[12], b[13], b[14], b[15]}), true
	case netip.MustParsePrefix("2002::/16").Contains(a):
		return netip.AddrFrom4([4]byte{b[2], b[3], b[4], b[5]}), true
	}
	return netip.Addr{}, false
}

// narrowest is the most specific block that a is in.
func narrowest(rows []row, a netip.Addr) row {
	best := row{reachable: true}
	for _, r := range rows {
		if r.Contains(a) && (!best.IsValid() || r.Bits() > best.Bits()) {
			best = r
		}
	}
	return best
}

// The edges of blocks, and addresses that matter.
func TestSpecial(t *testing.T) {
	for _, tc := range []struct {
		addr string
		want string
	}{
		// public
		{"1.1.1.1", ""}, {"8.8.8.8", ""}, {"99.255.255.255", ""}, {"100.128.0.0", ""}, {"172.15.255.255", ""}, {"172.32.0.0", ""},
		{"192.0.1.0", ""}, {"223.255.255.255", ""}, {"168.63.129.17", ""}, {"2606:4700:4700::1111", ""}, {"2a00:1450:4001::1", ""},
		{"::ffff:8.8.8.8", ""}, {"64:ff9b::808:808", ""}, {"2002:808:808::1", ""}, {"2001:200::1", ""},
		{"2001:1234::5efe:8.8.8.8", ""}, {"2600::0200:5efe:808:808", ""}, {"2600::5eff:7f00:1", ""},
		// not
		{"0.0.0.0", "this network"}, {"0.1.2.3", "this network"}, {"10.255.255.255", "private use"},
		{"100.64.0.1", "shared by a carrier's customers"}, {"100.100.100.200", "shared by a carrier's customers"},
		{"127.0.0.1", "loopback"}, {"127.255.255.254", "loopback"}, {"168.63.129.16", "Azure's metadata"},
		{"169.254.169.254", "link-local"}, {"172.16.0.1", "private use"}, {"172.31.255.255", "private use"},
		{"192.0.0.192", "protocol assignments"}, {"192.0.2.1", "documentation"}, {"192.88.99.1", "6to4 relays"},
		{"192.168.1.1", "private use"}, {"198.18.0.1", "benchmarks"}, {"198.19.255.255", "benchmarks"},
		{"198.51.100.1", "documentation"}, {"203.0.113.1", "documentation"}, {"224.0.0.1", "multicast"},
		{"239.255.255.255", "multicast"}, {"240.0.0.1", "reserved"}, {"255.255.255.255", "broadcast"}, {"::", "unspecified"},
		{"::1", "loopback"}, {"::7f00:1", "IPv4-compatible"}, {"::ffff:10.0.0.1", "private use"},
		{"64:ff9b::a00:1", "10.0.0.1, private use"}, {"64:ff9b:1::1", "a translator's"}, {"100::1", "discard-only"},
		{"2001::1", "Teredo"}, {"2001:db8::1", "documentation"}, {"2002:a00:1::", "10.0.0.1, private use"},
		{"2002:c0a8:101::1", "192.168.1.1, private use"}, {"3fff::1", "documentation"}, {"5f00::1", "segment routing"},
		{"fc00::1", "unique local"}, {"fd00:ec2::254", "unique local"}, {"fe80::1", "link-local"},
		{"fe80::1%eth0", "an address of one link"}, {"2606:4700::1%eth0", "an address of one link"}, {"fec0::1", "site-local"},
		{"ff02::1", "multicast"}, {"2001:1234::5efe:127.0.0.1", "127.0.0.1, loopback"},
		{"2600::0200:5efe:a00:1", "10.0.0.1, private use"}, {"100:0:0:1::1", "a dummy"}, {"192.0.0.9", "protocol assignments"},
		{"2620:4f:8000::1", "AS112"}, {"::ffff:0:7f00:1", "no global unicast"}, {"2001:0:7f00:1::1", "Teredo"},
		{"fd20:ce::254", "unique local"},
		// several at once
		{"2002:808:808::5efe:8.8.4.4", ""}, {"2002:808:808::5efe:127.0.0.1", "127.0.0.1, loopback"},
		{"2002:808:808::200:5efe:10.0.0.1", "10.0.0.1, private use"}, {"2002:a00:1::5efe:8.8.8.8", "10.0.0.1, private use"},
		{"2001:db8::5efe:8.8.8.8", "documentation"}, {"2001:0:7f00:1::5efe:808:808", "Teredo"}, {"fe80::5efe:10.0.0.1", "link-local"},
	} {
		if got := special(netip.MustParseAddr(tc.addr)); got != tc.want {
			t.Errorf("special(%s) = %q, want %q", tc.addr, got, tc.want)
		}
	}
	if special(netip.Addr{}) == "" {
		t.Error("the zero address is public")
	}
}

func TestReach(t *testing.T) {
	networks := reach{networks: []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16"), netip.MustParsePrefix("fd00:1::/32"), netip.MustParsePrefix("fe80::/64")}}
	for _, tc := range []struct {
		reach reach
		addr  string
		want  bool
	}{
		{reach{}, "1.1.1.1", true}, {reach{}, "10.1.0.1", false},
		{reach{all: true}, "10.1.0.1", true}, {reach{all: true}, "169.254.169.254", true}, {reach{all: true}, "::1", true},
		{networks, "1.1.1.1", true}, {networks, "10.1.0.0", true}, {networks, "10.1.255.255", true}, {networks, "::ffff:10.1.0.1", true},
		{networks, "fd00:1::1", true}, {networks, "fe80::1", true},
		{networks, "10.0.255.255", false}, {networks, "10.2.0.0", false}, {networks, "127.0.0.1", false}, {networks, "169.254.169.254", false},
		{networks, "fd00:ec2::254", false}, {networks, "fe80::1%eth0", false}, {networks, "64:ff9b::10.1.0.1", false}, {networks, "2002:a01:1::1", false},
	} {
		if got := tc.reach.refusal(netip.MustParseAddr(tc.addr)) == ""; got != tc.want {
			t.Errorf("%+v permits %s: %v", tc.reach, tc.addr, got)
		}
	}
}

// A network that contains a cloud's metadata does not open them. Only their own address does.
func TestMetadataStayShut(t *testing.T) {
	for _, a := range metadata {
		for bits := range a.BitLen() + 1 {
			network, err := a.Prefix(bits)
			if err != nil {
				t.Fatal(err)
			}
			r := reach{networks: []netip.Prefix{network}}
			if got, want := r.refusal(a) == "", bits == a.BitLen(); got != want {
				t.Errorf("%v permits %v: %v", network, a, got)
			}
			if next := a.Next(); network.Contains(next) && r.refusal(next) != "" {
				t.Errorf("%v does not permit %v", network, next)
			}
		}
	}
}

func TestParseNetwork(t *testing.T) {
	for _, good := range []string{"10.0.0.0/8", "10.1.2.3/32", "0.0.0.0/0", "fd00::/8", "::1/128"} {
		if got, err := ParseNetwork(good); err != nil || got.String() != good {
			t.Errorf("%s: %v, %v", good, got, err)
		}
	}
	for bad, say := range map[string]string{
		"": "is not an address", "10.0.0.1": "is not an address", "10.0.0.0/33": "is not an address", "intranet/8": "is not an address",
		"fe80::%eth0/10": "is not an address", "10.0.0.0/8 ": "is not an address", "10.0.0.0/08": "is not an address",
		"10.1.2.3/8": "10.0.0.0/8 and 10.1.2.3/32 are networks", "fd00::1/8": "fd00::/8 and fd00::1/128 are networks",
		"::ffff:10.0.0.0/104": "write it as an IPv4 network",
	} {
		if got, err := ParseNetwork(bad); err == nil || !strings.Contains(err.Error(), say) {
			t.Errorf("%q: %v, %v", bad, got, err)
		}
		o := DefaultOptions()
		if o.AllowNetworks = []string{"10.0.0.0/8", bad}; o.Validate() == nil {
			t.Errorf("%q is among valid options", bad)
		}
	}
}

// An accepted network has the addresses that its text says, and no others: no address of
// another family, and no address outside its bits.
func FuzzParseNetwork(f *testing.F) {
	for _, text := range []string{"10.0.0.0/8", "10.1.2.3/8", "fd00::/8", "::ffff:1.2.3.4/128", "fe80::%e/10", "1.2.3.4", "0.0.0.0/0", "::/0"} {
		f.Add(text, []byte{10, 1, 2, 3})
	}
	f.Fuzz(func(t *testing.T, text string, raw []byte) {
		network, err := ParseNetwork(text)
		a, ok := netip.AddrFromSlice(raw)
		if err != nil || !ok {
			return
		}
		if network.String() != text && network.Addr().Is4() {
			t.Fatalf("%q is %v", text, network)
		}
		if network.Contains(a) && (a.BitLen() != network.Addr().BitLen() || netip.PrefixFrom(a, network.Bits()).Masked() != network) {
			t.Fatalf("%v contains %v", network, a)
		}
	})
}

// An address is equally public in every notation.
func FuzzSpecial(f *testing.F) {
	for _, a := range []string{"127.0.0.1", "8.8.8.8", "169.254.169.254", "::1", "2606:4700::1111", "2002:7f00:1::", "64:ff9b::808:808"} {
		f.Add(netip.MustParseAddr(a).AsSlice())
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		a, ok := netip.AddrFromSlice(raw)
		if !ok {
			return
		}
		is := special(a) == ""
		if a.Is4() {
			b := a.As4()
			for _, clothing := range []struct {
				addr string
				at   int // of the 16 octets
			}{
				{"::ffff:0:0", 12}, {"64:ff9b::", 12}, {"2002::1", 2}, {"2600::5efe:0:0", 12},
				{"2002:808:808::5efe:0:0", 12}, {"2002::5efe:808:808", 2},
			} {
				whole := netip.MustParseAddr(clothing.addr).As16()
				copy(whole[clothing.at:], b[:])
				if dressed := netip.AddrFrom16(whole); (special(dressed) == "") != is {
					t.Fatalf("%v is public: %v, and %v: %v", a, is, dressed, !is)
				}
			}
		}
		if is && (a.IsPrivate() || a.IsLoopback() || a.IsMulticast() || a.IsLinkLocalUnicast() || a.IsUnspecified() || !a.IsGlobalUnicast()) {
			t.Fatalf("%v is public", a)
		}
	})
}
