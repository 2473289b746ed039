package main

import (
	"io"
	"os"
	"sync"
	"time"

	"github.com/weftcrawl/weft/progress"
	"golang.org/x/term"
)

// newDisplay draws on w in place when that is a terminal.
func newDisplay(w io.Writer) *progress.Display {
	file, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return progress.NewDisplay(w, false, nil)
	}
	return progress.NewDisplay(w, true, func() int {
		columns, _, err := term.GetSize(int(file.Fd()))
		if err != nil {
			return 0
		}
		return columns
	})
}

// watcher shows snapshots, and remembers what the summary needs of them. It is
// safe for concurrent use.
type watcher struct {
	display *progress.Display

	mu            sync.Mutex
	seen          bool
	first, latest progress.Snapshot
	since, until  time.Time
}

func (w *watcher) watch(s progress.Snapshot) {
	now := time.Now()
	w.display.Show(s, now)
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.seen {
		w.seen, w.first, w.since = true, s, now
	}
	w.latest, w.until = s, now
}

// rate is pages a second over the run; 0 when it was too short to tell.
func (w *watcher) rate() float64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	seconds := w.until.Sub(w.since).Seconds()
	if seconds < 1 {
		return 0
	}
	return float64(w.latest.Pages-w.first.Pages) / seconds
}
