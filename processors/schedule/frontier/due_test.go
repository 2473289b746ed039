package frontier

import "time"

// NextDue returns the time at which Due will have something to name, if nothing
// happens before; the zero time if nothing ever will.
func (f *Frontier) NextDue(at Moment) time.Time {
	if f.cut(at) {
		return at.Now
	}
	first := f.leases.first(f.store)
	if f.windowLeft(at) > 0 {
		for p := range f.due {
			first = min(first, f.due[p].first(f.store))
		}
	}
	if first == noEntry {
		return time.Time{}
	}
	return time.UnixMilli(int64(first))
}
