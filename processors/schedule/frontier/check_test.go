package frontier

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/weftcrawl/weft/internal/urls"
	"github.com/weftcrawl/weft/test/memstore"
)

// checkHeld counts, entry by entry, which URLs are queued, waiting or out.
func checkHeld(s *memstore.Store) map[string]int {
	urls := map[string]int{}
	for _, key := range s.Keys() {
		name, rest, _ := strings.Cut(key[1:], "\x00")
		if key[0] != domainKey || rest == "" {
			continue
		}
		value := s.Get([]byte(key))
		switch rest[0] {
		case queueKind, retryKind, groupedKind:
			q, _ := decodeRequest(value)
			urls[q.Target.Url]++
		case requestsKind:
			d, _ := decodeDomain(s.Get(keysOf(name).record()))
			qs, _ := decodeRequests(value)
			v := d.visits[d.find(int64(binary.BigEndian.Uint64([]byte(rest[1:9]))), uint32(rest[9]))]
			for i, q := range qs {
				if v.isOpen(uint32(i)) && !v.aside() {
					urls[q.Target.Url]++
				}
			}
		}
	}
	return urls
}

// recordKinds are the kinds of keys that checkStore does not count.
const recordKinds = string(originKind) + string(policyKind) + string(groupKind) + string(hostKind) + string(refreshKind)

// checkStore asserts every invariant of doc.go that a store shows by itself.
func checkStore(f *Frontier, s *memstore.Store) error {
	var (
		count   gauges
		entries = map[string]int{} // of the indexes and of domains, by what they belong to
		wanted  = map[string]int{}
	)
	for _, key := range s.Keys() {
		switch key[0] {
		case dueKeys[0], dueKeys[1], dueKeys[2], dueKeys[3], leaseKey, releaseKey:
			entries[key]++
		case domainKey:
			name, rest, _ := strings.Cut(key[1:], "\x00")
			if rest != "" {
				if !strings.ContainsRune(recordKinds, rune(rest[0])) {
					entries[key]++
				}
				continue
			}
			d, err := decodeDomain(s.Get([]byte(key)))
			if err != nil {
				return fmt.Errorf("record of %s: %w", name, err)
			}
			if err := checkDomain(f, s, name, d, &count, wanted); err != nil {
				return fmt.Errorf("domain %s: %w", name, err)
			}
			count.queued += d.queued()
			count.withdrawn += int64(d.groups.counts[withdrawn])
			for _, v := range d.visits {
				count.out += v.unsettled()
				count.visits++
			}
			count.domains += delta(false, d.pending())
			count.domainsOut += delta(false, len(d.visits) > 0)
		}
	}
	for key := range wanted {
		if entries[key] == 0 {
			return fmt.Errorf("%q is missing", key)
		}
	}
	for key := range entries {
		if wanted[key] == 0 {
			return fmt.Errorf("%q belongs to nothing", key)
		}
	}
	g, err := readGauges(f.store)
	if err != nil {
		return err
	}
	count.fetched, count.failed, count.refused = g.fetched, g.failed, g.refused
	count.decidedMS = g.decidedMS
	if g != count {
		return fmt.Errorf("gauges are %+v, a recount gives %+v", g, count)
	}
	var settled int64
	for _, n := range f.Outcomes() {
		settled += n
	}
	if settled != g.fetched+g.failed+g.refused+g.withdrawn {
		return fmt.Errorf("outcomes sum up to %d, gauges to %d", settled, g.fetched+g.failed+g.refused+g.withdrawn)
	}
	return nil
}

// checkDomain asserts a domain's state and notes the keys it accounts for.
func checkDomain(f *Frontier, s *memstore.Store, name string, d *domain, count *gauges, wanted map[string]int) error {
	keys := keysOf(name)
	down, err := checkOrigins(s, keys, d, wanted)
	if err != nil {
		return err
	}
	count.down += down
	if d.setting.blocked || d.day.blockMS != 0 {
		count.blocked += d.queued()
	}
	if err := checkGroups(s, keys, d, wanted); err != nil {
		return err
	}
	if out, hanging := d.out(); out > f.opts.PerDomain || hanging > maxHanging {
		return fmt.Errorf("%d visits are out", len(d.visits))
	}
	for _, v := range d.visits {
		wanted[string(keys.requests(v))]++
		wanted[string(f.releases.key(uint64(v.offset), append([]byte{byte(v.index)}, name...)...))]++
		if v.open == 0 || v.leaseMS == 0 {
			return fmt.Errorf("visit %+v is out", v)
		}
	}
	if d.leaseMS != d.firstLease() {
		return fmt.Errorf("lease index has %d, first lease ends %d", d.leaseMS, d.firstLease())
	}
	if d.leaseMS != 0 {
		wanted[string(f.leases.key(uint64(d.leaseMS), []byte(name)...))]++
	}
	if d.dueMS != 0 {
		wanted[string(f.due[d.dueIn].key(uint64(d.dueMS), []byte(name)...))]++
	}
	// Exactly one state: out, due, or empty.
	switch out, _ := d.out(); {
	case out >= f.opts.PerDomain && d.dueMS != 0:
		return fmt.Errorf("out, and due at %d", d.dueMS)
	case len(d.visits) == 0 && d.queued() > 0 && d.dueMS == 0:
		return fmt.Errorf("%d URLs queued, neither out nor due", d.queued())
	case d.queued() == 0 && d.dueMS != 0:
		return fmt.Errorf("empty, and due at %d", d.dueMS)
	}
	return nil
}

// checkOrigins asserts what a domain's record says of its origins, and that each of them is
// where it belongs. It returns how many URLs wait for hosts that are down.
func checkOrigins(s *memstore.Store, keys keys, d *domain, wanted map[string]int) (down int64, err error) {
	var origins uint32
	var held, waiting uint64
	var ready, up [priorities]uint64
	var firstMS int64
	s.Scan(keys.origin(""), keys.make(originKind+1, 0), func(key, value []byte) bool {
		name := string(key[len(keys.origin("")):])
		var o *origin
		var h *host
		if o, err = decodeOrigin(value); err == nil {
			h, err = decodeHost(s.Get(keys.host(urls.HostOf(name))))
		}
		if err != nil {
			return false
		}
		if o.id == 0 || o.id > d.origins {
			err = fmt.Errorf("origin %s has the id %d of %d", name, o.id, d.origins)
		}
		if at := placeOf(o, h); o.at != at {
			err = fmt.Errorf("origin %s is at %+v, not %+v", name, o.at, at)
		}
		counted := o.upURLs(h)
		for p, q := range o.queues {
			up[p] += counted[p]
			for seq := q.head; seq < q.tail; seq++ {
				wanted[string(keys.queue(o.id, p, seq))]++
			}
			if o.at.ready&(1<<p) != 0 {
				ready[p]++
				wanted[string(keys.ready(p, o.id))]++
			}
		}
		if o.at.waitMS > 0 {
			wanted[string(keys.waiting(o.at.waitMS, o.id))]++
			if waiting++; firstMS == 0 || o.at.waitMS < firstMS {
				firstMS = o.at.waitMS
			}
		}
		var retries uint64
		s.Scan(keys.retry(o.id, 0, 0), keys.retry(o.id+1, 0, 0), func(key, _ []byte) bool {
			if retries == 0 && keys.retryMS(key) != o.retries.headMS {
				retries = 1 << 60
			}
			wanted[string(key)]++
			retries++
			return true
		})
		if retries != o.retries.count {
			err = fmt.Errorf("retries of %s are %+v, of which %d are there", name, o.retries, retries)
		}
		origins++
		held += o.held()
		down += o.downURLs(h)
		return err == nil
	})
	if err == nil && (origins != d.origins || held != d.held || waiting != d.waiting || firstMS != d.waitMS || ready != d.ready || up != d.upURLs) {
		err = fmt.Errorf("%d origins hold %d URLs, %v in queues of those that are up, %d wait from %d, ready %v; the record is %+v", origins, held, up, waiting, firstMS, ready, d)
	}
	return down, err
}

// checkGroups asserts what a domain's record says of its groups, and that each URL
// in them has its place.
func checkGroups(s *memstore.Store, keys keys, d *domain, wanted map[string]int) (err error) {
	var counts [classes]uint64
	s.Scan(keys.group(""), keys.make(groupKind+1, 0), func(key, value []byte) bool {
		name := string(key[len(keys.group("")):])
		var g *group
		if g, err = decodeGroup(value); err != nil {
			return false
		}
		n := uint64(0)
		s.Scan(keys.grouped(name, 0), keys.grouped(name, 1<<63), func(key, value []byte) bool {
			q, _ := decodeRequest(value)
			if n == 0 && seqOf(key) != g.head {
				err = fmt.Errorf("group %s begins with %d: %+v", name, seqOf(key), g)
			}
			wanted[string(key)]++
			wanted[string(keys.placeOf(q.Target.Url))]++
			n++
			return true
		})
		if n != g.count {
			err = fmt.Errorf("group %s holds %d URLs: %+v", name, n, g)
		}
		if counts[g.class()] += n; n > 0 {
			wanted[string(keys.served(g.class(), name))]++
		}
		return err == nil
	})
	if err == nil && counts != d.groups.counts {
		err = fmt.Errorf("groups hold %v, the record says %v", counts, d.groups.counts)
	}
	return err
}
