package webtest

import (
	"slices"
	"time"
)

// Trouble is a time in which a crawler was killed, or kept from working, in
// nanoseconds since 1970. A kill is a moment: when the process was gone.
type Trouble struct{ From, To int64 }

// inFlight is how long before a kill the server may have ended a response that
// the crawler had not stored yet. It takes milliseconds; a busy machine may take
// more.
const inFlight = time.Second

// Meets tells whether a request was in flight in the trouble: begun, and not
// known to have ended well before. The crawler may make it again.
func (t Trouble) Meets(e Entry) bool { return e.Start < t.To && e.End+int64(inFlight) > t.From }

// excused tells whether a request was in flight in any trouble.
func excused(e Entry, troubles []Trouble) bool {
	return slices.ContainsFunc(troubles, func(t Trouble) bool { return t.Meets(e) })
}
