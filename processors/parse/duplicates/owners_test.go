package duplicates

import (
	"context"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Two processes on one directory have an index each.
func TestTwoProcesses(t *testing.T) {
	log, dir := newMemory(), t.TempDir()
	one, two := newOwner(t, dir, log), newOwner(t, dir, log)
	defer one.close(t)
	defer two.close(t)
	one.put(t, 0, page("a", "x.example", 1, 0xff))
	if v := two.put(t, 0, page("b", "x.example", 1, 0xff)); v.ID != "a" {
		t.Errorf("%+v", v)
	}
}

// Release waits for what is in flight, and not longer than it may.
func TestRelease(t *testing.T) {
	b := newOwner(t, t.TempDir(), newMemory())
	defer b.close(t)
	flight, err := b.Judge(t.Context(), 0, page("a", "x.example", 1, 0xff))
	if err != nil {
		t.Fatal(err)
	}
	written := flight.Hand()
	flight.Release()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	b.OnRevoked(ended, []int32{0, 7})
	released := make(chan struct{})
	go func() { defer close(released); b.OnRevoked(context.WithoutCancel(t.Context()), []int32{0}) }()
	select {
	case <-released:
		t.Error("released before the page is written")
	default:
	}
	written(&kgo.Record{Value: make([]byte, 100)}, nil)
	<-released
}
