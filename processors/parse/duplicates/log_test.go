package duplicates

import (
	"context"
	"errors"
	"sync"

	"github.com/twmb/franz-go/pkg/kgo"
)

// memory is a log of pages by partition.
type memory struct {
	mu    sync.Mutex
	start map[int32]int64
	pages map[int32][]Page
	reads int
	err   error
	// cut is the offset that Range does not come to; 0: none.
	cut int64
}

func newMemory() *memory { return &memory{start: map[int32]int64{}, pages: map[int32][]Page{}} }

func (m *memory) Bounds(_ context.Context, p int32) (start, end int64, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.start[p], int64(len(m.pages[p])), m.err
}

func (m *memory) Range(_ context.Context, p int32, from, to int64, visit func(Record) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for o := from; o < to && m.err == nil; o++ {
		if o > 0 && o == m.cut {
			return errCut
		}
		m.reads++
		page := m.pages[p][o]
		r := Record{Offset: o, Bytes: 100, Page: &page}
		if page.Print.Empty() {
			r.Page = nil
		}
		if err := visit(r); err != nil {
			return err
		}
	}
	return m.err
}

// record writes a page, and returns its record as it is acknowledged.
func (m *memory) record(p int32, page Page) *kgo.Record {
	return &kgo.Record{Offset: m.write(p, page), Value: make([]byte, 100)}
}

func (m *memory) Incarnation(context.Context) (string, error) { return "", nil }

func (m *memory) write(p int32, page Page) int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pages[p] = append(m.pages[p], page)
	return int64(len(m.pages[p]) - 1)
}

var errCut = errors.New("the broker is gone")

type silentLog struct{}

func (*silentLog) Incarnation(context.Context) (string, error) { return "", nil }

func (*silentLog) Bounds(context.Context, int32) (start, end int64, err error) { return 0, 0, nil }

func (*silentLog) Range(context.Context, int32, int64, int64, func(Record) error) error {
	return nil
}
