package blob

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/feature/s3/transfermanager"
	"github.com/aws/aws-sdk-go-v2/feature/s3/transfermanager/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"
)

// s3Bucket is a Bucket of Amazon S3, or of a server with its protocol.
type s3Bucket struct {
	bucket, prefix string
	client         *s3.Client
	transfer       *transfermanager.Client
}

// fallbackRegion signs requests if no region is given. Servers other than Amazon's accept any
// region.
const fallbackRegion = "us-east-1"

func newS3(ctx context.Context, o options) (*s3Bucket, error) {
	var load []func(*config.LoadOptions) error
	if o.region != "" {
		load = append(load, config.WithRegion(o.region))
	}
	cfg, err := config.LoadDefaultConfig(ctx, load...)
	if err != nil {
		return nil, fmt.Errorf("configure S3: %w", err)
	}
	if cfg.Region == "" {
		cfg.Region = fallbackRegion
	}
	checksums := aws.RequestChecksumCalculationWhenSupported
	if o.endpoint != "" {
		// Amazon's trailing checksums are unknown to many other servers.
		checksums = aws.RequestChecksumCalculationWhenRequired
	}
	client := s3.NewFromConfig(cfg, func(s *s3.Options) {
		s.UsePathStyle = o.pathStyle
		s.RequestChecksumCalculation = checksums
		s.DisableLogOutputChecksumValidationSkipped = true
		if o.endpoint != "" {
			s.BaseEndpoint = aws.String(o.endpoint)
		}
	})
	transfer := transfermanager.New(client, func(t *transfermanager.Options) {
		t.RequestChecksumCalculation = checksums
		// Parts are buffered in memory; transfers are background work.
		t.Concurrency, t.PartSizeBytes, t.GetObjectBufferSize = 2, partBytes, 3*partBytes
		t.GetObjectType = types.GetObjectRanges // objects of one part, too
	})
	return &s3Bucket{bucket: o.bucket, prefix: o.prefix, client: client, transfer: transfer}, nil
}

const partBytes = 8 << 20

// String implements Bucket.
func (b *s3Bucket) String() string { return "s3://" + b.bucket + "/" + b.prefix }

// Put implements Bucket. A large object is sent in parts, which become visible
// together.
func (b *s3Bucket) Put(ctx context.Context, key string, body io.Reader, size int64) error {
	return b.put(ctx, key, body, size, nil)
}

func (b *s3Bucket) put(ctx context.Context, key string, body io.Reader, size int64, unless *string) error {
	err := checkKey(b.prefix + key)
	if err == nil {
		_, err = b.transfer.UploadObject(ctx, &transfermanager.UploadObjectInput{
			Bucket: &b.bucket, Key: b.key(key), Body: exactly(body, size), ContentLength: &size, IfNoneMatch: unless,
		})
	}
	return describe("put", key, err)
}

// GetRange implements Bucket.
func (b *s3Bucket) GetRange(ctx context.Context, key string, offset, length int64, w io.Writer) error {
	if length <= 0 {
		return describe("get", key, checkKey(b.prefix+key))
	}
	_, err := b.getRange(ctx, key, offset, length, w)
	return describe("get", key, err)
}

// version identifies what is under a key. Zero: the object ends before a range.
type version struct {
	etag string
	size int64
}

// getRange writes a range to w, and returns the version of the object.
func (b *s3Bucket) getRange(ctx context.Context, key string, offset, length int64, w io.Writer) (version, error) {
	if err := checkKey(b.prefix + key); err != nil {
		return version{}, err
	}
	part := fmt.Sprintf("bytes=%d-%d", offset, offset+length-1)
	got, err := b.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &b.bucket, Key: b.key(key), Range: &part})
	if beyond := smithy.APIError(nil); errors.As(err, &beyond) && beyond.ErrorCode() == "InvalidRange" {
		return version{}, nil
	}
	if err != nil {
		return version{}, err
	}
	_, err = io.Copy(w, got.Body)
	return version{aws.ToString(got.ETag), sizeOf(got)}, errors.Join(err, got.Body.Close())
}

// sizeOf is the size of the object of which got has a range.
func sizeOf(got *s3.GetObjectOutput) int64 {
	_, total, _ := strings.Cut(aws.ToString(got.ContentRange), "/")
	if size, err := strconv.ParseInt(total, 10, 64); err == nil {
		return size
	}
	return aws.ToInt64(got.ContentLength) // the server sends the whole object
}

// Get implements Bucket. Parts of a large object are read ahead, and all of
// them must be of one version of it.
func (b *s3Bucket) Get(ctx context.Context, key string, w io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends the reading ahead
	err := checkKey(b.prefix + key)
	if err != nil {
		return describe("get", key, err)
	}
	got, err := b.transfer.GetObject(ctx, &transfermanager.GetObjectInput{Bucket: &b.bucket, Key: b.key(key)})
	if err != nil {
		return describe("get", key, err)
	}
	_, err = io.Copy(w, got.Body)
	if closer, ok := got.Body.(io.Closer); ok {
		err = errors.Join(err, closer.Close())
	}
	return describe("get", key, err)
}

// GetSlowly implements Bucket. Get would have up to 40 MB of an object in memory.
func (b *s3Bucket) GetSlowly(ctx context.Context, key string, w io.Writer) error {
	return describe("get", key, b.getSlowly(ctx, key, w))
}

func (b *s3Bucket) getSlowly(ctx context.Context, key string, w io.Writer) error {
	var part bytes.Buffer
	part.Grow(rangeBytes + bytes.MinRead)
	var first version
	for offset := int64(0); ; {
		part.Reset()
		now, err := b.getRange(ctx, key, offset, rangeBytes, &part)
		switch {
		case err != nil:
			return err
		case offset == 0:
			first = now
		case now != first:
			return ErrReplaced
		}
		n, err := part.WriteTo(w)
		switch offset += n; {
		case err != nil || offset >= first.size:
			return err
		case n == 0:
			return io.ErrUnexpectedEOF
		}
	}
}

// List implements Bucket.
func (b *s3Bucket) List(ctx context.Context, prefix string) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		pages := s3.NewListObjectsV2Paginator(b.client, &s3.ListObjectsV2Input{Bucket: &b.bucket, Prefix: b.key(prefix)})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				yield(Object{}, describe("list", prefix, err))
				return
			}
			for _, o := range page.Contents {
				key := strings.TrimPrefix(aws.ToString(o.Key), b.prefix)
				if !yield(Object{Key: key, Size: aws.ToInt64(o.Size)}, nil) {
					return
				}
			}
		}
	}
}

// Delete implements Bucket.
func (b *s3Bucket) Delete(ctx context.Context, key string) error {
	err := checkKey(b.prefix + key)
	if err == nil {
		_, err = b.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &b.bucket, Key: b.key(key)})
	}
	if err = describe("delete", key, err); errors.Is(err, ErrNotExist) {
		return nil
	}
	return err
}

// Sweep implements Bucket: it aborts uploads that were not completed. An upload that is not listed
// has no parts.
func (b *s3Bucket) Sweep(ctx context.Context, prefix string, then time.Time) error {
	pages := s3.NewListMultipartUploadsPaginator(b.client, &s3.ListMultipartUploadsInput{Bucket: &b.bucket, Prefix: b.key(prefix)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return describe("sweep", prefix, err)
		}
		for _, upload := range page.Uploads {
			if !aws.ToTime(upload.Initiated).Before(then) {
				continue
			}
			_, err := b.client.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{Bucket: &b.bucket, Key: upload.Key, UploadId: upload.UploadId})
			if err = describe("sweep", prefix, err); err != nil && !errors.Is(err, ErrNotExist) {
				return err
			}
		}
	}
	return nil
}

func (b *s3Bucket) key(key string) *string { return aws.String(b.prefix + key) }

// absences are S3's codes for objects that do not exist.
var absences = []string{"NoSuchKey", "NotFound", "NoSuchUpload"}

// describe names the operation and the cause, without the SDK's layers of operations, request ids
// and attempts.
func describe(op, key string, err error) error {
	if err == nil {
		return nil
	}
	var answered smithy.APIError
	var network *net.OpError
	switch {
	case errors.As(err, &answered) && slices.Contains(absences, answered.ErrorCode()):
		err = ErrNotExist
	case errors.As(err, &answered) && answered.ErrorCode() == "PreconditionFailed":
		if err = ErrExists; op == "get" {
			err = ErrReplaced
		}
	case errors.As(err, &answered):
		err = &brief{answered.ErrorCode() + ": " + answered.ErrorMessage(), err}
	case errors.As(err, &network):
		err = network
	}
	return fmt.Errorf("%s %s: %w", op, key, err)
}

// brief is an error with a shorter text.
type brief struct {
	text string
	err  error
}

func (b *brief) Error() string { return b.text }
func (b *brief) Unwrap() error { return b.err }
