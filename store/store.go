package store

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
	// Put stores the size bytes of body under key, in place of what is there.
	// A body of another length is an error and stores nothing.
	Put(ctx context.Context, key string, body io.Reader, size int64) error
	// Get writes the object to w. ErrNotExist means that there is none, ErrKey
	// that there cannot be; any other error may come after some bytes were
	// written.
	Get(ctx context.Context, key string, w io.Writer) error
	// List yields the objects whose keys begin with prefix, in no particular
	// order, and ends with the first error. What is put or deleted meanwhile
	// may be missing.
	List(ctx context.Context, prefix string) iter.Seq2[Object, error]
	// Delete removes the object, if it is there.
	Delete(ctx context.Context, key string) error
	// Sweep removes what Puts of keys that begin with prefix left behind when
	// their process died, if they began before then: no reader sees it, but it
	// takes space. A Put that is still at work fails.
	Sweep(ctx context.Context, prefix string, then time.Time) error
	// String is the place in words, without credentials.
	String() string
}

// Object is one entry of a listing.
type Object struct {
	Key string
	// Size in bytes.
	Size int64
}

// ErrNotExist means that there is no object under a key.
var ErrNotExist = errors.New("no such object")

// ErrKey means that a key can be no object's, whatever the place.
var ErrKey = errors.New("no key of an object")

// mostKeyBytes is what S3 permits, with the prefix of the bucket.
const mostKeyBytes = 1024

// checkKey refuses what is no key: slash paths in UTF-8 without empty elements,
// whose elements do not begin with a dot. Those are the folder's temporary files.
func checkKey(key string) error {
	if !fs.ValidPath(key) || len(key) > mostKeyBytes || strings.ContainsRune(key, 0) ||
		strings.HasPrefix(key, ".") || strings.Contains(key, "/.") {
		return fmt.Errorf("%.100q is %w", key, ErrKey)
	}
	return nil
}

// Probe tries everything that a Bucket is for, under a key of its own, and
// says what cannot be done.
func Probe(ctx context.Context, b Bucket) error {
	key, text := "probe-"+rand.Text(), []byte("weft was here\n")
	if err := b.Put(ctx, key, bytes.NewReader(text), int64(len(text))); err != nil {
		return err
	}
	var got bytes.Buffer
	err := b.Get(ctx, key, &got)
	if err == nil && !bytes.Equal(got.Bytes(), text) {
		err = fmt.Errorf("%s does not return what was put there", b)
	}
	found := false
	for object, listing := range b.List(ctx, key) {
		err = errors.Join(err, listing)
		found = found || object.Key == key
	}
	if err == nil && !found {
		err = fmt.Errorf("%s does not list what was put there", b)
	}
	return errors.Join(err, b.Delete(ctx, key))
}

// exactly returns a reader of body that fails unless body holds size bytes.
func exactly(body io.Reader, size int64) io.Reader { return &measured{body: body, left: size} }

type measured struct {
	body io.Reader
	left int64
}

// Read implements io.Reader.
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
