package progress

import "time"

// window is the time over which a rate is measured.
const window = 5 * time.Second

// Rate is events per second over about the last five seconds. The zero value is ready to
// use.
type Rate struct {
	samples []sample // oldest first; the first is at or before the window
}

type sample struct {
	at    time.Time
	total int64
}

// Add notes the total of events at a time, which is not before the previous one. A total
// that is smaller than the previous one, as after a restart, starts the rate again.
func (r *Rate) Add(at time.Time, total int64) {
	if n := len(r.samples); n > 0 && total < r.samples[n-1].total {
		r.samples = nil
	}
	r.samples = append(r.samples, sample{at, total})
	for len(r.samples) > 1 && !r.samples[1].at.After(at.Add(-window)) {
		r.samples = r.samples[1:]
	}
}

// PerSecond is the rate; 0 until there are two samples at different times.
func (r *Rate) PerSecond() float64 {
	if len(r.samples) < 2 {
		return 0
	}
	first, last := r.samples[0], r.samples[len(r.samples)-1]
	seconds := last.at.Sub(first.at).Seconds()
	if seconds <= 0 {
		return 0
	}
	return float64(last.total-first.total) / seconds
}
