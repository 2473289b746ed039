package hostqueue_test

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weftcrawl/weft/processors/fetch/hostqueue"
)

// mixed is a Requester in which domains that begin with "bad" hang for a minute and
// all others answer at once.
type mixed struct {
	mu         sync.Mutex
	open, most int
	ended      []string
}

func (*mixed) LookAhead(context.Context, *hostqueue.Visit) {}

func (*mixed) LookUp(context.Context, *hostqueue.Visit, int) (hostqueue.Answer, bool) {
	return hostqueue.Answer{}, true
}

func (*mixed) Gate(context.Context, *hostqueue.Visit) error { return nil }

func (m *mixed) Request(_ context.Context, v *hostqueue.Visit, _ int) hostqueue.Answer {
	m.mu.Lock()
	m.open++
	m.most = max(m.most, m.open)
	m.mu.Unlock()
	if strings.HasPrefix(v.Domain, "bad") {
		time.Sleep(time.Minute)
	} else {
		time.Sleep(100 * time.Millisecond)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.open--
	m.ended = append(m.ended, v.Domain)
	return hostqueue.Answer{}
}

func (*mixed) Enter(context.Context, *hostqueue.Visit, int) (leave func(), crowded bool) {
	return func() {}, false
}

func (*mixed) Hang(context.Context, *hostqueue.Visit, int, time.Time) {}

func (*mixed) Finish(context.Context, *hostqueue.Visit, int) {}

// Far more hosts hang than there are slots, and all came first; the good ones
// are served before any of the others ends.
func TestHangingHostsDelayNoOthers(t *testing.T) {
	for _, tc := range []struct {
		name      string
		bad       int
		hanging   int
		goodFirst bool
	}{
		{"places for all that hang", 40, 60, true},
		{"too few places", 200, 60, false},
		{"none", 40, 0, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := &mixed{}
				opts := hostqueue.Defaults()
				opts.Slots, opts.Hanging = 10, tc.hanging
				l := hostqueue.New(opts, m)
				for i := range tc.bad {
					l.Start(t.Context(), visit("bad"+strconv.Itoa(i), strconv.Itoa(i), 1, 0))
				}
				synctest.Wait() // every slot is taken
				const good = 30
				for i := range good {
					l.Start(t.Context(), visit("good"+strconv.Itoa(i), "g"+strconv.Itoa(i), 1, 0))
				}
				l.Wait()
				if len(m.ended) != tc.bad+good {
					t.Fatalf("%d of %d requests ended", len(m.ended), tc.bad+good)
				}
				first := 0
				for first < len(m.ended) && strings.HasPrefix(m.ended[first], "good") {
					first++
				}
				if (first == good) != tc.goodFirst {
					t.Errorf("%d of %d good ones ended before any bad one", first, good)
				}
				if m.most > opts.Slots+opts.Hanging {
					t.Errorf("%d open at once with %d slots and %d places", m.most, opts.Slots, opts.Hanging)
				}
				if l.Open() != 0 {
					t.Errorf("%d are open at the end", l.Open())
				}
			})
		})
	}
}

func (*mixed) Skip(context.Context, *hostqueue.Visit, int) {}
