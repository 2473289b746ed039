package drain

import "fmt"

// InFlight says, in words, one thing that is on its way through the loop; it is
// empty when nothing is. What is queued in the frontier is not on its way: it is
// Left's word for a crawl from which nothing is released any more.
func (s Status) InFlight() string {
	g := s.Gauges
	if g.GetVisits() != 0 || g.GetOut() != 0 {
		return fmt.Sprintf("%d URLs of %d visits are out", g.GetOut(), g.GetVisits())
	}
	return s.unread()
}
