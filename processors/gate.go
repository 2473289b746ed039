package processors

// Gate is what decides whether a request may begin. It knows nothing but what it
// is told: the stage fetch fills it in, and so does the simulation (package sim).
type Gate struct {
	// Leased: the group's lease holds, so that nobody else may ask.
	Leased bool
	// Paused: people hold the stage. Resting: it ends.
	Paused, Resting bool
	// Full: parse is too far behind. Low: the disk is below its reserve, or the
	// store of large bodies takes none at the moment.
	Full, Low bool
}

// Permits tells whether a request may be written. It is asked at the very last,
// where bytes go to the connection.
func (g Gate) Permits() bool { return g.Leased && !g.Paused && !g.Resting }

// Opens tells whether a visit need not wait before its request. While parse is
// too far behind, or there is no place for a page, it must: what was released
// before is more than the reserve, and a page that cannot be stored is asked for
// again.
//
// While the stage is paused the gate opens although nothing is permitted, so
// that the visit is given back: a pause may outlast its lease.
func (g Gate) Opens() bool { return g.Paused || g.Permits() && !g.Full && !g.Low }
