package fetch

import (
	"sync"
	"time"

	"github.com/weftcrawl/weft/internal/politeness"
	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/processors/fetch/hostqueue"
)

// witness counts requests that begin when their domain or host should be left alone. It
// shares nothing with the host queues, which decide when requests begin.
type witness struct {
	env       stage.Env
	perDomain int

	mu      sync.Mutex
	domains politeness.Witness
	hosts   politeness.Witness        // of what they asked for with Retry-After
	open    map[*hostqueue.Visit]bool // with a request that its domain waits for
}

func newWitness(env stage.Env, perDomain int) *witness {
	return &witness{env: env, perDomain: perDomain, open: map[*hostqueue.Visit]bool{}}
}

func (w *witness) begin(v *hostqueue.Visit, i int) {
	now := time.Now()
	w.mu.Lock()
	violation := w.domains.Begin(v.Domain, now, w.perDomain)
	w.open[v] = true
	if early := w.hosts.Begin(v.Host(i), now, w.perDomain); violation == politeness.None {
		violation = early
	}
	w.mu.Unlock()
	if violation != politeness.None {
		w.env.Meter.PolitenessViolation(violation)
		w.env.Logger.Error("a request began when its domain or host should have been left alone",
			"domain", v.Domain, "violation", violation, "visit", v.Id)
	}
}

func (w *witness) end(v *hostqueue.Visit, i int, answer hostqueue.Answer) {
	delay := max(time.Duration(v.DelayMs)*time.Millisecond, answer.Rest)
	if answer.Unreached {
		delay = 0
	}
	now := time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.open[v] {
		w.domains.End(v.Domain, now, delay)
	}
	delete(w.open, v)
	w.hosts.End(v.Host(i), now, answer.RetryAfter)
}

// hang notes that the domain goes on without the request of a visit that is open, if one
// is: a look-up may hang too.
func (w *witness) hang(v *hostqueue.Visit, at time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.open[v] {
		w.domains.End(v.Domain, at, time.Duration(v.DelayMs)*time.Millisecond)
	}
	delete(w.open, v)
}
