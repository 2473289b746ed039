package progress

import "time"

// window is how far back a moving rate looks.
const window = 5 * time.Second

// Rate is events a second over about the last five seconds. The zero value is
// ready.
type Rate struct {
	samples []sample // oldest first; the first is at or before the window
}

type sample struct {
	at    time.Time
	total int64
}

// Add notes that total events had happened at a time, not before the previous
// one. Totals that fall, as after a restart, start anew.
func (r *Rate) Add(at time.Time, total int64) {
	if n := len(r.samples); n > 0 && total < r.samples[n-1].total {
		r.samples = r.samples[:0]
	}
	r.samples = append(r.samples, sample{at, total})
	first := 0
	for first+1 < len(r.samples) && !r.samples[first+1].at.After(at.Add(-window)) {
		first++
	}
	r.samples = append(r.samples[:0], r.samples[first:]...)
}

// PerSecond is 0 until two samples a while apart are known.
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
