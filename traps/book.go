package traps

import (
	"slices"
	"strings"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/state"
)

// Book is what is known of the URLs of one partition. It belongs to one
// goroutine at a time.
type Book struct {
	store state.Store
	// What was read from the store and is in it; nil is absent.
	patterns cache[identityOf, *pattern]
	censuses cache[string, *census]
	hosts    cache[identityOf, bool]
}

// identityOf is an identity, or a host, of a domain.
type identityOf struct {
	domain string
	identity
}

// Open returns the book that is in store.
func Open(store state.Store) *Book { return &Book{store: store} }

// Judge says which of the URLs of a domain that nobody has seen before are
// admitted, in order, and which are parked, by trap, knowing what the page showed
// that names them. Seeds are admitted always. It changes no later answer.
func (b *Book) Judge(o Options, domain string, shows weftpb.Showing, fresh []*weftpb.Target) (admitted []*weftpb.Target, parked []*weftpb.Parked) {
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
func (b *Book) room(o Options, domain string) (room int64, limited bool) {
	if o.PagesPerDomain == 0 {
		return 0, false
	}
	if p := b.pattern(domain, identity{domain, whole}); p != nil && p.exempt {
		return 0, false
	}
	return o.PagesPerDomain - int64(b.census(domain).admitted), true
}

// verdict tells of which trap a URL is; the reason is empty when it is of none.
// Who lifted one of its templates wants its URLs. A redirect has nothing to show.
func (b *Book) verdict(o Options, domain string, shows weftpb.Showing, t *weftpb.Target) (in identity, why Reason) {
	again := shows == weftpb.Showing_SHOWING_AGAIN || shows == weftpb.Showing_SHOWING_COPY || t.GetVia() == weftpb.Via_VIA_REDIRECT
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

// identities of a URL: its template, and, if it has a query, the one that holds
// all queries of its path. One that is not told apart goes without the names of
// its directories, and if that one is not told apart either, it is scattered.
func (b *Book) identities(domain, url string) (ids [2]identity) {
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

// withQueries is a template and, if it has a query, the one of all queries.
func withQueries(template string) [2]string {
	if path, _, found := strings.Cut(template, "?"); found {
		return [2]string{template, path + anyQuery}
	}
	return [2]string{template}
}

// tracks tells whether a pattern is there, or has room among so many.
func (b *Book) tracks(domain string, id identity, most uint64) bool {
	return b.census(domain).patterns < most || b.pattern(domain, id) != nil
}

// host is the host itself if it is told apart or has room, else what stands for
// the rest.
func (b *Book) host(domain, host string) string {
	if b.census(domain).hosts < mostHosts || b.knowsHost(domain, host) {
		return host
	}
	return "*." + domain
}

// park adds a URL to those of its trap.
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

// pattern reads what is known of a template; nil: nothing.
func (b *Book) pattern(domain string, id identity) *pattern {
	of := identityOf{domain, id}
	p, ok := b.patterns.get(of)
	if !ok {
		p = decodePattern(b.store.Get(patternKey(domain, id)))
		b.patterns.put(of, p)
	}
	return p
}

func (b *Book) census(domain string) *census {
	c, ok := b.censuses.get(domain)
	if !ok {
		c = new(decodeCensus(b.store.Get(censusKey(domain))))
		b.censuses.put(domain, c)
	}
	return c
}

func (b *Book) knowsHost(domain, host string) bool {
	of := identityOf{domain, identity{host: host}}
	known, ok := b.hosts.get(of)
	if !ok {
		known = b.store.Get(hostKey(domain, host)) != nil
		b.hosts.put(of, known)
	}
	return known
}

// cache remembers what is in the store.
type cache[K comparable, V any] struct{ entries map[K]V }

// cacheEntries bounds a cache; an entry takes some 200 bytes.
const cacheEntries = 1 << 13

func (c *cache[K, V]) get(key K) (V, bool) {
	v, ok := c.entries[key]
	return v, ok
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

// trim keeps the caches within bounds. It is called before an event is looked at
// and never meanwhile: a fold changes what is in the caches first.
func (b *Book) trim() {
	b.patterns.trim()
	b.censuses.trim()
	b.hosts.trim()
}
