package frontier

import (
	"time"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/kv"
	"github.com/weftcrawl/weft/internal/politeness"
)

// The setting of a domain comes from outside of the ledger. A decision compares it with the
// domain's record, and its event says what has changed. So the fold needs only events, and the
// ledger tells which setting was in force for each visit.

// setting is what people ask for a domain. The zero value asks for nothing.
type setting struct {
	// delayMS is the time between two requests, if hasDelay. Otherwise the crawl's delay
	// holds.
	delayMS  int64
	hasDelay bool
	perDay   int64
	priority weftpb.DomainSetting_Priority
	blocked  bool
	reason   string
	setMS    int64
}

func settingOfRecord(r *weftpb.DomainSetting) setting {
	return setting{
		delayMS: r.GetDelayMs(), hasDelay: r != nil && r.DelayMs != nil, perDay: r.GetPerDay(), priority: r.GetPriority(),
		blocked: r.GetBlocked(), reason: r.GetReason(), setMS: r.GetSetMs(),
	}
}

// record is the inverse of settingOfRecord.
func (s setting) record() *weftpb.DomainSetting {
	if s == (setting{}) {
		return nil
	}
	r := &weftpb.DomainSetting{PerDay: s.perDay, Priority: s.priority, Blocked: s.blocked, Reason: s.reason, SetMs: s.setMS}
	if s.hasDelay {
		r.DelayMs = &s.delayMS
	}
	return r
}

func (s *setting) fields(f *kv.Fields) {
	f.Bools(&s.hasDelay, &s.blocked)
	f.Int(&s.delayMS)
	f.Int(&s.perDay)
	priority := uint8(s.priority)
	f.Byte(&priority)
	s.priority = weftpb.DomainSetting_Priority(priority)
	f.String(&s.reason)
	f.Int(&s.setMS)
	f.Require(*s != (setting{}))
}

// take makes the setting of the domain part of a decision, if it has changed. A longer delay also
// holds before the next visit: the last one ended at nextMS or before.
func (p *plan) take(asked *weftpb.DomainSetting) {
	if settingOfRecord(asked) == p.d.setting {
		return
	}
	if p.ev.Setting = asked; asked == nil {
		p.ev.Setting = &weftpb.DomainSetting{}
	}
	before := p.domainDelay()
	p.set(p.ev.Setting)
	if delay := p.domainDelay(); delay > before && p.d.nextMS > 0 {
		p.d.nextMS = max(p.d.nextMS, min(p.d.nextMS, p.nowMS)+delay.Milliseconds())
	}
}

// set folds a setting of the domain. A setting that does not block ends an automatic block.
func (x *fold) set(r *weftpb.DomainSetting) {
	if r == nil {
		return
	}
	if _, known := weftpb.DomainSetting_Priority_name[int32(r.Priority)]; !known || r.GetDelayMs() < 0 || r.PerDay < 0 {
		x.impossible("setting %v", r)
	}
	if x.d.setting = settingOfRecord(r); !r.Blocked {
		x.d.day.blockMS = 0
	}
}

// SettingsChanged notes that the settings of some domains have changed. The next Due also returns
// those domains that belong to the partition.
func (f *Frontier) SettingsChanged(domains []string) {
	for _, name := range domains {
		if f.store.Get(keysOf(name).record()) != nil {
			f.changedSettings = append(f.changedSettings, name)
		}
	}
}

// blockLook is the time after which a domain that people have blocked is due again. So such a
// domain is also in one of the states of a domain.
const blockLook = politeness.MaxWait

// heldMS is the time before which no request to the domain may go out, because the domain is
// blocked or has used up its requests of the day; 0: neither is so.
func (p *plan) heldMS() int64 {
	switch d := p.d; {
	case d.setting.blocked:
		return p.nowMS + blockLook.Milliseconds()
	case waits(d.day.blockMS, p.nowMS):
		return d.day.blockMS
	case p.left() <= 0:
		return midnight(p.nowMS)
	}
	return 0
}

// domainDelay is the configured time between two requests of the domain.
func (p *plan) domainDelay() time.Duration {
	if s := p.d.setting; s.hasDelay {
		return time.Duration(s.delayMS) * time.Millisecond
	}
	return p.f.opts.Delay
}
