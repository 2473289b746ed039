package dedupe

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
