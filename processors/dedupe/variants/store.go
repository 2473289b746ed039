package variants

import (
	"encoding/binary"

	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/kv"
	"github.com/weftcrawl/weft/internal/urls"
)

// What is in the store, below "v/":
//
//	v/s/SITE                          what is known of a site
//	v/m/SITE\0 + print of URL         a merged URL: weftpb.Merged
//	v/k/SITE\0 + print of the kept    nothing; the way from a kept URL to those that
//	  + print of URL                  are merged into it
//	v/x/SITE\0 + print of URL         nothing; a URL that has no page
//	v/p/SITE                          what is known of its pages
//	v/f/SITE\0 + class of pages       the form of the first of them that was read; of
//	                                  classes that are probed
const (
	sitePrefix   = "v/s/"
	mergedPrefix = "v/m/"
	keptPrefix   = "v/k/"
	absentPrefix = "v/x/"
	pagesPrefix  = "v/p/"
	formPrefix   = "v/f/"
)

// Sites is what one partition knows of its sites. One goroutine at a time may use it.
type Sites struct {
	store   kv.Store
	tracked map[string]tracked
}

// tracked is what memory holds of a site.
type tracked struct {
	inForce Set
	merged  bool // it has merged URLs
}

// Open reads the sites in store.
func Open(store kv.Store) *Sites {
	b := &Sites{store: store, tracked: map[string]tracked{}}
	for key, value := range kv.Below(store, []byte(sitePrefix)) {
		b.track(string(key[len(sitePrefix):]), decode(value))
	}
	return b
}

func (b *Sites) track(name string, s *site) {
	t := tracked{inForce: s.inForce(), merged: s.merged > 0}
	if t == (tracked{}) {
		delete(b.tracked, name)
		return
	}
	b.tracked[name] = t
}

// Apply folds an event of a domain.
func (b *Sites) Apply(domain string, event *weftpb.Deduped) {
	if len(event.Evidence) == 0 && len(event.Merged) == 0 && len(b.tracked) == 0 {
		return
	}
	v := newView(b, domain)
	for _, e := range event.Evidence {
		v.weigh(e)
	}
	for _, t := range event.Targets {
		if name := siteOf(t.GetUrl(), domain); v.hasMerged(name) {
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
		b.store.Set(key(absentPrefix, siteOf(url, domain), url), []byte{1})
	}
	for key, form := range v.forms {
		b.store.Set([]byte(key), encodeForm(form))
	}
	for name, p := range v.pages {
		b.store.Set(pagesKey(name), p.encode())
	}
	for name, s := range v.sites {
		b.store.Set(siteKey(name), s.encode())
		b.track(name, s)
	}
}

// merge stores a merged URL.
func (b *Sites) merge(v *view, name string, m *weftpb.Merged) {
	url := m.GetTarget().GetUrl()
	at := key(mergedPrefix, name, url)
	if b.store.Get(at) != nil {
		return
	}
	value, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		panic("variants: " + err.Error()) // a record that was read can be written
	}
	b.store.Set(at, value)
	b.store.Set(key(keptPrefix, name, m.Kept, url), []byte{1})
	s := v.site(name)
	s.merged++
	s.bytes += bytesOf(m)
}

// restore forgets that a URL was merged, if it was.
func (b *Sites) restore(v *view, name, url string) {
	m := b.mergedURL(name, url)
	if m == nil {
		return
	}
	b.store.Delete(key(mergedPrefix, name, url))
	b.store.Delete(key(keptPrefix, name, m.Kept, url))
	s := v.site(name)
	s.merged--
	s.bytes -= bytesOf(m)
}

// mergedURL returns what is stored of a merged URL, nil if it is not merged.
func (b *Sites) mergedURL(name, url string) *weftpb.Merged {
	return decodeMerged(b.store.Get(key(mergedPrefix, name, url)))
}

func decodeMerged(value []byte) *weftpb.Merged {
	m := new(weftpb.Merged)
	if value == nil || proto.Unmarshal(value, m) != nil {
		return nil
	}
	return m
}

// bytesOf is what a URL takes in the event that brings all URLs of a broken rule back;
// 0 if no learnt rule merged it.
func bytesOf(m *weftpb.Merged) uint64 {
	if len(m.Rules) == 0 {
		return 0
	}
	return uint64(len(m.Target.GetUrl()) + len(m.Target.GetScopeRoot()) + 32)
}

func siteKey(name string) []byte { return []byte(sitePrefix + name) }

// formKey is a string, because it is a key of maps, too.
func formKey(name string, p page) string {
	return string(binary.BigEndian.AppendUint64(key(formPrefix, name), p.class))
}

func encodeForm(form Set) []byte { return binary.BigEndian.AppendUint32(nil, uint32(form)) }

// decodeForm is the inverse of encodeForm, and as lenient as decode.
func decodeForm(b []byte) (form Set, ok bool) {
	if len(b) != 4 {
		return 0, false
	}
	return Set(binary.BigEndian.Uint32(b)) & every, true
}

func pagesKey(name string) []byte { return []byte(pagesPrefix + name) }

// key is a key of a site with the prints of URLs, or what such keys begin with.
func key(prefix, site string, of ...string) []byte {
	k := append([]byte(prefix+site), 0)
	for _, url := range of {
		print := urls.Fingerprint(url)
		k = append(k, print[:]...)
	}
	return k
}
