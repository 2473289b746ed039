package hostqueue

import "time"

// Wait returns when every queue is over.
func (s *Queues) Wait() {
	for open := true; open; {
		time.Sleep(time.Millisecond)
		s.change(func() { open = len(s.queues) > 0 })
	}
	s.goroutines.Wait()
}

// Goroutines is the number of queues that a goroutine serves.
func (s *Queues) Goroutines() (n int) {
	s.change(func() {
		for _, q := range s.queues {
			if q.served {
				n++
			}
		}
	})
	return n
}
