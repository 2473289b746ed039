package progress

import (
	"io"
	"sync"
	"time"
)

// plainInterval is the time between two lines where nothing can be redrawn.
const plainInterval = 10 * time.Second

// Display draws a crawl's progress on a writer. It is a writer itself: log lines that are
// written through it appear above the live line and not in it. It is safe for concurrent
// use. An error of the underlying writer affects only the display.
type Display struct {
	mu       sync.Mutex
	out      io.Writer
	terminal bool
	columns  func() int

	start, shown time.Time
	rate         Rate
	line         string // on the terminal now, without its end
}

// NewDisplay draws on out. On a terminal the line is redrawn in place and cut at columns,
// which may be nil.
func NewDisplay(out io.Writer, terminal bool, columns func() int) *Display {
	return &Display{out: out, terminal: terminal, columns: columns}
}

// Show draws the present snapshot. It is called about once a second; the first call starts
// the clock.
func (d *Display) Show(s Snapshot, now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.start.IsZero() {
		d.start, d.shown = now, now
	}
	d.rate.Add(now, s.Pages)
	line := Line(s, d.rate.PerSecond(), now.Sub(d.start))
	switch {
	case d.terminal:
		d.line = d.cut(line)
		d.print(eraseLine + d.line)
	case now.Sub(d.shown) >= plainInterval:
		d.shown = now
		d.print(line + "\n")
	}
}

// Write writes p above the live line. p should end with an end of line.
func (d *Display) Write(p []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.line == "" {
		return d.out.Write(p)
	}
	if _, err := io.WriteString(d.out, eraseLine+string(p)+d.line); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Close ends the live line and leaves it visible.
func (d *Display) Close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.line != "" {
		d.line = ""
		d.print("\n")
	}
}

// eraseLine goes to the first column and clears the line (ECMA-48, EL).
const eraseLine = "\r\x1b[K"

func (d *Display) print(s string) { _, _ = io.WriteString(d.out, s) }

// cut shortens a line so that it does not wrap, because only one row can be redrawn. Lines
// are ASCII.
func (d *Display) cut(line string) string {
	if d.columns == nil {
		return line
	}
	if columns := d.columns(); columns > 0 && len(line) >= columns {
		return line[:columns-1]
	}
	return line
}
