package blob

import (
	"context"
	"io"
)

// Reader reads an object from its beginning to its end. An error of Get is an error of Read. Close ends
// the reading, and returns when Get has returned.
func Reader(ctx context.Context, bucket Bucket, key string) io.ReadCloser {
	return newReader(ctx, key, bucket.Get)
}

// SlowReader is Reader with little memory, for many objects at a time, see GetSlowly.
func SlowReader(ctx context.Context, bucket Bucket, key string) io.ReadCloser {
	return newReader(ctx, key, bucket.GetSlowly)
}

func newReader(ctx context.Context, key string, get func(context.Context, string, io.Writer) error) io.ReadCloser {
	ctx, cancel := context.WithCancel(ctx)
	from, to := io.Pipe()
	r := &reader{PipeReader: from, cancel: cancel, over: make(chan struct{})}
	go func() {
		defer close(r.over)
		to.CloseWithError(get(ctx, key, to))
	}()
	return r
}

type reader struct {
	*io.PipeReader
	cancel context.CancelFunc
	over   chan struct{}
}

// Close implements io.Closer. It never fails.
func (r *reader) Close() error {
	r.cancel()
	_ = r.PipeReader.Close() // it never fails
	<-r.over
	return nil
}
