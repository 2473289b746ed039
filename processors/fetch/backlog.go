package fetch

import (
	"slices"

	"github.com/weftcrawl/weft/internal/stage"
)

// Backlog knows how many bytes of fetched records the stage parse has not committed
// yet, and which domains must wait because of them. Topics do not slow their writers
// down by themselves. A Backlog counts what one fetcher wrote. In a partition that
// the fetcher owns, that is everything new.
//
// Bodies are counted in two accounts, so that domains with large pages delay each
// other and no others. A domain is heavy when its bytes in the backlog, with another
// body as large as its last ones, come to limit/64 or more. A body that makes its
// domain heavy is counted as heavy. Heavy domains wait while heavy bodies come to the
// limit. All others wait while the other bodies come to the limit. Every domain waits
// while both together come to twice the limit. As long as light domains keep to their
// own limit, their bodies delay no heavy domain.
//
// Each request that begins reserves what its body is likely to have: as much as the last
// bodies of its domain if they were large, or else as much as an ordinary body. So requests
// begin at the pace at which parse reads. Without reservations all domains that wait would
// begin at once, and then none until parse has read what they brought. A body may be larger
// than its reservation, and much larger at a new domain. So the bodies of open requests may
// exceed a limit.
//
// Files that parse reads in a lane hold back its commit, but not its work. If parse is in this
// process, its position tells what it has begun: this is not in the backlog any more, except the
// files in the lane. A domain with many of those is held until parse has read some. So a site of
// PDFs waits for its PDFs, and other sites do not. Records that cannot be committed stay on the
// disk: when they come to sixteen times the limit, every domain waits.
//
// It is pure; backpressure tells it what happens. It is not safe for concurrent use.
type Backlog struct {
	limit      int64
	heavyFrom  int64 // bytes that make a domain heavy
	partitions map[int32][]booked
	light      int64            // bytes, with those that are expected; so is heavy
	heavy      int64            // bytes
	ahead      int64            // bytes that parse has begun and not committed
	slow       map[string]int   // bodies in the lane of parse, of domains that have any
	slowBodies int              // of all domains
	domains    map[string]int64 // bytes of each domain that has any
	last       map[string]int64 // size of the last bodies, of domains that one body makes heavy
	ordinary   int64            // size of a body that makes no domain heavy: about the mean of the last ones
}

const (
	// firstOrdinary is the size of an ordinary body before any is there.
	firstOrdinary = 16 << 10
	// ordinaryOf is of how many bodies the mean is.
	ordinaryOf = 64
)

// mostSlow is how many of its bodies a domain may have in the lane before it is held, and
// mostSlowBodies how many all domains may have before all of them are held that have one.
const (
	mostSlow       = 8
	mostSlowBodies = 32
)

// mostAhead is how much may wait for a commit, as a multiple of the limit.
const mostAhead = 16

// maxHeavy bounds the domains whose bodies are known to be large. A domain that is
// forgotten counts as new.
const maxHeavy = 4096

// Sent is a body that is on its way or in the backlog.
type Sent struct {
	domain string
	bytes  int64
	heavy  bool
}

// Expected is a reservation for a body.
type Expected struct {
	bytes int64
	heavy bool
}

// booked is a body in the backlog. Those of a partition are in order.
type booked struct {
	Sent
	offset int64
	state  reading
}

// reading is what parse does with a body.
type reading uint8

const (
	unread reading = iota
	begun
	inLane
)

// NewBacklog returns an empty backlog. A request may begin while the backlog has less
// than limit bytes of its kind.
func NewBacklog(limit int64) *Backlog {
	return &Backlog{
		limit: limit, heavyFrom: limit / 64,
		partitions: map[int32][]booked{}, domains: map[string]int64{}, last: map[string]int64{}, slow: map[string]int{},
		ordinary: min(firstOrdinary, limit/64),
	}
}

// Full tells whether parse is too far behind for another request of a domain.
func (b *Backlog) Full(domain string) bool {
	return *b.account(b.Heavy(domain)) >= b.limit || b.light+b.heavy >= 2*b.limit || b.ahead >= mostAhead*b.limit
}

// Held tells whether a domain waits until parse has read some of its files.
func (b *Backlog) Held(domain string) bool {
	n := b.slow[domain]
	return n >= mostSlow || n > 0 && b.slowBodies >= mostSlowBodies
}

// account returns one of the two accounts.
func (b *Backlog) account(heavy bool) *int64 {
	if heavy {
		return &b.heavy
	}
	return &b.light
}

// Heavy tells whether a domain has much in the backlog, or is about to.
func (b *Backlog) Heavy(domain string) bool {
	return b.domains[domain]+b.last[domain] >= b.heavyFrom
}

// Expect reserves what the next body of a domain is likely to have, until Cancel.
func (b *Backlog) Expect(domain string) Expected {
	expected := Expected{b.ordinary, b.Heavy(domain)}
	if large, known := b.last[domain]; known {
		expected.bytes = large
	}
	*b.account(expected.heavy) += expected.bytes
	return expected
}

// Cancel releases a reservation, because the body has arrived or takes too long.
func (b *Backlog) Cancel(e Expected) { *b.account(e.heavy) -= e.bytes }

// Send notes a body on its way: a slow broker must not fill the memory with bodies.
// If a record is lost, the fetcher ends, and its backlog with it.
func (b *Backlog) Send(domain string, bytes int) Sent {
	size := int64(bytes)
	sent := Sent{domain, size, b.domains[domain]+size >= b.heavyFrom}
	b.count(booked{Sent: sent}, 1)
	if size < b.heavyFrom {
		b.ordinary += (size - b.ordinary) / ordinaryOf
	}
	// A small body between large ones does not make its domain light.
	if large := max(size, b.last[domain]/2); large >= max(b.heavyFrom, 1) {
		b.remember(domain, large)
	} else {
		delete(b.last, domain)
	}
	return sent
}

// remember notes that the bodies of a domain are large.
func (b *Backlog) remember(domain string, size int64) {
	if _, known := b.last[domain]; !known && len(b.last) == maxHeavy {
		for other := range b.last {
			delete(b.last, other)
			break
		}
	}
	b.last[domain] = size
}

// Acknowledged notes at which offset a body that was sent is.
func (b *Backlog) Acknowledged(partition int32, offset int64, sent Sent) {
	b.partitions[partition] = append(b.partitions[partition], booked{Sent: sent, offset: offset})
}

// Begun notes how far parse is in a partition. The zero Position is that of a parse in
// another process: only its commits are known.
func (b *Backlog) Begun(partition int32, at stage.Position) {
	bodies := b.partitions[partition]
	for i := range bodies {
		now := unread
		if bodies[i].offset < at.Next {
			now = begun
			if _, slow := slices.BinarySearch(at.Slow, bodies[i].offset); slow {
				now = inLane
			}
		}
		b.move(&bodies[i], now)
	}
}

// move changes what parse does with a body.
func (b *Backlog) move(body *booked, now reading) {
	if body.state == now {
		return
	}
	b.count(*body, -1)
	body.state = now
	b.count(*body, 1)
}

// count adds a body to the accounts of its state (1), or takes it away (-1).
func (b *Backlog) count(body booked, n int64) {
	if body.state == begun {
		b.ahead += n * body.bytes
		return
	}
	*b.account(body.heavy) += n * body.bytes
	if b.domains[body.domain] += n * body.bytes; b.domains[body.domain] == 0 {
		delete(b.domains, body.domain)
	}
	if body.state == inLane {
		b.slowBodies += int(n)
		if b.slow[body.domain] += int(n); b.slow[body.domain] == 0 {
			delete(b.slow, body.domain)
		}
	}
}

// Settle notes that parse has committed a partition up to the offset next.
func (b *Backlog) Settle(partition int32, next int64) {
	bodies, n := b.partitions[partition], 0
	for n < len(bodies) && bodies[n].offset < next {
		b.count(bodies[n], -1)
		n++
	}
	clear(bodies[:n]) // domains
	b.partitions[partition] = bodies[n:]
}

// Forget drops a partition that went to another owner.
func (b *Backlog) Forget(partition int32) {
	for _, body := range b.partitions[partition] {
		b.count(body, -1)
	}
	delete(b.partitions, partition)
}
