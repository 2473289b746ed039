package traps

import (
	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/kv"
)

// Apply folds an event of a domain. It is deterministic, and what it does depends
// on no option.
func (b *Templates) Apply(domain string, event *weftpb.Deduped) {
	b.trim()
	f := fold{Templates: b, domain: domain, dirty: map[identity]*pattern{}, census: b.census(domain)}
	before := *f.census
	switch {
	case event.GetLifted() != nil:
		f.lift(event)
	case event.GetShowing() != weftpb.Showing_SHOWING_UNSPECIFIED:
		f.each(event.GetSource(), func(p *pattern) { p.show(event.GetSource(), event.GetShowing(), event.GetOriginal()) })
	}
	for _, t := range event.GetTargets() {
		if t.Sitemap == nil { // else it is not a page
			f.each(t.GetUrl(), (*pattern).admit)
			f.census.admitted++
		}
	}
	for _, p := range event.GetParked() {
		f.park(p)
	}
	for id, p := range f.dirty {
		b.store.Set(patternKey(domain, id), p.encode())
	}
	if *f.census != before {
		b.store.Set(censusKey(domain), f.census.encode())
	}
}

// fold is the fold of one event. What it changes is written once, at its end.
type fold struct {
	*Templates
	domain string
	census *census
	dirty  map[identity]*pattern
}

// each changes the patterns of a URL. They get records if the bounds allow it.
func (f *fold) each(url string, change func(*pattern)) {
	host, _, _ := split(url)
	if !f.knowsHost(f.domain, host) && f.census.hosts < mostHosts {
		f.store.Set(hostKey(f.domain, host), []byte{1})
		f.hosts.put(identityOf{f.domain, identity{host: host}}, true)
		f.census.hosts++
	}
	for _, id := range f.identities(f.domain, url) {
		if id.template != "" {
			change(f.change(id))
		}
	}
}

// change returns a pattern that is written at the end.
func (f *fold) change(id identity) *pattern {
	p := f.pattern(f.domain, id)
	if p == nil {
		p = new(pattern)
		f.patterns.put(identityOf{f.domain, id}, p)
		f.census.patterns++
	}
	f.dirty[id] = p
	return p
}

// park keeps URLs until their trap is lifted.
func (f *fold) park(in *weftpb.Parked) {
	id := named(in.GetHost(), in.GetTemplate())
	p := f.change(id)
	if reason := Reason(in.GetReason()); reason.byContent() {
		p.reason = reason
	}
	for _, t := range in.GetTargets() {
		value, err := proto.MarshalOptions{Deterministic: true}.Marshal(t)
		if err != nil {
			panic("traps: encode a target: " + err.Error()) // it was decoded from bytes
		}
		f.store.Set(parkedKey(f.domain, id, p.next), value)
		p.next++
	}
}

// lift exempts a template and removes the oldest parked URLs, which come back.
func (f *fold) lift(event *weftpb.Deduped) {
	id := named(event.GetLifted().GetHost(), event.GetLifted().GetTemplate())
	p := f.change(id)
	p.exempt = true
	for range event.GetTargets() {
		f.store.Delete(parkedKey(f.domain, id, p.first))
		p.first++
	}
}

// The bounds of the URLs that one event brings back: those of a record of
// normalized.
const (
	mostLifted      = 200
	mostLiftedBytes = 64 << 10
)

// Lift returns the event that lifts a trap: the template is exempt, and the oldest parked
// URLs come into the crawl, as many as an event has room for. It returns nil when there
// is nothing to do, or when no trap can have such a name.
func (b *Templates) Lift(domain string, lift *weftpb.Lift) *weftpb.Deduped {
	b.trim()
	id := named(lift.GetHost(), lift.GetTemplate())
	if !id.valid() {
		return nil
	}
	p := b.pattern(domain, id)
	if p == nil {
		p = new(pattern)
	}
	event, size := &weftpb.Deduped{Lifted: lift}, 0
	lower, upper := parkedKey(domain, id, p.first), parkedKey(domain, id, p.next)
	for _, value := range kv.Range(b.store, lower, upper) {
		if size += len(value); len(event.Targets) == mostLifted || size > mostLiftedBytes {
			break
		}
		t := new(weftpb.Target)
		if err := proto.Unmarshal(value, t); err != nil {
			panic("traps: a parked URL of " + domain + " cannot be read: " + err.Error())
		}
		event.Targets = append(event.Targets, t)
	}
	switch {
	case !p.exempt:
		c := changes{Templates: b, domain: domain, event: event}
		for _, of := range c.groups(id) {
			c.tell(of.group(), weftpb.Group_STATE_FREE)
		}
	case len(event.Targets) == 0:
		return nil
	}
	return event
}
