package processors

// Backlog knows how many bytes of fetched records the stage parse has not
// committed yet, and whether that is too many: topics do not push back by
// themselves. It counts what one fetcher wrote, which in a partition that it
// owns is everything new.
//
// It is pure; see pushback for what feeds it. Not safe for concurrent use.
type Backlog struct {
	limit      int64
	partitions map[int32]*written
	behind     int64
}

// written is the records of one partition that are not committed, in order.
type written struct {
	offsets []int64
	sizes   []int64
}

// NewBacklog returns an empty backlog that is full from limit bytes on.
func NewBacklog(limit int64) *Backlog {
	return &Backlog{limit: limit, partitions: map[int32]*written{}}
}

// Full tells whether parse is too far behind for another request.
func (b *Backlog) Full() bool { return b.behind >= b.limit }

// Send books a record on its way: a broker that takes its time must not fill the
// memory with bodies. A record that is lost ends the fetcher, and its backlog.
func (b *Backlog) Send(bytes int) { b.behind += int64(bytes) }

// Acknowledged books where a record that was sent stands.
func (b *Backlog) Acknowledged(partition int32, offset int64, bytes int) {
	w := b.partitions[partition]
	if w == nil {
		w = new(written)
		b.partitions[partition] = w
	}
	w.offsets, w.sizes = append(w.offsets, offset), append(w.sizes, int64(bytes))
}

// Settle books that the group goes on at offset next of a partition.
func (b *Backlog) Settle(partition int32, next int64) {
	w := b.partitions[partition]
	if w == nil {
		return
	}
	n := 0
	for n < len(w.offsets) && w.offsets[n] < next {
		b.behind -= w.sizes[n]
		n++
	}
	w.offsets, w.sizes = w.offsets[n:], w.sizes[n:]
}

// Forget drops a partition that went to another owner.
func (b *Backlog) Forget(partition int32) {
	if w := b.partitions[partition]; w != nil {
		for _, size := range w.sizes {
			b.behind -= size
		}
		delete(b.partitions, partition)
	}
}
