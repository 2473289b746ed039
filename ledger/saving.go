package ledger

import "time"

// Saving decides when a partition's state is copied, and when a copy becomes its
// checkpoint: only after the last event in it is acknowledged. Otherwise a checkpoint
// could hold an event that the log does not hold.
//
// Saving is pure; a shell makes and publishes the copies. It is not safe for
// concurrent use.
type Saving struct {
	every     time.Duration
	last      time.Time // when the last one was published
	copied    int64     // offset of the copy that waits to be published, -1: none
	published int64     // offset of the last one published here, -1: none
}

// SaveStep says what is to be done about a checkpoint.
type SaveStep int

// The steps.
const (
	SaveNothing SaveStep = iota
	SaveCopy             // copy the state; then Copied
	SavePublish          // publish the copy; then Published
)

// NewSaving returns the saving of a partition that opens at now. A checkpoint is made
// when the last one is as old as every.
func NewSaving(every time.Duration, now time.Time) *Saving {
	return &Saving{every: every, last: now, copied: -1, published: -1}
}

// Next says what is due when the state is folded up to offset folded, and events are
// acknowledged up to offset acked.
func (s *Saving) Next(now time.Time, folded, acked int64) SaveStep {
	switch {
	case s.copied >= 0 && acked < s.copied:
		return SaveNothing
	case s.copied >= 0:
		return SavePublish
	case now.Sub(s.last) < s.every || folded == s.published:
		return SaveNothing
	}
	return SaveCopy
}

// Final says what is due when the partition is given up. The last checkpoint has all
// that is folded.
func (s *Saving) Final(folded, acked int64) SaveStep {
	switch {
	case folded == s.published:
		return SaveNothing
	case s.copied != folded:
		return SaveCopy
	case acked < s.copied:
		return SaveNothing
	}
	return SavePublish
}

// Copied says that the state is copied as of offset. It replaces any copy before.
func (s *Saving) Copied(offset int64) { s.copied = offset }

// Published says that the copy was published at now.
func (s *Saving) Published(now time.Time) { s.published, s.copied, s.last = s.copied, -1, now }
