package verify

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/settings"
	"github.com/weftcrawl/weft/processors/fetch/addresses"
	"github.com/weftcrawl/weft/topics"
)

// All names of an address share its budget. A fetcher's part of the budget is its part of the
// partitions (docs/decisions/0034). Who the fetchers were is not known. So each partition is
// taken for one: it may begin a request at once when its fetcher begins, and so may as many
// requests as can be open, which had their turn and waited for a slot.

// addressBudget is the loosest budget of an address of all definitions that the crawl had.
type addressBudget struct {
	addresses.Options
	known bool
}

// loosen takes over what one more definition says.
func (b *addressBudget) loosen(d topics.Definition) {
	o := settings.AddressOptions(addresses.DefaultOptions(), d)
	if !b.known {
		b.Options, b.known = o, true
		return
	}
	b.Delay = min(b.Delay, o.Delay)
	if o.AtOnce == 0 || b.AtOnce > 0 && o.AtOnce > b.AtOnce {
		b.AtOnce = o.AtOnce
	}
	b.Exempt = append(b.Exempt, o.Exempt...)
}

// atOnce is how many requests to an address may be open, 0: any number. Each process may have
// one.
func (b *budgets) atOnce() int {
	if b.address.AtOnce == 0 {
		return 0
	}
	return max(b.address.AtOnce, int(b.partitions))
}

// burst is how many requests to an address may begin sooner than its delay allows. If any number
// may be open, it is the number that begins in ten seconds.
func (b *budgets) burst() int64 {
	if b.address.AtOnce == 0 {
		return int64(b.partitions) + int64(10*time.Second/max(b.address.Delay, time.Millisecond))
	}
	return int64(b.partitions) + int64(b.atOnce())
}

// addressPace judges the requests to one address, in the order of their starts.
type addressPace struct {
	*budgets
	tolerance int64 // microseconds
	// next is when the next request would begin if all had kept the delay.
	next int64
	ends []int64 // of the requests that may be open
}

// add judges one more request. It returns what is wrong with it, or nothing.
func (p *addressPace) add(start, end int64) (fast, crowded string) {
	if delay := p.address.Delay.Microseconds(); delay > 0 {
		p.next = max(p.next, start) + delay
		if most := start + p.burst()*delay + p.tolerance; p.next > most {
			p.next = most
			fast = fmt.Sprintf("requests to the address begin sooner than every %v, by more than %d", p.address.Delay, p.burst())
		}
	}
	p.ends = slices.DeleteFunc(p.ends, func(end int64) bool { return end-p.tolerance <= start })
	if most := p.atOnce(); most > 0 && len(p.ends) >= most {
		crowded = fmt.Sprintf("%d requests to the address are open, and at most %d may be", len(p.ends)+1, most)
	}
	p.ends = append(p.ends, end)
	return fast, crowded
}

// addressed notes a request that took the budget of an address. r is
// the event that settles it.
func (t *table) addressed(made *weftpb.Attempt, r *kgo.Record) {
	address, ok := netip.AddrFromSlice(made.GetAddress())
	if !ok {
		return
	}
	as16 := address.As16()
	key := append([]byte{'a'}, as16[:]...)
	key = binary.BigEndian.AppendUint64(key, uint64(max(made.StartedMs, 0)))
	t.attempts++
	key = binary.BigEndian.AppendUint32(key, t.attempts)
	value := binary.BigEndian.AppendUint64(nil, uint64(made.TotalUs))
	value = binary.BigEndian.AppendUint32(value, uint32(r.Partition))
	t.store.Set(key, binary.BigEndian.AppendUint64(value, uint64(r.Offset)))
}

// judgeAddresses judges all requests to addresses, in the order of their starts.
func (j *judge) judgeAddresses() {
	var (
		pace *addressPace
		last netip.Addr
		seen int64
	)
	j.table.store.Scan([]byte{'a'}, []byte{'a' + 1}, func(key, value []byte) bool {
		address := netip.AddrFrom16([16]byte(key[1:])).Unmap()
		if pace == nil || address != last {
			pace, last = &addressPace{budgets: &j.budgets, tolerance: startCut + j.opts.Skew.Microseconds()}, address
		}
		if !j.budgets.address.Limits(address) {
			return true
		}
		seen++
		start := int64(binary.BigEndian.Uint64(key[17:])) * 1000
		end := start + int64(binary.BigEndian.Uint64(value))
		at := RecordRef{
			Topic: j.names.Scheduled, Partition: int32(binary.BigEndian.Uint32(value[8:])), Offset: int64(binary.BigEndian.Uint64(value[12:])),
			Says: "settles it: " + attempt{start: start, end: end}.times(),
		}
		fast, crowded := pace.add(start, end)
		for kind, says := range map[Kind]string{KindAddressFast: fast, KindAddressCrowded: crowded} {
			if says != "" {
				j.violate(Violation{Kind: kind, Says: fmt.Sprintf("%v: %s", address, says), Records: []RecordRef{at}})
			}
		}
		return true
	})
	j.noteAny(seen, "%d requests took the budget of an address")
}

// startCut is how much of its start a record loses, microseconds: it is in milliseconds.
const startCut = 1000

// judgeAddresses judges the requests to each server whose address is in the log.
func (s *site) judgeAddresses() {
	byServer := map[netip.Addr][]request{}
	for _, requests := range s.log {
		for _, r := range requests {
			if s.budgets.address.Limits(r.server) {
				byServer[r.server] = append(byServer[r.server], r)
			}
		}
	}
	for _, server := range slices.SortedFunc(maps.Keys(byServer), netip.Addr.Compare) {
		requests := byServer[server]
		slices.SortFunc(requests, func(a, b request) int { return cmp.Compare(a.start, b.start) })
		pace := &addressPace{budgets: &s.budgets, tolerance: s.tolerance}
		for _, r := range requests {
			fast, crowded := pace.add(r.start, r.end)
			if fast != "" {
				s.violate(KindLogAddressFast, s.suffixes.Domain(r.host), fmt.Sprintf("%v: %s", server, fast), r, "the later one")
			}
			if crowded != "" {
				s.violate(KindLogAddressCrowded, s.suffixes.Domain(r.host), fmt.Sprintf("%v: %s", server, crowded), r, "the last one")
			}
		}
	}
}
