package broker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/twmb/franz-go/pkg/kfake"
)

// logger hands what kfake says to slog. kfake reports a failure to save its
// state at the end only here, so while it is watched it also keeps errors.
type logger struct {
	log *slog.Logger

	mu       sync.Mutex
	watching bool
	errs     []error
}

// Logf implements kfake.Logger. Only warnings and errors matter: below that
// kfake speaks of each request.
func (l *logger) Logf(level kfake.LogLevel, format string, args ...any) {
	if level > kfake.LogLevelWarn {
		return
	}
	said := fmt.Sprintf(format, args...)
	at := slog.LevelWarn
	if level == kfake.LogLevelError {
		at = slog.LevelError
	}
	l.mu.Lock()
	if l.watching && level == kfake.LogLevelError {
		l.errs = append(l.errs, errors.New(said))
	}
	l.mu.Unlock()
	l.log.Log(context.Background(), at, "embedded broker", "said", said)
}

func (l *logger) watch() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.watching = true
}

func (l *logger) watched() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := errors.Join(l.errs...); err != nil {
		return fmt.Errorf("save the broker's state: %w", err)
	}
	return nil
}
