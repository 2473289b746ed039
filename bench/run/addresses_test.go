package main

import (
	"io"
	"testing"
	"time"
)

func TestJudgeStarts(t *testing.T) {
	began := time.Now()
	apart := func(d time.Duration, n int) (starts []time.Time) {
		for i := range n {
			starts = append(starts, began.Add(time.Duration(i)*d))
		}
		return starts
	}
	for name, c := range map[string]struct {
		starts []time.Time
		missed int
	}{
		"the budget":   {apart(50*time.Millisecond, 1200), 0},
		"half of it":   {apart(100*time.Millisecond, 600), 1},
		"more than it": {apart(40*time.Millisecond, 1500), 3},
	} {
		if missed := judgeStarts(io.Discard, c.starts, 50*time.Millisecond, 4); missed != c.missed {
			t.Errorf("%s: %d bars are missed, want %d", name, missed, c.missed)
		}
	}
}
