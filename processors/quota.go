package processors

// Quota counts the pages of a crawl against its limit (--max-pages).
type Quota struct {
	max     int64 // 0: no limit
	written int64
}

// NewQuota returns the quota of a crawl whose files go on at these offsets of
// parsed: what stands before them is written.
func NewQuota(max int64, next map[int32]int64) Quota {
	q := Quota{max: max}
	for _, offset := range next {
		q.written += offset
	}
	return q
}

// Full tells whether no further page may be written.
func (q *Quota) Full() bool { return q.max > 0 && q.written >= q.max }

// Write books a page that is written.
func (q *Quota) Write() { q.written++ }

// Written is the number of pages since the crawl began.
func (q *Quota) Written() int64 { return q.written }
