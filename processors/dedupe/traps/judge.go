package traps

import (
	"slices"
	"strings"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/kv"
)

// Templates is what is known of the templates of one partition. One goroutine at a time
// may use it.
type Templates struct {
	store kv.Store
	// Caches of what is in the store; nil: it is not there.
	patterns cache[identityOf, *pattern]
	censuses cache[string, *census]
	hosts    cache[identityOf, bool]
}

// identityOf is an identity, or a host, of a domain.
type identityOf struct {
	domain string
	identity
}

// Open returns the templates in store.
func Open(store kv.Store) *Templates { return &Templates{store: store} }

// Judge says which new URLs of a domain are admitted, in order, and which are parked, by
// trap. shows is what the page showed that names them. Seeds are always admitted. Judge
// changes no later answer.
func (b *Templates) Judge(o Options, domain string, shows weftpb.Showing, fresh []*weftpb.Target) (admitted []*weftpb.Target, parked []*weftpb.Parked) {
	b.trim()
	room, limited := b.room(o, domain)
	for i, t := range fresh {
		id, reason := identity{}, Reason("")
		if t.GetVia() != weftpb.Via_VIA_SEED {
			if id, reason = b.verdict(o, domain, shows, t); reason == "" && limited && room <= 0 {
				id, reason = identity{domain, whole}, TooManyPages
			}
		}
		if reason == "" {
			room--
			if parked != nil {
				admitted = append(admitted, t)
			}
			continue
		}
		if parked == nil { // the first: until now all are admitted
			admitted = slices.Clone(fresh[:i])
		}
		parked = park(parked, id, reason, t)
	}
	if parked == nil {
		return fresh, nil
	}
	return admitted, parked
}

// room is how many URLs of the domain may still be admitted, if that is limited.
func (b *Templates) room(o Options, domain string) (room int64, limited bool) {
	if o.PagesPerDomain == 0 {
		return 0, false
	}
	if p := b.pattern(domain, identity{domain, whole}); p != nil && p.exempt {
		return 0, false
	}
	return o.PagesPerDomain - int64(b.census(domain).admitted), true
}

// verdict returns the trap of a URL; the reason is empty when there is none. If one of
// its templates was lifted, the URL is admitted. A redirect shows nothing.
func (b *Templates) verdict(o Options, domain string, shows weftpb.Showing, t *weftpb.Target) (in identity, why Reason) {
	again := nothingNew(shows) || t.GetVia() == weftpb.Via_VIA_REDIRECT
	for _, id := range b.identities(domain, t.GetUrl()) {
		if id.template == "" {
			break
		}
		p := b.pattern(domain, id)
		switch {
		case p == nil:
		case p.exempt:
			return identity{}, ""
		case why != "":
		case p.reason != "":
			if again || p.spent() {
				in, why = id, p.reason
			}
		case (again || p.spent()) && o.Evidence > 0 && p.same(o.Evidence):
			in, why = id, reasonOf(id.template)
		case o.URLsPerTemplate > 0 && p.admitted >= uint64(o.URLsPerTemplate) && id.template != scattered:
			in, why = id, TooManyURLs
		}
	}
	return in, why
}

// identities returns the template of a URL and, if it has a query, the template of all
// queries of its path. A template beyond the bound of a domain loses the names of its
// directories; beyond the second bound it is scattered.
func (b *Templates) identities(domain, url string) (ids [2]identity) {
	host, path, query := split(url)
	host = b.host(domain, host)
	for i, template := range withQueries(templateOf(path, query, literals)) {
		if template == "" {
			break
		}
		ids[i] = identity{host, template}
		if b.tracks(domain, ids[i], mostNamed) {
			continue
		}
		ids[i].template = withQueries(templateOf(path, query, 0))[i]
		if !b.tracks(domain, ids[i], mostPatterns) {
			ids[i] = identity{domain, scattered}
		}
	}
	if ids[1] == ids[0] {
		ids[1] = identity{}
	}
	return ids
}

// withQueries returns a template and, if it has a query, the one of all queries.
func withQueries(template string) [2]string {
	if path, _, found := strings.Cut(template, "?"); found {
		return [2]string{template, path + anyQuery}
	}
	return [2]string{template}
}

// tracks tells whether a pattern has a record, or may get one below this bound.
func (b *Templates) tracks(domain string, id identity, most uint64) bool {
	return b.census(domain).patterns < most || b.pattern(domain, id) != nil
}

// host is the host itself if it has a record or may get one; otherwise the name for all
// further hosts.
func (b *Templates) host(domain, host string) string {
	if b.census(domain).hosts < mostHosts || b.knowsHost(domain, host) {
		return host
	}
	return "*." + domain
}

// park adds a URL to the parked URLs of its trap.
func park(parked []*weftpb.Parked, id identity, reason Reason, t *weftpb.Target) []*weftpb.Parked {
	for _, p := range parked {
		if p.Host == id.host && p.Template == id.template {
			p.Targets = append(p.Targets, t)
			return parked
		}
	}
	return append(parked, &weftpb.Parked{
		Host: id.host, Template: id.template, Reason: string(reason), Targets: []*weftpb.Target{t},
	})
}

// pattern reads what is known of a template; nil: there is no record.
func (b *Templates) pattern(domain string, id identity) *pattern {
	return b.patterns.get(identityOf{domain, id}, func() *pattern { return decodePattern(b.store.Get(patternKey(domain, id))) })
}

func (b *Templates) census(domain string) *census {
	return b.censuses.get(domain, func() *census { return decodeCensus(b.store.Get(censusKey(domain))) })
}

func (b *Templates) knowsHost(domain, host string) bool {
	return b.hosts.get(identityOf{domain, identity{host: host}}, func() bool { return b.store.Get(hostKey(domain, host)) != nil })
}

// cache remembers what is in the store.
type cache[K comparable, V any] struct{ entries map[K]V }

// cacheEntries bounds a cache; an entry takes some 200 bytes.
const cacheEntries = 1 << 13

// get returns a value, and reads it if it is not remembered.
func (c *cache[K, V]) get(key K, read func() V) V {
	v, ok := c.entries[key]
	if !ok {
		v = read()
		c.put(key, v)
	}
	return v
}

func (c *cache[K, V]) put(key K, v V) {
	if c.entries == nil {
		c.entries = make(map[K]V)
	}
	c.entries[key] = v
}

// trim forgets all when that is more than the bound.
func (c *cache[K, V]) trim() {
	if len(c.entries) > cacheEntries {
		c.entries = nil
	}
}

// trim keeps the caches within bounds. It is called before an event and never during
// one, because a fold changes what is in the caches first.
func (b *Templates) trim() {
	b.patterns.trim()
	b.censuses.trim()
	b.hosts.trim()
}
