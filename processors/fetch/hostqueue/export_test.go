package hostqueue

// Wait returns when every visit is finished or dropped and every delay passed.
func (s *Queues) Wait() { s.goroutines.Wait() }
