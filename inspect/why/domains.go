package why

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/processors/schedule/frontier"
)

// DomainRow is one domain in the list of all ("weft domains").
type DomainRow struct {
	Domain string `json:"domain"`
	// State is empty, out or due, as in a DomainStory. It is blocked if people have blocked
	// the domain, or too many errors have.
	State   string `json:"state"`
	Pending int64  `json:"pending"`
	// Fetched is the number of URLs with an answer, Failed of URLs that were given up after errors,
	// and Refused of URLs that were settled without a request.
	Fetched int64    `json:"fetched"`
	Failed  int64    `json:"failed"`
	Refused int64    `json:"refused"`
	Setting *Setting `json:"setting,omitempty"`

	Profile
}

// StateBlocked is the state of a blocked domain in a list.
const StateBlocked = "blocked"

// Domains returns all domains of the crawl, by partition and then by name. It reads the whole
// ledger scheduled, and needs about 300 bytes of memory for a domain. If the ledger was
// trimmed, the error wraps ErrTrimmed.
func (a *Asker) Domains(ctx context.Context, now time.Time) (rows []*DomainRow, err error) {
	for partition := range a.definition.Partitions {
		begins, err := a.start(ctx, a.names.Scheduled, partition)
		if err != nil {
			return nil, err
		}
		if begins > 0 {
			return nil, fmt.Errorf("%w: scheduled/%d begins at %d", ErrTrimmed, partition, begins)
		}
		of, err := a.domainsOf(ctx, partition, now)
		if err != nil {
			return nil, err
		}
		rows = append(rows, of...)
	}
	return rows, nil
}

// ErrTrimmed means that the beginning of a ledger is gone.
var ErrTrimmed = errors.New("the beginning of a ledger was trimmed")

func (a *Asker) domainsOf(ctx context.Context, partition int32, now time.Time) (rows []*DomainRow, err error) {
	byName := map[string]*DomainRow{}
	f, remove, err := a.fold(ctx, partition, "", 0, func(domain string, ev *weftpb.Scheduled, _ Ref) {
		if domain == "" {
			return
		}
		if byName[domain] == nil {
			byName[domain] = &DomainRow{Domain: domain}
		}
		byName[domain].apply(ev)
	})
	if err != nil {
		return nil, err
	}
	f.Domains(func(name string) bool {
		row := byName[name]
		var state frontier.DomainState
		if state, err = f.DomainState(name); err != nil {
			return false
		}
		row.State, row.Setting = string(state.State), settingOf(state.Setting)
		if state.Setting.GetBlocked() || state.BlockedUntil.After(now) {
			row.State = StateBlocked
		}
		row.Pending = domainView{state: state}.pending()
		rows = append(rows, row)
		return true
	})
	return rows, errors.Join(err, remove())
}

func (r *DomainRow) apply(ev *weftpb.Scheduled) {
	r.Profile.apply(ev)
	for _, s := range ev.Settled {
		if s.RetryMs != 0 || s.Reason == frontier.ReasonRobots || s.Reason == frontier.ReasonCheck {
			continue
		}
		switch frontier.EndOf(s.Reason) {
		case frontier.EndFetched:
			r.Fetched++
		case frontier.EndRefused:
			r.Refused++
		default:
			r.Failed++
		}
	}
}
