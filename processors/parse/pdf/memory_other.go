//go:build !linux

package pdf

import "github.com/tetratelabs/wazero/experimental"

// memories: here the memories of instances are on the heap.
type memories struct{}

func (*memories) allocator() experimental.MemoryAllocator { return nil }
