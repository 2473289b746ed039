package seen

import (
	"encoding/binary"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/kv"
	"github.com/weftcrawl/weft/internal/urls"
)

// Fingerprints are stored as keyPrefix + 16 bytes, big endian. The value is one
// byte and not none, for stores that cannot tell empty from absent.
const (
	keyPrefix = "u/"
	keyBytes  = len(keyPrefix) + 16
)

var present = []byte{1}

// fingerprint identifies a canonical URL. The zero value means "none" in the
// cache; the URL that hashes to it is merely never cached.
type fingerprint struct{ hi, lo uint64 }

func fingerprintOf(url string) fingerprint {
	b := urls.Fingerprint(url)
	return fingerprintFrom(b[:])
}

func fingerprintFrom(b []byte) fingerprint {
	return fingerprint{hi: binary.BigEndian.Uint64(b), lo: binary.BigEndian.Uint64(b[8:])}
}

// Set is the URLs seen by one partition. It belongs to one goroutine at a time.
type Set struct {
	store  kv.Store
	filter filter
	cache  cache
	count  int64

	key   [keyBytes]byte           // scratch: a key under construction
	batch map[fingerprint]struct{} // scratch: URLs of one batch found unseen
}

// Open rebuilds the filter from the fingerprints in store.
// It panics if options do not validate.
func Open(options Options, store kv.Store) *Set {
	if err := options.Validate(); err != nil {
		panic("dedupe: " + err.Error())
	}
	s := &Set{
		store:  store,
		filter: newFilter(options.FirstCapacity, options.FalsePositiveRate),
		cache:  newCache(options.CacheEntries),
		batch:  make(map[fingerprint]struct{}),
	}
	copy(s.key[:], keyPrefix)
	for key := range kv.Below(store, []byte(keyPrefix)) {
		if len(key) == keyBytes {
			s.filter.add(fingerprintFrom(key[len(keyPrefix):]))
			s.count++
		}
	}
	return s
}

// Unseen returns the targets whose URLs were never folded, in order, each URL
// once. It returns nil when there are none, and changes no later answer.
func (s *Set) Unseen(targets []*weftpb.Target) []*weftpb.Target {
	var unseen []*weftpb.Target
	for _, target := range targets {
		fp := fingerprintOf(target.GetUrl())
		if s.seen(fp) {
			continue
		}
		if _, repeated := s.batch[fp]; repeated {
			continue
		}
		s.batch[fp] = struct{}{}
		unseen = append(unseen, target)
	}
	clear(s.batch)
	return unseen
}

// Has tells whether a URL was folded.
func (s *Set) Has(url string) bool { return s.seen(fingerprintOf(url)) }

// Apply folds an event: its URLs are seen from now on, also parked and merged ones.
func (s *Set) Apply(event *weftpb.Deduped) {
	s.add(event.GetTargets())
	for _, parked := range event.GetParked() {
		s.add(parked.GetTargets())
	}
	for _, merged := range event.GetMerged() {
		s.see(merged.GetTarget())
	}
}

func (s *Set) add(targets []*weftpb.Target) {
	for _, target := range targets {
		s.see(target)
	}
}

func (s *Set) see(target *weftpb.Target) {
	fp := fingerprintOf(target.GetUrl())
	if s.seen(fp) {
		return
	}
	s.store.Set(s.keyOf(fp), present)
	s.filter.add(fp)
	s.cache.put(fp)
	s.count++
}

// seen asks the layers in the order of their price.
func (s *Set) seen(fp fingerprint) bool {
	if s.cache.has(fp) {
		return true
	}
	if !s.filter.mayHave(fp) {
		return false
	}
	if s.store.Get(s.keyOf(fp)) == nil {
		return false
	}
	s.cache.put(fp)
	return true
}

// keyOf returns a key that is valid until the next call.
func (s *Set) keyOf(fp fingerprint) []byte {
	binary.BigEndian.PutUint64(s.key[len(keyPrefix):], fp.hi)
	binary.BigEndian.PutUint64(s.key[len(keyPrefix)+8:], fp.lo)
	return s.key[:]
}

// Count is the number of URLs seen.
func (s *Set) Count() int64 { return s.count }

// FilterBits is the memory that the filter takes.
func (s *Set) FilterBits() int64 { return s.filter.bits() }

// cache is direct-mapped: a fingerprint has one place and evicts what was
// there. Every entry is in the exact set, so a hit is a certain "seen".
type cache []fingerprint

func newCache(entries int) cache { return make(cache, entries) }

func (c cache) place(fp fingerprint) *fingerprint {
	// The filter's first bits come from lo, so use the other half here.
	return &c[fp.hi&uint64(len(c)-1)]
}

func (c cache) has(fp fingerprint) bool {
	return *c.place(fp) == fp && fp != fingerprint{}
}

func (c cache) put(fp fingerprint) { *c.place(fp) = fp }
