package frontier

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/kv"
)

// Until November 2026 the URLs of a domain waited in queues of the domain, and the domain had
// the breaker. Migrate changes such a store into a store of today. It is needed where a ledger
// was trimmed. Elsewhere the fold of the ledger leads to the same queues. The URLs of an origin
// keep their order.

// The kinds of keys that only such a store has; see keys.go.
const (
	formerQueueKind = 'q' // d DOMAIN 0 q PRIORITY SEQ8
	formerRetryKind = 't' // d DOMAIN 0 t MS8 SEQ8
)

// migrateChunk is how many URLs are moved between two writes of the records.
const migrateChunk = 2000

// Migrate changes a store of a former version into a store of today. It does not change other
// stores. After an interruption the store must be thrown away.
func Migrate(store kv.Store, partition int32) error {
	b := store.Get([]byte{gaugesKey})
	if b == nil || kv.Decode(b, (&gauges{}).fields) == nil {
		return nil
	}
	var g formerGauges
	if err := kv.Decode(b, g.fields); err != nil {
		return fmt.Errorf("read gauges of a former version: %w", err)
	}
	var domains []string
	(&Frontier{store: store}).Domains(func(name string) bool {
		domains = append(domains, name)
		return true
	})
	for _, name := range domains {
		m := migration{store: withoutGauges{store}, partition: partition, name: name, keys: keysOf(name)}
		if err := m.run(); err != nil {
			return fmt.Errorf("domain %s of a former version: %w", name, err)
		}
		g.down += m.down
	}
	store.Set([]byte{gaugesKey}, g.encode())
	return nil
}

// withoutGauges is a store without the gauges, because they have the form of a former version.
type withoutGauges struct{ kv.Store }

func (s withoutGauges) Get(key []byte) []byte {
	if len(key) == 1 && key[0] == gaugesKey {
		return nil
	}
	return s.Store.Get(key)
}

// migration is the migration of one domain.
type migration struct {
	store     kv.Store
	partition int32
	name      string
	keys      keys
	down      int64 // see gauges
}

func (m *migration) run() error {
	var d formerDomain
	if err := kv.Decode(m.store.Get(m.keys.record()), d.fields); err != nil {
		return err
	}
	m.store.Set(m.keys.record(), d.encode())
	if err := m.fold(m.origins); err != nil {
		return err
	}
	for _, kind := range []byte{formerQueueKind, formerRetryKind} {
		for more := true; more; {
			if err := m.fold(func(x *fold) (err error) { more, err = m.urls(x, kind); return err }); err != nil {
				return err
			}
		}
	}
	return nil
}

// fold changes the domain, and writes its records.
func (m *migration) fold(change func(*fold) error) error {
	x, err := openFold(m.store, m.partition, m.name, 0, 0)
	if err != nil {
		return err
	}
	if err := change(&x); err != nil {
		return err
	}
	x.saveOrigins()
	m.store.Set(m.keys.record(), x.d.encode())
	m.down += x.g.down
	return x.err
}

// origins gives the origins their numbers.
func (m *migration) origins(x *fold) error {
	lower := m.keys.origin("")
	x.origins = map[string]*origin{}
	var names []string
	for key, value := range kv.Range(m.store, lower, m.keys.make(originKind+1, 0)) {
		var o formerOrigin
		if err := kv.Decode(value, o.fields); err != nil {
			return err
		}
		name := string(key[len(lower):])
		x.origins[name] = &o.origin
		names = append(names, name)
	}
	for _, name := range names {
		x.change(name, func(*origin) {})
	}
	return nil
}

// urls moves some URLs from a queue or the retries of the domain to their origins. It tells
// whether there were any.
func (m *migration) urls(x *fold, kind byte) (more bool, err error) {
	type former struct {
		key     []byte
		request *weftpb.Request
	}
	var found []former
	for e, err := range entries(m.store, m.keys.make(kind, 0), m.keys.make(kind+1, 0)) {
		if err != nil {
			return false, err
		}
		if found = append(found, former{slices.Clone(e.key), e.Request}); len(found) == migrateChunk {
			break
		}
	}
	for _, was := range found {
		m.store.Delete(was.key)
		if kind == formerRetryKind {
			x.retry(was.request, int64(binary.BigEndian.Uint64(was.key[len(m.keys.prefix)+1:])))
		} else {
			x.admit(was.request)
		}
	}
	return len(found) > 0, nil
}

// formerGauges are the gauges in their former form. If withdrawn was not 0, it stood in front,
// after formerWithdrawn.
type formerGauges struct{ gauges }

const formerWithdrawn = -1

func (g *formerGauges) fields(f *kv.Fields) {
	if f.Int(&g.queued); g.queued == formerWithdrawn {
		f.Int(&g.withdrawn)
		f.Int(&g.queued)
	}
	for _, n := range []*int64{&g.out, &g.visits, &g.domains, &g.domainsOut, &g.fetched, &g.failed, &g.refused, &g.decidedMS} {
		f.Int(n)
	}
}

// formerDomain is the record of a domain in its former form. The record of today has no place
// for its queues and its memory of failures.
type formerDomain struct{ domain }

func (d *formerDomain) fields(f *kv.Fields) {
	var unused uint64
	var unusedTime int64
	for range 2*priorities + 1 {
		f.Uint(&unused) // heads and lengths of queues, number of retries
	}
	f.Int(&unusedTime) // of the first retry
	f.Uint(&unused)    // the number of the next retry
	f.Uint(&unused)    // origins
	f.Int(&d.dueMS)
	f.Int(&d.leaseMS)
	f.Int(&d.nextMS)
	f.Uint(&unused) // failures
	f.Uint(&unused) // and cycles of the breaker
	var open, answered, grouped bool
	f.Bools(&open, &answered, &grouped)
	f.Uint32(&d.turn)
	f.Uint32(&d.responseMS)
	kv.List(f, &d.visits, maxPerDomain, func(v *visit) { v.fields(f) })
	if answered {
		f.Uint(&unused)    // by which origin
		f.Int(&unusedTime) // and when
		f.Uint(&unused)    // origins with failures
	}
	if grouped {
		d.groups.fields(f)
	}
}

// formerOrigin is the record of an origin in its former form.
type formerOrigin struct{ origin }

func (o *formerOrigin) fields(f *kv.Fields) {
	var reached, unhealthy bool
	f.Bools(&o.robotsOut, &reached, &o.unrestricted, &o.referred, &o.kept, &o.answered, &o.missing, &unhealthy)
	f.Int(&o.fetchedMS)
	f.Int(&o.ttlMS)
	f.Uint32(&o.crawlDelayMS)
	f.String(&o.hash)
	f.Uint32(&o.failures)
	f.Int(&o.retryMS)
	f.String(&o.refuse)
	if o.failures > 0 {
		o.failingMS = o.retryMS
	}
	if h := &o.health; unhealthy {
		f.Uint32(&h.breaker.Failures)
		f.Uint32(&h.breaker.Cycles)
		f.Bools(&h.breaker.Open)
		f.Int(&h.failedMS)
		f.Int(&h.waitMS)
		h.sinceMS = h.failedMS
	}
}
