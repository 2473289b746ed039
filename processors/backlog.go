package processors

// Backlog knows how many bytes of fetched records the stage parse has not
// committed yet, and which domains have to wait because of them: topics do not
// push back by themselves. It counts what one fetcher wrote, which in a
// partition that it owns is everything new.
//
// Bodies are counted in two accounts, so that domains with large pages hold each
// other up and nobody else. A domain is heavy when what it has in the backlog,
// with another body as large as its last ones, comes to limit/64 or more; a body
// that makes it so is counted as heavy. Heavy domains wait while heavy bodies
// come to the limit, all others while the other bodies do, and everybody while
// both together come to twice the limit. How large a domain's bodies are is not
// known at first, so that first requests may go beyond the limit of heavy ones,
// and what is open when an account is full comes on top. What light domains send keeps
// no heavy one waiting, as long as they keep to their own limit.
//
// It is pure; see pushback for what feeds it. Not safe for concurrent use.
type Backlog struct {
	limit      int64
	partitions map[int32]*written
	light      int64            // bytes
	heavy      int64            // bytes, with those that are expected
	domains    map[string]int64 // bytes of each that has any
	last       map[string]int64 // size of the last bodies of domains that are heavy by one
}

// maxHeavy bounds the domains whose bodies are known to be large. Those that
// are forgotten count as new.
const maxHeavy = 4096

// Sent is a body that is on its way or in the backlog.
type Sent struct {
	domain string
	bytes  int64
	heavy  bool
}

// written is the records of one partition that are not committed, in order.
type written struct {
	offsets []int64
	bodies  []Sent
}

// NewBacklog returns an empty backlog that holds less than limit bytes of either
// kind when a request may begin.
func NewBacklog(limit int64) *Backlog {
	return &Backlog{
		limit: limit, partitions: map[int32]*written{}, domains: map[string]int64{}, last: map[string]int64{},
	}
}

// Full tells whether parse is too far behind for another request of a domain.
func (b *Backlog) Full(domain string) bool {
	account := b.light
	if b.Heavy(domain) {
		account = b.heavy
	}
	return account >= b.limit || b.light+b.heavy >= 2*b.limit
}

// Heavy tells whether a domain has much in the backlog, or is about to.
func (b *Backlog) Heavy(domain string) bool { return b.heavyWith(domain, b.last[domain]) }

// heavyWith tells whether a domain is heavy with a body of so many bytes.
func (b *Backlog) heavyWith(domain string, bytes int64) bool {
	return b.domains[domain]+bytes >= b.share()
}

// share is what a domain may have in the backlog before it is heavy.
func (b *Backlog) share() int64 { return b.limit / 64 }

// Expect books what the next body of a domain is likely to add, if that is much,
// and returns it, for Unexpect. Otherwise all heavy domains would begin at once
// when there is room for one.
func (b *Backlog) Expect(domain string) int64 {
	b.heavy += b.last[domain]
	return b.last[domain]
}

// Unexpect takes back what was expected: the body is there, or is long in coming.
func (b *Backlog) Unexpect(bytes int64) { b.heavy -= bytes }

// Send books a body on its way: a broker that takes its time must not fill the
// memory with bodies. A record that is lost ends the fetcher, and its backlog.
func (b *Backlog) Send(domain string, bytes int) Sent {
	size := int64(bytes)
	sent := Sent{domain, size, b.heavyWith(domain, size)}
	b.count(sent, 1)
	b.learn(domain, size)
	return sent
}

// count adds or removes a body.
func (b *Backlog) count(s Sent, sign int64) {
	if s.heavy {
		b.heavy += sign * s.bytes
	} else {
		b.light += sign * s.bytes
	}
	b.domains[s.domain] += sign * s.bytes
	if b.domains[s.domain] == 0 {
		delete(b.domains, s.domain)
	}
}

// learn notes how large a domain's bodies are. A small one between large ones
// does not hide them.
func (b *Backlog) learn(domain string, bytes int64) {
	size := max(bytes, b.last[domain]/2)
	if size < max(b.share(), 1) {
		delete(b.last, domain)
		return
	}
	if _, known := b.last[domain]; !known && len(b.last) == maxHeavy {
		for any := range b.last {
			delete(b.last, any)
			break
		}
	}
	b.last[domain] = size
}

// Acknowledged books where a body that was sent stands.
func (b *Backlog) Acknowledged(partition int32, offset int64, sent Sent) {
	w := b.partitions[partition]
	if w == nil {
		w = new(written)
		b.partitions[partition] = w
	}
	w.offsets, w.bodies = append(w.offsets, offset), append(w.bodies, sent)
}

// Settle books that the group goes on at offset next of a partition.
func (b *Backlog) Settle(partition int32, next int64) {
	w := b.partitions[partition]
	if w == nil {
		return
	}
	n := 0
	for n < len(w.offsets) && w.offsets[n] < next {
		b.count(w.bodies[n], -1)
		n++
	}
	clear(w.bodies[:n]) // domains
	w.offsets, w.bodies = w.offsets[n:], w.bodies[n:]
}

// Forget drops a partition that went to another owner.
func (b *Backlog) Forget(partition int32) {
	if w := b.partitions[partition]; w != nil {
		for _, s := range w.bodies {
			b.count(s, -1)
		}
		delete(b.partitions, partition)
	}
}
