package variants

import (
	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/state"
	"github.com/weftcrawl/weft/urls"
)

// What is in the store, below "v/":
//
//	v/s/SITE                          what is known of a site
//	v/m/SITE\0 + print of URL         a URL that is given up: weftpb.Merged
//	v/k/SITE\0 + print of the kept    nothing; the way from a URL to those that
//	  + print of URL                  it stands for
//	v/x/SITE\0 + print of URL         nothing; a URL that has no page
//	v/p/SITE                          what is known of its pages
const (
	sitePrefix   = "v/s/"
	siteEnd      = "v/s0" // first key after every key with sitePrefix
	mergedPrefix = "v/m/"
	keptPrefix   = "v/k/"
	absentPrefix = "v/x/"
	pagesPrefix  = "v/p/"
)

// Book is what one partition knows of its sites. It belongs to one goroutine at
// a time.
type Book struct {
	store   state.Store
	tracked map[string]tracked
}

// tracked is what memory holds of a site.
type tracked struct {
	inForce Set
	merged  bool // URLs of it are given up
}

// Open reads the sites in store.
func Open(store state.Store) *Book {
	b := &Book{store: store, tracked: map[string]tracked{}}
	store.Scan([]byte(sitePrefix), []byte(siteEnd), func(key, value []byte) bool {
		b.track(string(key[len(sitePrefix):]), decode(value))
		return true
	})
	return b
}

func (b *Book) track(name string, s *site) {
	t := tracked{inForce: s.inForce(), merged: s.merged > 0}
	if t == (tracked{}) {
		delete(b.tracked, name)
		return
	}
	b.tracked[name] = t
}

// Apply folds an event of a domain.
func (b *Book) Apply(domain string, event *weftpb.Deduped) {
	if len(event.Evidence) == 0 && len(event.Merged) == 0 && len(b.tracked) == 0 {
		return
	}
	v := view{book: b, domain: domain}
	for _, e := range event.Evidence {
		v.weigh(e)
	}
	for _, t := range event.Targets {
		if name := siteOf(t.GetUrl(), domain); v.keeps(name) {
			b.restore(&v, name, t.GetUrl())
		}
		if t.GetVia() == weftpb.Via_VIA_PROBE {
			v.try(t.GetUrl())
		}
	}
	for _, m := range event.Merged {
		b.merge(&v, siteOf(m.GetTarget().GetUrl(), domain), m)
	}
	for url := range v.absent {
		b.store.Set(absentKey(siteOf(url, domain), url), []byte{1})
	}
	for name, p := range v.pages {
		b.store.Set(pagesKey(name), p.encode())
	}
	for name, s := range v.sites {
		b.store.Set(siteKey(name), s.encode())
		b.track(name, s)
	}
}

// merge writes down a URL that is given up.
func (b *Book) merge(v *view, name string, m *weftpb.Merged) {
	url := m.GetTarget().GetUrl()
	key := mergedKey(name, url)
	if b.store.Get(key) != nil {
		return
	}
	value, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		panic("variants: " + err.Error()) // a record that was read can be written
	}
	b.store.Set(key, value)
	b.store.Set(keptKey(name, m.Kept, url), []byte{1})
	s := v.site(name)
	s.merged++
	s.bytes += bytesOf(m)
}

// restore forgets that a URL was given up, if it was.
func (b *Book) restore(v *view, name, url string) {
	m := b.given(name, url)
	if m == nil {
		return
	}
	b.store.Delete(mergedKey(name, url))
	b.store.Delete(keptKey(name, m.Kept, url))
	s := v.site(name)
	s.merged--
	s.bytes -= bytesOf(m)
}

// given returns a URL that is given up, nil if it is not.
func (b *Book) given(name, url string) *weftpb.Merged {
	return merged(b.store.Get(mergedKey(name, url)))
}

func merged(value []byte) *weftpb.Merged {
	m := new(weftpb.Merged)
	if value == nil || proto.Unmarshal(value, m) != nil {
		return nil
	}
	return m
}

// bytesOf is what a URL takes in the event that brings it back; none if no
// learnt rule took it, for then nothing does but one by one.
func bytesOf(m *weftpb.Merged) uint64 {
	if len(m.Rules) == 0 {
		return 0
	}
	return uint64(len(m.Target.GetUrl()) + len(m.Target.GetScopeRoot()) + 32)
}

func absentKey(name, url string) []byte {
	print := urls.Fingerprint(url)
	return append([]byte(absentPrefix+name+"\x00"), print[:]...)
}

func siteKey(name string) []byte { return []byte(sitePrefix + name) }

func pagesKey(name string) []byte { return []byte(pagesPrefix + name) }

func mergedKey(name, url string) []byte {
	print := urls.Fingerprint(url)
	return append([]byte(mergedPrefix+name+"\x00"), print[:]...)
}

func keptKey(name, kept, url string) []byte {
	print := urls.Fingerprint(url)
	return append(keptOf(name, kept), print[:]...)
}

// keptOf is the beginning of the keys of what a URL stands for.
func keptOf(name, kept string) []byte {
	print := urls.Fingerprint(kept)
	return append([]byte(keptPrefix+name+"\x00"), print[:]...)
}

// after is the first key after those that begin with prefix, which ends in a
// byte of a name or of a fingerprint.
func after(prefix []byte) []byte {
	end := append([]byte{}, prefix...)
	for i := len(end) - 1; i >= 0; i-- {
		if end[i]++; end[i] != 0 {
			return end[:i+1]
		}
	}
	return nil
}
