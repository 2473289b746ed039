package archive

import (
	"context"
	"slices"

	"github.com/twmb/franz-go/pkg/kgo"
)

// chore runs Options.Chore. Callbacks of the group, which do not overlap, begin it.
type chore struct {
	stop  context.CancelFunc
	ended chan struct{}
}

// onAssigned is called while the archiver polls.
func (a *archiver) onAssigned(ctx context.Context, _ *kgo.Client, assigned map[string][]int32) {
	if a.options.Chore == nil || !slices.Contains(assigned[a.env.Names.Fetched], 0) {
		return
	}
	ctx, stop := context.WithCancel(ctx)
	former, ended := a.chore.ended, make(chan struct{})
	a.mu.Lock()
	a.chore = chore{stop, ended}
	a.mu.Unlock()
	go func() {
		defer close(ended)
		<-former
		a.options.Chore(ctx)
	}()
}

// stopChore does not wait for its end.
func (a *archiver) stopChore() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.chore.stop()
}
