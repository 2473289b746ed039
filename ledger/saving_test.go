package ledger

import (
	"testing"
	"time"
)

// What is due about a checkpoint, step after step.
func TestSavingTimeline(t *testing.T) {
	start := time.Unix(0, 0)
	s := NewSaving(30*time.Second, start)
	for i, c := range []struct {
		at            int // seconds
		folded, acked int64
		final         bool
		want          SaveStep
	}{
		{29, 5, 5, false, SaveNothing},    // too young
		{30, 7, 5, false, SaveCopy},       // of 7
		{30, 8, 6, false, SaveNothing},    // 7 is not acknowledged
		{90, 9, 6, false, SaveNothing},    // however long that takes
		{91, 9, 7, false, SavePublish},    // it is
		{120, 12, 12, false, SaveNothing}, // counted from the publication
		{121, 12, 12, false, SaveCopy},
		{121, 12, 12, false, SavePublish},
		{160, 12, 12, false, SaveNothing}, // it is there
		{160, 12, 12, true, SaveNothing},
		{160, 13, 13, true, SaveCopy}, // however young
		{160, 13, 13, true, SavePublish},
		{160, 13, 13, true, SaveNothing},
		{200, 14, 13, false, SaveCopy},
		{201, 16, 16, true, SaveCopy}, // in place of the one of 14
		{201, 16, 15, true, SaveNothing},
		{201, 16, 16, true, SavePublish},
	} {
		now := start.Add(time.Duration(c.at) * time.Second)
		got := s.Next(now, c.folded, c.acked)
		if c.final {
			got = s.Final(c.folded, c.acked)
		}
		if got != c.want {
			t.Fatalf("step %d: %v, want %v", i, got, c.want)
		}
		switch got {
		case SaveCopy:
			s.Copied(c.folded)
		case SavePublish:
			s.Published(now)
		}
	}
}
