package httpclient

import (
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"
)

// drip is a body that comes in parts, each after a while.
type drip struct {
	parts []part
	ended chan struct{}
}

type part struct {
	after time.Duration
	bytes int
}

func (d *drip) Read(b []byte) (int, error) {
	if len(d.parts) == 0 {
		return 0, io.EOF
	}
	p := d.parts[0]
	d.parts = d.parts[1:]
	select {
	case <-time.After(p.after):
		return min(p.bytes, len(b)), nil
	case <-d.ended:
		return 0, errors.New("ended")
	}
}

func (d *drip) Close() error { return nil }

// A body that brings 1,000 bytes in each 10 s of waiting is slow, not too slow.
func TestPace(t *testing.T) {
	second := func(n int, p part) (parts []part) {
		for range n {
			parts = append(parts, p)
		}
		return parts
	}
	for _, tc := range []struct {
		name  string
		parts []part
		// busy is what the reader does with each part.
		busy time.Duration
		// gives is when the exchange is ended, with the time that the reader is busy; 0: never.
		gives time.Duration
	}{
		{"just enough", second(60, part{900 * time.Millisecond, 100}), 0, 0},
		{"too little", second(60, part{900 * time.Millisecond, 80}), 0, 10 * time.Second},
		{"nothing", []part{{time.Hour, 1}}, 0, 10 * time.Second},
		{"a part that comes late", []part{{9 * time.Second, 10_000}, {9 * time.Second, 10_000}}, 0, 0},
		{"all at once, and then nothing", []part{{0, 100_000}, {time.Hour, 1}}, 0, 20 * time.Second},
		{"a burst in each window", []part{{9 * time.Second, 1000}, {9 * time.Second, 1000}, {9 * time.Second, 1000}}, 0, 0},
		{"a slow reader", second(5, part{time.Second, 1}), time.Hour, 0},
		{"a short body", []part{{9 * time.Second, 1}}, 0, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				d := &drip{tc.parts, make(chan struct{})}
				var gave time.Duration
				p := paced(d, 100, 10*time.Second, func(why error) {
					if gave == 0 {
						gave = time.Since(began)
						close(d.ended)
					}
					if Classify(why) != ClassSlowBody {
						t.Errorf("given up as %q", Classify(why))
					}
				})
				var err error
				for buf := make([]byte, 1<<20); err == nil; {
					_, err = p.Read(buf)
					time.Sleep(tc.busy)
				}
				if gave != tc.gives || (gave == 0) != (err == io.EOF) {
					t.Errorf("given up after %v with %v, want %v", gave, err, tc.gives)
				}
			})
		})
	}
}
