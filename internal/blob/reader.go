package blob

import (
	"context"
	"io"
)

// Reader reads an object from its beginning to its end. An error of Get is an error of Read. Close ends
// the reading, and returns when Get has returned.
func Reader(ctx context.Context, bucket Bucket, key string) io.ReadCloser {
	ctx, cancel := context.WithCancel(ctx)
	from, to := io.Pipe()
	r := &reader{PipeReader: from, cancel: cancel, over: make(chan struct{})}
	go func() {
		defer close(r.over)
		to.CloseWithError(bucket.Get(ctx, key, to))
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
