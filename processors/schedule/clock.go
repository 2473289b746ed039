package schedule

import "time"

// partitionClock is the clock of one partition. It goes on with the clock of the
// machine. If the machine's clock is set back, the partition's clock stands
// still for one reading. It is never before the ledger's last decision, which
// another run or another machine may have made with a clock that was ahead.
//
// Due times, leases and the ages of robots rules are times of this clock. By the
// machine's clock, setting it back by an hour would make every domain wait for an
// hour.
type partitionClock struct {
	// decided returns when the ledger's last decision was made; it is called at
	// the first reading. The zero time, or a nil decided: there was no decision.
	decided func() time.Time
	// ownedSince is for frontier.Moment.
	ownedSince time.Time
	// wokenAt is for frontier.Moment.
	wokenAt time.Time

	machine time.Time // the machine's clock at the last reading; zero: there was no reading
	now     time.Time
}

// leap is a step of the machine's clock that no work explains: the clock was set, or the
// machine slept. It is also the time without decisions after which hosts that are down are
// asked again.
const leap = time.Minute

// read returns the time at a reading of the machine's clock.
func (c *partitionClock) read(machine time.Time) time.Time {
	machine = machine.Round(0) // the wall clock: the monotonic one stands while a machine sleeps
	switch {
	case c.machine.IsZero():
		c.now = machine
		if c.decided != nil && !c.decided().IsZero() {
			if c.decided().After(machine) {
				c.now = c.decided()
			}
			if machine.Sub(c.decided()) > leap {
				c.wokenAt = c.now
			}
		}
		c.ownedSince = c.now
	case machine.After(c.machine):
		c.now = c.now.Add(machine.Sub(c.machine))
		if machine.Sub(c.machine) > leap {
			c.ownedSince, c.wokenAt = c.now, c.now
		}
	}
	c.machine = machine
	return c.now
}
