package sim

import (
	"encoding/json"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/topics"
)

// slower is the delay that people ask for a domain.
const slower = 2 * time.Second

// setDomain makes a setting for a domain, and takes it back after a while.
func (w *world) setDomain(f Fault) {
	domain := w.web.sites[f.Target%len(w.web.sites)].domain
	s := topics.Setting{Domain: domain, SetAt: epoch.Add(w.now)}
	switch f.Rate % 3 {
	case 0:
		s.Blocked, s.Reason = true, "asked to stop"
	case 1:
		ms := slower.Milliseconds()
		s.DelayMS, s.Priority = &ms, topics.LowPriority
	default:
		s.PerDay, s.Priority = int64(1+f.Process), topics.HighPriority
	}
	w.writeSetting(s)
	w.after(f.For, func() { w.writeSetting(topics.Setting{Domain: domain, SetAt: epoch.Add(w.now)}) })
}

// writeSetting changes the setting of a domain, as weft domain does. Each process reads it a
// moment later.
func (w *world) writeSetting(s topics.Setting) {
	w.settings[s.Domain] = s
	text, _ := json.Marshal(s) // which no setting fails
	w.trace("setting: %s", text)
	for _, p := range w.procs {
		w.after(w.latency(), func() { p.readSetting(s.Domain) })
	}
}

// readSetting gives the process the setting of a domain as it is now.
func (p *process) readSetting(domain string) {
	switch w := p.w; {
	case !p.up: // it reads the settings when it boots
	case p.frozenUntil > w.now:
		w.at(p.frozenUntil+w.between(0, 3*time.Millisecond), func() { p.readSetting(domain) })
	default:
		p.settings.Set(w.settings[domain])
		p.setUnlimited(domain)
	}
}

// checkSetting checks an event by what its process has read of what people ask for the
// domain.
func (t *table) checkSetting(domain string, released []*weftpb.Visit) {
	s := t.instance.proc.settings.Of(domain)
	requests := 0
	for _, v := range released {
		requests += len(v.Requests)
		if s.DelayMS != nil && int64(v.DelayMs) < *s.DelayMS {
			t.w.violate("setting", "%s releases a visit of %s with a delay of %d ms instead of %d", t.instance.name, domain, v.DelayMs, *s.DelayMS)
		}
	}
	if s.Blocked && requests > 0 || s.PerDay > 0 && int64(requests) > s.PerDay {
		t.w.violate("setting", "%s releases %d requests to %s, for which people ask %+v", t.instance.name, requests, domain, s)
	}
}

// releasedBy are the visits that an event of scheduled releases.
func (t *table) releasedBy(event []byte) []*weftpb.Visit {
	var ev weftpb.Event
	var body weftpb.Scheduled
	if err := proto.Unmarshal(event, &ev); err == nil {
		if err = proto.Unmarshal(ev.Body, &body); err != nil {
			t.w.violate("ledger", "%s: %v", t.instance.name, err)
		}
	}
	return body.Released
}
