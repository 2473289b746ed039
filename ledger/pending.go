package ledger

import (
	"maps"
	"slices"
	"sync"

	"github.com/cockroachdb/pebble/v2"
)

// pending are the writes of a recovery that Pebble does not have yet. A replay reads
// what it wrote a moment ago (a domain's record, the gauges) and writes it again.
// Here both are an access to a map, and Pebble gets the last values only, sorted,
// many at a time.
//
// A killed process loses pending as it loses Pebble's memtable: neither has a log.
type pending struct {
	mu     sync.Mutex
	writes map[string]*pendingWrite
	bytes  int // about what they take
	limit  int
}

type pendingWrite struct {
	value   []byte
	deleted bool
}

const (
	// pendingBytes bounds the writes that wait in a partition. With 8 partitions and
	// 2 stages they take 32 MiB, until the partitions are live.
	pendingBytes = 2 << 20
	// writeBytes is what a write takes besides its key and value: the struct, the
	// map's slot and unused capacity.
	writeBytes = 96
)

// newPending returns an empty pending; limit bounds its bytes, see pendingBytes.
func newPending(limit int) *pending {
	return &pending{writes: map[string]*pendingWrite{}, limit: limit}
}

// get returns a copy of the value to be written under key; nil means a deletion.
func (p *pending) get(key []byte) (value []byte, known bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	w, known := p.writes[string(key)]
	if !known || w.deleted {
		return nil, known
	}
	return append([]byte{}, w.value...), true
}

func (p *pending) put(key, value []byte, deleted bool, db *pebble.DB) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	w := p.writes[string(key)]
	if w == nil {
		w = new(pendingWrite)
		p.writes[string(key)] = w
		p.bytes += len(key) + writeBytes
	}
	p.bytes += max(0, len(value)-cap(w.value))
	w.value, w.deleted = append(w.value[:0], value...), deleted
	if p.bytes < p.limit {
		return nil
	}
	return p.passOn(db)
}

func (p *pending) flush(db *pebble.DB) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.passOn(db)
}

// passOn holds mu until db has the writes, so that a reader finds each of them
// either here or there.
func (p *pending) passOn(db *pebble.DB) error {
	if len(p.writes) == 0 {
		return nil
	}
	batch := db.NewBatchWithSize(p.bytes)
	var err error
	for _, key := range slices.Sorted(maps.Keys(p.writes)) {
		if w := p.writes[key]; w.deleted {
			err = batch.Delete([]byte(key), nil)
		} else {
			err = batch.Set([]byte(key), w.value, nil)
		}
		if err != nil {
			return err
		}
	}
	clear(p.writes)
	p.bytes = 0
	return batch.Commit(unlogged)
}
