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

func (*mixed) Priority(*hostqueue.Visit, int) int { return 0 }

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

func (*mixed) Skip(context.Context, *hostqueue.Visit, int, time.Time) {}

// When more domains wait than there are slots, their requests are made by the weights of their
// priorities, whatever the domains and however long they waited.
func TestScarceSlotsGoByPriority(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, opts := newWeb(), hostqueue.Defaults()
		opts.Slots = 1
		w.takes = func(*hostqueue.Visit, int) time.Duration { return 10 * time.Millisecond }
		var order []byte
		w.answer = func(v *hostqueue.Visit, _ int) hostqueue.Answer {
			order = append(order, v.Id[0])
			return hostqueue.Answer{}
		}
		l := hostqueue.New(opts, w)
		l.Start(t.Context(), visit("first.d", "first", 1, 0))
		synctest.Wait()
		for priority := 3; priority >= 0; priority-- {
			for i := range 40 {
				id := strconv.Itoa(priority) + "-" + strconv.Itoa(i)
				v := visit(id+".d", id, 2, 0)
				for _, q := range v.Requests {
					q.Priority = uint32(priority)
				}
				l.Start(t.Context(), v)
				synctest.Wait()
			}
		}
		l.Wait()
		if got := string(order[1:31]); len(order) != 321 || got != strings.Repeat("010201030102010", 2) {
			t.Errorf("%d fetches, first of the priorities %s", len(order), got)
		}
	})
}
