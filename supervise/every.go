package supervise

import (
	"context"
	"time"
)

// Every calls do each period, the first time after one, until it fails or ctx
// ends, which is no error, whatever do makes of it.
func Every(ctx context.Context, period time.Duration, do func() error) error {
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		err := do()
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
