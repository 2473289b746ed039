package hostqueue_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weftcrawl/weft/internal/politeness"
	"github.com/weftcrawl/weft/processors/fetch/hostqueue"
)

// A request that hangs holds back its host: what is asked, when, by seconds.
func TestHangingRequestHoldsBackItsHost(t *testing.T) {
	for name, c := range map[string]struct {
		visits   [][]string
		robots   string // visit that is for a robots.txt
		finished map[string]int
		asked    []string
		hung     []string
		skipped  []string
	}{
		"a page": {
			visits:   [][]string{{"http://a.d/", "http://hangs.d/", "http://a.d/2"}, {"http://hangs.d/2", "http://b.d/"}},
			finished: map[string]int{"0": 3, "1": 2},
			asked:    []string{"0 http://a.d/", "1 http://hangs.d/", "5 http://b.d/"},
			hung:     []string{"0 1 after 4s"},
			skipped:  []string{"1 0"},
		},
		"a robots.txt": {
			visits: [][]string{{"http://hangs.d/robots.txt"}, {"http://b.d/"}}, robots: "0",
			finished: map[string]int{"0": 1, "1": 1},
			asked:    []string{"0 http://hangs.d/robots.txt", "2 http://b.d/"},
			hung:     []string{"0 0 after 1s"},
		},
		"a look-up": {
			visits:   [][]string{{"http://a.d/", "http://unknown.d/"}, {"http://b.d/"}},
			finished: map[string]int{"0": 2, "1": 1},
			asked:    []string{"0 http://a.d/", "1 http://b.d/"},
			hung:     []string{"0 1 after 250ms"},
			skipped:  []string{"0 1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, began := newWeb(), time.Now()
				w.began = began
				var asked []string
				w.takes = func(v *hostqueue.Visit, i int) time.Duration {
					url := v.Requests[i].Target.Url
					w.mu.Lock()
					asked = append(asked, time.Since(began).Truncate(time.Second).String()[:1]+" "+url)
					w.mu.Unlock()
					if strings.Contains(url, "hangs") {
						return 20 * time.Second
					}
					return 0
				}
				w.lookUp = func(_ context.Context, v *hostqueue.Visit, i int) (hostqueue.Answer, bool) {
					if v.Host(i) == "unknown.d" {
						time.Sleep(9 * time.Second)
					}
					return hostqueue.Answer{}, true
				}
				opts := hostqueue.Defaults()
				opts.Jitter = 0
				l := hostqueue.New(opts, w)
				for n, urls := range c.visits {
					v := visitOf("d", string(rune('0'+n)), time.Second, urls...)
					v.Robots = v.Id == c.robots
					l.Start(t.Context(), v)
				}
				l.Wait()
				if !slices.Equal(asked, c.asked) || !slices.Equal(w.hung, c.hung) || !slices.Equal(w.skipped, c.skipped) {
					t.Errorf("asked %q, hung %q, skipped %q", asked, w.hung, w.skipped)
				}
				for id, rest := range c.finished {
					if w.finished[id] != rest {
						t.Errorf("finished %v, want %v", w.finished, c.finished)
					}
				}
			})
		})
	}
}

// When a request that hung is over, the domain rests; and only so many may hang at once.
func TestQueueGoesOnWithoutSoMany(t *testing.T) {
	var q hostqueue.Queue
	now := time.Unix(0, 0)
	hang := func(host string) (*hostqueue.Visit, bool) {
		v := visitOf("d", host, time.Second, "http://"+host+".d/")
		q.Add(t.Context(), v)
		for q.Next(now).Kind == hostqueue.Wait {
			now = now.Add(time.Second)
		}
		if step := q.Next(now); step.Kind != hostqueue.LookUp || step.Visit != v {
			t.Fatalf("it says %v", step)
		}
		q.Found()
		return v, q.Hang(now)
	}
	patience := q.PatienceWithLookUp()
	first, hangs := hang("a")
	if with := q.PatienceWithLookUp(); with*2 != patience {
		t.Errorf("a look-up has %v, and %v while a request hangs", patience, with)
	}
	for i := range politeness.MaxHanging - 1 {
		if _, more := hang(fmt.Sprint("h", i)); !more {
			t.Fatalf("only %d hang", i+1)
		}
	}
	if _, more := hang("more"); !hangs || more {
		t.Fatal("more hang than may")
	}
	q.Drop()
	now = now.Add(10 * time.Second)
	q.HungUp(first, 0, now, hostqueue.Answer{})
	q.Add(t.Context(), visitOf("d", "again", time.Second, "http://a.d/", "http://h0.d/"))
	q.Next(now)
	q.Found()
	if step := q.Next(now); step.Kind != hostqueue.Wait || !step.Until.Equal(now.Add(time.Second)) {
		t.Errorf("after the end of one that hung it says %v", step)
	}
	q.Made(now, hostqueue.Answer{}, 0)
	if step := q.Next(now); step.Kind != hostqueue.Skip {
		t.Errorf("for a host to which a request hangs it says %v", step)
	}
}
