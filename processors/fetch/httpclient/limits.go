package httpclient

import (
	"errors"
	"io"
	"time"
)

var errCut = errors.New("cut at the limit")

// limited passes on at most left bytes of r, and fails with errCut if there are more. It
// keeps the error of r, because decoders replace such errors by their own.
type limited struct {
	r    io.Reader
	left int64
	n    int64 // bytes passed on
	cut  bool
	err  error // of r, io.EOF included
}

func (l *limited) Read(p []byte) (int, error) {
	if l.err != nil {
		return 0, l.err
	}
	if len(p) == 0 {
		return 0, nil
	}
	if l.left == 0 {
		return 0, l.probe()
	}
	if int64(len(p)) > l.left {
		p = p[:l.left]
	}
	n, err := l.r.Read(p)
	l.n += int64(n)
	l.left -= int64(n)
	l.err = err
	return n, err
}

// probe finds out whether anything lies beyond the limit.
func (l *limited) probe() error {
	var one [1]byte
	for !l.cut && l.err == nil {
		n, err := l.r.Read(one[:])
		l.cut = n > 0
		if n == 0 {
			l.err = err
		}
	}
	if l.cut {
		return errCut
	}
	return l.err
}

// errSlowBody ends an exchange whose body comes below the least rate.
var errSlowBody = failf(ClassSlowBody, "the body comes too slowly")

// pace is a body that must come at a least rate: in every window of time that is spent
// waiting for it, at least floor bytes must come. Time in which its reader does other
// things, such as waiting for memory, does not count. The last window, which the body's end
// cuts short, does not count either.
//
// Read may be called by one goroutine at a time. A timer runs only while Read waits.
type pace struct {
	io.ReadCloser
	window time.Duration
	floor  int64 // bytes that each window must bring
	end    func(why error)

	waited time.Duration // in this window
	got    int64         // in this window
	timer  *time.Timer
}

// paced returns r, which must come at rate bytes a second over each window. When it comes
// slower, end is called with errSlowBody, from another goroutine. end must make the Read
// that waits return.
func paced(r io.ReadCloser, rate int64, window time.Duration, end func(why error)) *pace {
	return &pace{ReadCloser: r, window: window, floor: int64(float64(rate) * window.Seconds()), end: end}
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
			p.end(errSlowBody)
			return n, errSlowBody
		}
		p.waited, p.got = 0, 0
	}
	return n, err
}

// watch makes a waiting Read end when the body is certainly too slow: at the end of this
// window if too little came in it, and otherwise at the end of the next window.
func (p *pace) watch() {
	left := p.window - p.waited
	if p.got >= p.floor {
		left += p.window
	}
	if p.timer == nil {
		p.timer = time.AfterFunc(left, func() { p.end(errSlowBody) })
		return
	}
	p.timer.Reset(left)
}
