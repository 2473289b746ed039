package erase

import (
	"context"
	"errors"
	"path"
	"time"

	"github.com/weftcrawl/weft/internal/blob"
)

// Expire erases what k does not permit any more, unless that was done in the day before. It returns
// false if there was nothing to do. An erasure by age that was not finished is finished first.
func Expire(ctx context.Context, o Options, k Keep) (Report, bool, error) {
	o.Selection = Older(k, o.Now)
	if left, err := leftBehind(ctx, o.Archive); !left || err != nil {
		if err != nil || k.shortest() == 0 {
			return Report{}, false, err
		}
		if done, err := doneInTheDay(ctx, o); done || err != nil {
			return Report{}, false, err
		}
	}
	report, err := Run(ctx, o)
	return report, true, err
}

// leftBehind tells whether an erasure by age is not finished.
func leftBehind(ctx context.Context, archive blob.Bucket) (bool, error) {
	there, err := readEntry(ctx, archive, unfinishedName)
	if errors.Is(err, blob.ErrNotExist) {
		return false, nil
	}
	return there.Kind == byAge, err
}

// doneInTheDay tells whether the log has an erasure with the same ages that has ended in the day before now.
func doneInTheDay(ctx context.Context, o Options) (bool, error) {
	since := o.Now.Add(-24 * time.Hour)
	names, err := keys(ctx, o.Archive, logFolder, func(key string) bool {
		began, err := time.Parse(nameFormat+".json", path.Base(key))
		return err == nil && began.After(since.AddDate(0, 0, -7)) && !began.After(o.Now) // one may take days
	})
	if err != nil {
		return false, err
	}
	for _, name := range names {
		done, err := readEntry(ctx, o.Archive, name)
		if err != nil {
			return false, err
		}
		if done.Kind == byAge && done.SHA256 == o.Selection.sum() && done.Ended != nil && done.Ended.After(since) {
			return true, nil
		}
	}
	return false, nil
}
