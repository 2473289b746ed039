package broker_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/internal/broker"
)

// ping tells whether a broker answers a member.
func ping(t *testing.T, m broker.Member) error {
	t.Helper()
	client, err := kgo.NewClient(m.Client()...)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	return client.Ping(ctx)
}

func TestReach(t *testing.T) {
	o := broker.Options{Dir: filepath.Join(t.TempDir(), "broker")}
	if _, _, err := broker.Reach(t.Context(), o); !errors.Is(err, broker.ErrNoBroker) {
		t.Errorf("a directory that is not there: %v", err)
	}
	running, err := broker.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	m, release, err := broker.Reach(t.Context(), o)
	if err != nil || m != running.Member() {
		t.Fatalf("reached %q, %v; it runs at %s", m.Addr, err, running.Member().Addr)
	}
	if err := errors.Join(release(), ping(t, m)); err != nil {
		t.Errorf("released by somebody who only reached it: %v", err)
	}
	if err := running.Close(); err != nil {
		t.Fatal(err)
	}

	// A killed process leaves its address, and no lock.
	if err := os.WriteFile(filepath.Join(o.Dir, "address"), []byte(m.Addr), 0o644); err != nil {
		t.Fatal(err)
	}
	own, release, err := broker.Reach(t.Context(), o)
	if err != nil || own == m {
		t.Fatalf("reached %q, %v, although nobody runs it", own.Addr, err)
	}
	if err := errors.Join(ping(t, own), release()); err != nil {
		t.Error(err)
	}
	if ping(t, own) == nil {
		t.Error("it is there after its release")
	}
}

func TestReachWaitsForAStart(t *testing.T) {
	o := broker.Options{Dir: filepath.Join(t.TempDir(), "broker")}
	running, err := broker.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	defer running.Close()
	if err := os.Remove(filepath.Join(o.Dir, "address")); err != nil { // as between the lock and the start
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if m, _, err := broker.Reach(ctx, o); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("reached %q, %v, before its address is known", m.Addr, err)
	}
}
