package frontier

import (
	"fmt"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/politeness"
	"github.com/weftcrawl/weft/state"
)

// candidate is the URL that goes out next, if it may.
type candidate struct {
	request *weftpb.Request
	// turn is the domain's turn after it.
	turn uint32
	// from is the group it waits in, nil if it is none.
	from *asideCursor
}

// cursors read the fronts of a domain's queues and retries in the order in
// which they are served, without removing anything.
type cursors struct {
	keys    keys
	store   state.Store
	queues  [priorities]queueCursor
	retries retryCursor
	// trials and free share the turns of a priority each; behind has its turn when
	// nothing else is there, and the domain is quiet.
	trials, free, behind asideCursor
	quiet                bool
}

// The priorities whose turns groups share.
const (
	trialPriority = 1
	freePriority  = 3
)

// queueCursor reads one queue, a few entries at a time.
type queueCursor struct {
	queue queue // what is not read yet
	ahead []*weftpb.Request
}

// retryCursor reads the retries that are ready.
type retryCursor struct {
	left  uint64 // not read yet
	next  []byte // key where reading goes on
	upper []byte
	ahead []*weftpb.Request
}

// readAhead is how many entries one scan reads.
const readAhead = 16

func newCursors(x *fold) cursors {
	c := cursors{
		keys: x.keys, store: x.store,
		trials: newAsideCursor(x, trial), free: newAsideCursor(x, free), behind: newAsideCursor(x, behind),
		quiet: len(x.d.visits) == 0 && x.d.asides.quiet(x.nowMS),
	}
	for p, q := range x.d.queues {
		c.queues[p].queue = q
	}
	head := x.d.retries.headMS
	if x.d.retries.count > 0 && (head <= x.nowMS || absurd(head, x.nowMS)) {
		c.retries = retryCursor{left: x.d.retries.count, next: x.keys.retry(head, 0), upper: x.keys.retry(x.nowMS+1, 0)}
		if absurd(head, x.nowMS) {
			c.retries.upper = x.keys.retry(head+politeness.MaxWait.Milliseconds(), 0)
		}
	} else {
		c.retries = retryCursor{next: x.keys.retry(head, 0)}
	}
	return c
}

// takeAll makes ready what is not, too. It is called first.
func (c *cursors) takeAll(count uint64) {
	c.trials.all, c.behind.all, c.quiet = true, true, true
	c.retries.left, c.retries.upper = count, c.keys.retriesEnd()
}

// front returns the URL that is served at turn, nil when there is none:
// retries that are ready first, then the queues by weight. Where a group shares the
// turns of a queue, the shorter of both goes first, and trials before both.
func (c *cursors) front(turn uint32) (*candidate, error) {
	if err := c.fillRetries(); err != nil {
		return nil, err
	}
	if len(c.retries.ahead) > 0 {
		return &candidate{request: c.retries.ahead[0], turn: turn}, nil
	}
	tried, err := c.trials.fill()
	if err != nil {
		return nil, err
	}
	freed, err := c.free.fill()
	if err != nil {
		return nil, err
	}
	priority, next, ok := serve(turn, func(p int) bool {
		return c.queues[p].left() > 0 || tried && p == trialPriority || freed && p == freePriority
	})
	switch {
	case !ok && c.quiet:
		ok, err := c.behind.fill()
		if !ok || err != nil {
			return nil, err
		}
		return &candidate{c.behind.ahead[0], turn, &c.behind}, nil
	case !ok:
		return nil, nil
	case tried && priority == trialPriority:
		return &candidate{c.trials.ahead[0], next, &c.trials}, nil
	case freed && priority == freePriority && (c.queues[priority].left() == 0 || c.free.count <= c.queues[priority].left()):
		return &candidate{c.free.ahead[0], next, &c.free}, nil
	}
	if err := c.fillQueue(priority); err != nil {
		return nil, err
	}
	return &candidate{request: c.queues[priority].ahead[0], turn: next}, nil
}

// left is how many URLs of the queue are not popped.
func (q *queueCursor) left() uint64 { return uint64(len(q.ahead)) + q.queue.len() }

// pop goes on behind the candidate that front returned last.
func (c *cursors) pop(from *candidate) {
	switch {
	case from.request.Again:
		c.retries.ahead = c.retries.ahead[1:]
		return
	case from.from != nil:
		from.from.ahead = from.from.ahead[1:]
		from.from.count--
		return
	}
	q := &c.queues[from.request.Priority]
	q.ahead = q.ahead[1:]
}

func (c *cursors) fillQueue(priority int) error {
	q := &c.queues[priority]
	if len(q.ahead) > 0 {
		return nil
	}
	n := min(q.queue.len(), readAhead)
	lower, upper := c.keys.queue(priority, q.queue.head), c.keys.queue(priority, q.queue.head+n)
	var err error
	c.store.Scan(lower, upper, func(_, value []byte) bool {
		var r *weftpb.Request
		if r, err = decodeRequest(value); err != nil {
			return false
		}
		r.Priority = uint32(priority)
		q.ahead = append(q.ahead, r)
		return true
	})
	if err == nil && uint64(len(q.ahead)) != n {
		err = fmt.Errorf("%d entries of %d are there", len(q.ahead), n)
	}
	if err != nil {
		return fmt.Errorf("read queue %d: %w", priority, err)
	}
	q.queue.head += n
	return nil
}

func (c *cursors) fillRetries() error {
	r := &c.retries
	if len(r.ahead) > 0 || r.left == 0 {
		return nil
	}
	var err error
	read := 0
	c.store.Scan(r.next, r.upper, func(key, value []byte) bool {
		if read == readAhead {
			return false
		}
		var q *weftpb.Request
		if q, err = decodeRequest(value); err != nil {
			return false
		}
		q.Again = true
		r.ahead = append(r.ahead, q)
		r.next = append(append(r.next[:0], key...), 0)
		r.left--
		read++
		return true
	})
	if err != nil {
		return fmt.Errorf("read retries: %w", err)
	}
	if read < readAhead {
		r.left = 0
	}
	return nil
}
