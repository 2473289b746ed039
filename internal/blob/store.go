package blob

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"strings"
	"time"
)

// Bucket holds objects by key. It is safe for concurrent use.
type Bucket interface {
	// Put stores the size bytes of body under key, and replaces a former object. A body of
	// another length is an error and stores nothing.
	Put(ctx context.Context, key string, body io.Reader, size int64) error
	// PutNew is Put for a key that has no object. If it has one, the error is ErrExists, and
	// the object stays as it is. Of several PutNew of one key at the same time, one succeeds.
	PutNew(ctx context.Context, key string, body io.Reader, size int64) error
	// GetRange writes length bytes of the object, from offset on, to w; fewer if the object
	// ends before. It returns the same errors as Get.
	GetRange(ctx context.Context, key string, offset, length int64, w io.Writer) error
	// Get writes the object to w. ErrNotExist means that there is no object, ErrKey that the
	// key is not valid. Another error may come after some bytes were written.
	Get(ctx context.Context, key string, w io.Writer) error
	// GetSlowly is Get with at most rangeBytes of the object in memory, for readers that have
	// many objects open. The next range is read when w has taken the one before. If the object
	// is replaced meanwhile, the error is ErrReplaced, or w gets the former object.
	GetSlowly(ctx context.Context, key string, w io.Writer) error
	// List yields the objects whose keys begin with prefix, in no particular order. It ends
	// with the first error. Objects that are put or deleted meanwhile may be missing.
	List(ctx context.Context, prefix string) iter.Seq2[Object, error]
	// Delete removes the object, if it is there.
	Delete(ctx context.Context, key string) error
	// Sweep removes the remains of Puts whose process died, for keys that begin with prefix
	// and Puts that began before then. Readers do not see them, but they take space. A Put
	// of that time that still runs fails.
	Sweep(ctx context.Context, prefix string, then time.Time) error
	// String is the location without credentials.
	String() string
}

// DeadUploadAge is the age of a Put that no process can still be busy with. Sweep may remove its remains.
const DeadUploadAge = 24 * time.Hour

// Object is one entry of a listing.
type Object struct {
	Key string
	// Size in bytes.
	Size int64
}

// ErrNotExist means that there is no object under a key.
var ErrNotExist = errors.New("no such object")

// ErrExists means that there is an object under a key already.
var ErrExists = errors.New("there is an object of this name")

// ErrReplaced means that an object was replaced while it was read.
var ErrReplaced = errors.New("the object was replaced while it was read")

// ErrKey means that a key is not valid in any bucket.
var ErrKey = errors.New("not a valid key of an object")

// rangeBytes is how much of an object GetSlowly has in memory.
const rangeBytes = 512 << 10

// mostKeyBytes is the limit of S3 for a key with the prefix of the bucket.
const mostKeyBytes = 1024

// checkKey refuses keys that are not valid. A key is a slash path in UTF-8 without empty elements.
// Its elements do not begin with a dot, as the folder's temporary files do.
func checkKey(key string) error {
	if !fs.ValidPath(key) || len(key) > mostKeyBytes || strings.ContainsRune(key, 0) ||
		strings.HasPrefix(key, ".") || strings.Contains(key, "/.") {
		return fmt.Errorf("%.100q is %w", key, ErrKey)
	}
	return nil
}

// Probe tries all operations of a Bucket with a new key, and reports the one that fails.
func Probe(ctx context.Context, b Bucket) error {
	key, text := "probe-"+rand.Text(), []byte("weft was here\n")
	if err := b.Put(ctx, key, bytes.NewReader(text), int64(len(text))); err != nil {
		return err
	}
	var got bytes.Buffer
	err := b.Get(ctx, key, &got)
	if err == nil && !bytes.Equal(got.Bytes(), text) {
		err = fmt.Errorf("%s does not return the object that was put there", b)
	}
	found := false
	for object, listing := range b.List(ctx, key) {
		err = errors.Join(err, listing)
		found = found || object.Key == key
	}
	if err == nil && !found {
		err = fmt.Errorf("%s does not list the object that was put there", b)
	}
	return errors.Join(err, b.Delete(ctx, key))
}

// ProbeNew tries PutNew with a new key, and reports a server that does not keep what is there.
func ProbeNew(ctx context.Context, b Bucket) error {
	key := "probe-" + rand.Text()
	put := func() error { return b.PutNew(ctx, key, strings.NewReader("weft was here\n"), 14) }
	if err := put(); err != nil {
		return err
	}
	err := put()
	switch {
	case errors.Is(err, ErrExists):
		err = nil
	case err == nil:
		err = fmt.Errorf("%s replaces an object although it is told not to (If-None-Match)", b)
	}
	return errors.Join(err, b.Delete(ctx, key))
}

// exactly returns a reader of body that fails unless body holds size bytes.
func exactly(body io.Reader, size int64) io.Reader { return &measured{body: body, left: size} }

type measured struct {
	body io.Reader
	left int64
}

func (m *measured) Read(p []byte) (int, error) {
	n, err := m.body.Read(p)
	m.left -= int64(n)
	switch {
	case m.left < 0:
		return 0, errors.New("the body is longer than its size")
	case err == io.EOF && m.left > 0:
		return n, fmt.Errorf("the body ends %d bytes early: %w", m.left, io.ErrUnexpectedEOF)
	}
	return n, err
}
