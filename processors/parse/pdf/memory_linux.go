package pdf

import (
	"sync"

	"github.com/tetratelabs/wazero/experimental"
	"golang.org/x/sys/unix"
)

// memories are the memories of instances, outside of the heap. wazero by itself would copy a memory
// that grows to a new slice, and a file that takes 256 MiB would take 650.
//
// A memory is a range of addresses of the largest size. Linux gives it pages as they are written
// to. When an instance ends, its pages go back, and the addresses wait for the next instance, so
// that a slice that is kept by mistake has zeros and does not crash the process. Addresses without
// pages cost nothing, and are never given back.
type memories struct {
	mu   sync.Mutex
	idle [][]byte
}

// allocator is how wazero gets the memory of an instance.
func (m *memories) allocator() experimental.MemoryAllocator { return m }

// Allocate implements experimental.MemoryAllocator.
func (m *memories) Allocate(_, most uint64) experimental.LinearMemory {
	m.mu.Lock()
	defer m.mu.Unlock()
	if last := len(m.idle) - 1; last >= 0 {
		pages := m.idle[last]
		m.idle = m.idle[:last]
		return &linearMemory{m, pages}
	}
	pages, err := unix.Mmap(-1, 0, int(most), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_NORESERVE)
	if err != nil { // the process may not have as many addresses
		return &linearMemory{nil, make([]byte, most)}
	}
	return &linearMemory{m, pages}
}

// linearMemory is the memory of an instance.
type linearMemory struct {
	of    *memories // nil: it is on the heap
	pages []byte
}

// Reallocate implements experimental.LinearMemory.
func (l *linearMemory) Reallocate(size uint64) []byte {
	if size > uint64(len(l.pages)) {
		return nil
	}
	return l.pages[:size:size]
}

// Free implements experimental.LinearMemory.
func (l *linearMemory) Free() {
	if l.of == nil || l.pages == nil {
		return
	}
	if unix.Madvise(l.pages, unix.MADV_DONTNEED) == nil { // else its contents would stay
		l.of.mu.Lock()
		l.of.idle = append(l.of.idle, l.pages)
		l.of.mu.Unlock()
	}
	l.pages = nil
}
