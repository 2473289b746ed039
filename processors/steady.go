package processors

import "time"

// steady is the time of one partition of the scheduler. It goes on with the
// clock of the machine and stands still where that is set back, for one
// reading; and it never was before the ledger's last decision, which another
// run may have made before the clock was set back, or another machine.
//
// Due times, leases and rules are moments of this time. By the bare clock, one
// that is set back by an hour would make every domain wait for an hour.
type steady struct {
	// decided is asked at the first reading when the ledger's last decision was
	// made: the zero time if there is none. Nil: there is none.
	decided func() time.Time

	// since is when the time began that was had as it passed; see
	// frontier.Moment.
	since time.Time

	clock time.Time // as it was read last; zero: never
	told  time.Time
}

// leap is the step of a clock that no work explains: it was set, or the machine
// slept.
const leap = time.Minute

// at returns the time at a reading of the clock.
func (s *steady) at(clock time.Time) time.Time {
	clock = clock.Round(0) // the wall clock: the other one stands while a machine sleeps
	switch {
	case s.clock.IsZero():
		s.told = clock
		if s.decided != nil && s.decided().After(clock) {
			s.told = s.decided()
		}
		s.since = s.told
	case clock.After(s.clock):
		s.told = s.told.Add(clock.Sub(s.clock))
		if clock.Sub(s.clock) > leap {
			s.since = s.told
		}
	}
	s.clock = clock
	return s.told
}
