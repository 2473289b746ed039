package why

import (
	"time"

	"github.com/weftcrawl/weft/frontier"
	"github.com/weftcrawl/weft/topics"
)

// holding reads a domain's state. How many visits of its partition are out is
// for the caller to add.
func (a *Asker) holding(f *frontier.Frontier, domain string, t trace, around loop, now time.Time, zone *time.Location) (holding, error) {
	h := holding{
		now: now, zone: zone, trace: t, loop: around,
		window: int64(a.frontier.Window), lag: around.lag(topics.Schedule, a.partition(domain)),
	}
	var err error
	if h.state, err = f.DomainState(domain); err != nil {
		return h, err
	}
	if h.visits, err = f.Visits(domain); err != nil {
		return h, err
	}
	if h.origins, err = f.Origins(domain, now); err != nil {
		return h, err
	}
	h.delay = delayOf(a.frontier, h.state.Response, h.origins)
	return h, nil
}
