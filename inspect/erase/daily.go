package erase

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/weftcrawl/weft/internal/blob"
)

// Daily erases what k does not permit any more, unless the same was done in the day before now. It
// returns false if there was nothing to do.
func Daily(ctx context.Context, archive blob.Bucket, k Keep, now time.Time) (Report, bool, error) {
	if k.shortest() == 0 {
		return Report{}, false, nil
	}
	selection := Older(k, now)
	done, err := doneSince(ctx, archive, selection, now.Add(-24*time.Hour))
	if done || err != nil {
		return Report{}, false, err
	}
	report, err := Run(ctx, Options{Archive: archive, Selection: selection, Now: now})
	return report, true, err
}

// doneSince tells whether the log has an erasure that began after a time, with the same ages.
func doneSince(ctx context.Context, archive blob.Bucket, selection Selection, since time.Time) (bool, error) {
	first := logFolder + nameOf(since)
	names, err := keys(ctx, archive, logFolder, func(key string) bool { return key >= first && key != unfinishedName })
	if err != nil {
		return false, err
	}
	for _, name := range names {
		var text bytes.Buffer
		var done entry
		if err := archive.Get(ctx, name, &text); err != nil {
			return false, err
		}
		if err := json.Unmarshal(text.Bytes(), &done); err != nil {
			return false, fmt.Errorf("read %s: %w", name, err)
		}
		if done.Kind == selection.kind && done.SHA256 == selection.sum() {
			return true, nil
		}
	}
	return false, nil
}

// nameOf is the name of an erasure. Names are in the order of their times.
func nameOf(at time.Time) string { return at.UTC().Format("20060102T150405.000Z") }
