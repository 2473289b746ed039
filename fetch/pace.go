package fetch

import (
	"io"
	"time"
)

// errSlowBody ends an exchange whose body comes below the least rate.
var errSlowBody = failf(ClassSlowBody, "the body comes too slowly")

// pace is a body on its way that has to keep to a least rate: in every window
// of time that is spent waiting for it, so many bytes must come. Time in which
// its reader does other things, such as waiting for memory, does not count;
// nor does the last window, which the body's end cuts short.
//
// Read may be called by one goroutine at a time. While it waits, a timer
// watches; outside of it nothing does.
type pace struct {
	io.ReadCloser
	window time.Duration
	floor  int64 // bytes that each window must bring
	give   func(why error)

	waited time.Duration // in this window
	got    int64         // in this window
	timer  *time.Timer
}

// paced returns r held to rate bytes a second over each window; give is called
// with errSlowBody, from another goroutine, when it does not keep to it. It
// must make the Read that waits return.
func paced(r io.ReadCloser, rate int64, window time.Duration, give func(why error)) *pace {
	return &pace{ReadCloser: r, window: window, floor: int64(float64(rate) * window.Seconds()), give: give}
}

func (p *pace) Read(b []byte) (int, error) {
	began := time.Now()
	p.watch()
	n, err := p.ReadCloser.Read(b)
	p.timer.Stop()
	p.waited += time.Since(began)
	p.got += int64(n)
	if p.waited >= p.window {
		if p.got < p.floor && err == nil {
			p.give(errSlowBody)
			return n, errSlowBody
		}
		p.waited, p.got = 0, 0
	}
	return n, err
}

// watch makes a Read that waits end when there is nothing more to hope for: at
// the end of this window, if too little came in it, and of the next otherwise.
func (p *pace) watch() {
	left := p.window - p.waited
	if p.got >= p.floor {
		left += p.window
	}
	if p.timer == nil {
		p.timer = time.AfterFunc(left, func() { p.give(errSlowBody) })
		return
	}
	p.timer.Reset(left)
}
