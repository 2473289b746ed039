package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/weftcrawl/weft/crawl"
	"github.com/weftcrawl/weft/inspect/progress"
)

// newDisplay draws on w, in place if w is a terminal.
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

// watcher shows snapshots of a crawl, and in the end its summary. It is safe for concurrent
// use, but for summarize.
type watcher struct {
	display    *progress.Display
	out        io.Writer
	begun      time.Time
	summarized bool

	mu            sync.Mutex
	seen          bool
	first, latest progress.Snapshot
	since, until  time.Time
}

func newWatcher(out io.Writer) *watcher {
	return &watcher{display: newDisplay(out), out: out, begun: time.Now()}
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

// rate is the pages per second of the run; 0 if the run was too short.
func (w *watcher) rate() float64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	seconds := w.until.Sub(w.since).Seconds()
	if seconds < 1 {
		return 0
	}
	return float64(w.latest.Pages-w.first.Pages) / seconds
}

// summarize ends the display and writes the summary, once.
func (w *watcher) summarize(result crawl.Result) error {
	if w.summarized {
		return nil
	}
	w.summarized = true
	w.display.Close()
	_, err := progress.Summary{
		Ended: result.Ended, Elapsed: time.Since(w.begun), Pages: result.Pages, Bytes: result.Bytes,
		Rate: w.rate(), Left: result.Pending, Down: result.Down, Blocked: result.Blocked, Outcomes: result.Outcomes,
	}.WriteTo(w.out)
	if err != nil {
		return fmt.Errorf("write summary: %w", err)
	}
	return nil
}
