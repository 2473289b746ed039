package duplicates

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"
)

// away bounds how long an index keeps on disk what is somebody else's: partitions
// that were given away, or that an earlier life of the process had. Those that come
// back before that, as after a restart, go on where they were.
type away struct {
	since map[int32]time.Time // of those on disk that are not this process's
	next  time.Time           // when to look again
}

// looks is how often the index looks for them in the time that one is kept.
const looks = 60

// sweep forgets the partitions that have been away for Options.Keep. The store may
// be used, and no lock is held.
func (x *Index) sweep() error {
	now := x.options.now()
	x.mu.Lock()
	defer x.mu.Unlock()
	if now.Before(x.away.next) {
		return nil
	}
	x.away.next = now.Add(x.options.Keep / looks)
	stored, err := x.store.partitions()
	since := map[int32]time.Time{}
	for _, number := range stored {
		p := x.partitions[number]
		if p == nil {
			p = new(partition)
		}
		before, noted := x.away.since[number]
		switch {
		case p.isHere():
			continue
		case !noted:
			before = now
		case now.Sub(before) >= x.options.Keep:
			err = errors.Join(err, p.forget(x.store, number))
			continue
		}
		since[number] = before
	}
	x.away.since = since
	return err
}

// partitions lists those of which the store has something.
func (s *store) partitions() (numbers []int32, err error) {
	it, err := s.db.NewIter(nil)
	if err != nil {
		return nil, fmt.Errorf("read index of duplicates: %w", err)
	}
	for ok := it.First(); ok; {
		number := binary.BigEndian.Uint32(it.Key())
		numbers = append(numbers, int32(number))
		ok = it.SeekGE(binary.BigEndian.AppendUint32(nil, number+1))
	}
	return numbers, errors.Join(it.Error(), it.Close())
}
