package blob

import (
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/smithy-go"
)

// conflicts are S3's codes for a request that met another one for the same key. It may be that none
// of the two has put an object. So S3 asks to repeat the upload
// (https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutObject.html, If-None-Match).
var conflicts = []string{"ConditionalRequestConflict", "OperationAborted"}

func isConflict(err error) bool {
	var answered smithy.APIError
	return errors.As(err, &answered) && slices.Contains(conflicts, answered.ErrorCode())
}

// After a conflict PutNew repeats an upload: conflictTries is the number of all uploads. The pause
// before the next one doubles each time.
const (
	conflictTries = 5
	conflictPause = 50 * time.Millisecond
)

// PutNew implements Bucket. The server checks the condition when the object becomes visible. A body
// that cannot go back to its beginning is sent once; then a conflict is an error that is Temporary.
func (b *s3Bucket) PutNew(ctx context.Context, key string, body io.Reader, size int64) error {
	back := rewinder(body)
	for try := 1; ; try++ {
		err := b.putNew(ctx, key, body, size)
		if !isConflict(err) {
			return err
		}
		if try == conflictTries || back() != nil {
			if exists := b.checkNew(ctx, key); exists != nil {
				return exists
			}
			return err
		}
		select {
		case <-ctx.Done():
			return describe("put", key, context.Cause(ctx))
		case <-time.After(conflictPause << (try - 1)):
		}
	}
}

// putNew tries once. The first look saves sending a large body in vain.
func (b *s3Bucket) putNew(ctx context.Context, key string, body io.Reader, size int64) error {
	if err := b.checkNew(ctx, key); err != nil {
		return err
	}
	return b.put(ctx, key, body, size, aws.String("*"))
}

// checkNew returns ErrExists if the key has an object.
func (b *s3Bucket) checkNew(ctx context.Context, key string) error {
	switch err := b.GetRange(ctx, key, 0, 1, io.Discard); {
	case err == nil:
		return describe("put", key, ErrExists)
	case !errors.Is(err, ErrNotExist):
		return err
	}
	return nil
}

// rewinder returns a function that sets a body back to where it is now.
func rewinder(body io.Reader) (back func() error) {
	seeker, ok := body.(io.Seeker)
	if !ok {
		return func() error { return errors.ErrUnsupported }
	}
	start, failed := seeker.Seek(0, io.SeekCurrent)
	return func() error {
		if failed != nil {
			return failed
		}
		_, err := seeker.Seek(start, io.SeekStart)
		return err
	}
}
