package bodies

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/blob"
)

// ErrMissing means that a record refers to an object that does not exist.
var ErrMissing = errors.New("the body is not in the store")

// ErrDamaged means that an object differs from its record's reference.
var ErrDamaged = errors.New("the body in the store has changed")

// Numbers of the fields of weftpb.Fetched.
const (
	bodyField   = 8
	storedField = 11
	codedField  = 16
)

// Reference returns the reference to the body of a record of fetched, without decoding the
// rest of the record; nil if the record has no reference.
func Reference(value []byte) *weftpb.BodyReference {
	var ref *weftpb.BodyReference
	for len(value) > 0 {
		field, kind, n := protowire.ConsumeTag(value)
		if n < 0 {
			return nil
		}
		value = value[n:]
		if n = protowire.ConsumeFieldValue(field, kind, value); n < 0 {
			return nil
		}
		if field == storedField && kind == protowire.BytesType {
			text, _ := protowire.ConsumeBytes(value)
			if ref == nil {
				ref = new(weftpb.BodyReference)
			}
			// A field that occurs twice is merged.
			if (proto.UnmarshalOptions{Merge: true}).Unmarshal(text, ref) != nil {
				return nil
			}
		}
		value = value[n:]
	}
	return ref
}

// Load returns a record of fetched with its body: a copy with the body from the store, or value
// itself if its body is not in the store. The error is ErrMissing, ErrDamaged, or the error of
// ctx.
func (s *Store) Load(ctx context.Context, value []byte) ([]byte, error) {
	ref := Reference(value)
	if ref == nil {
		return value, nil
	}
	return s.load(ctx, value, bodyField, object{ref.Key, ref.Size, ref.Sha256})
}

// LoadCoded is Load for the body with its content codings: the result has the coded body. If the
// store has no coded body, LoadCoded returns value itself.
func (s *Store) LoadCoded(ctx context.Context, value []byte) ([]byte, error) {
	ref := Reference(value)
	if ref.GetCodedSize() == 0 {
		return value, nil
	}
	return s.load(ctx, value, codedField, object{ref.Key + codedSuffix, ref.CodedSize, ref.CodedSha256})
}

// object is what a reference says of an object.
type object struct {
	key    string
	size   int64
	sha256 []byte
}

// load appends an object to an encoded message as a field, which sets the field.
func (s *Store) load(ctx context.Context, value []byte, field protowire.Number, o object) ([]byte, error) {
	if o.size < 0 || o.size > math.MaxInt32 {
		return nil, fmt.Errorf("%w: %s has %d bytes", ErrDamaged, o.key, o.size)
	}
	whole := make([]byte, 0, len(value)+2*protowire.SizeVarint(math.MaxInt32)+int(min(o.size, atOnceBytes)))
	whole = append(whole, value...)
	whole = protowire.AppendTag(whole, field, protowire.BytesType)
	whole = protowire.AppendVarint(whole, uint64(o.size))
	head := len(whole)
	failures := 0
	err := s.persist(ctx, func(ctx context.Context) (err error) {
		whole, err = s.read(ctx, o, whole[:head])
		if err == nil || errors.Is(err, ErrMissing) || errors.Is(err, ErrDamaged) {
			return err
		}
		if failures++; failures >= patience && s.lists(ctx, o.key) {
			return fmt.Errorf("%w: %w", ErrDamaged, err)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return whole, nil
}

const (
	// atOnceBytes is the memory that is allocated before the body comes. The size in a
	// record may be wrong.
	atOnceBytes = 32 << 20
	// readings of a damaged object: the damage may be on the network.
	readings = 3
	// patience is the number of failed attempts, over more than a minute, after which an
	// object counts as damaged if the store works otherwise.
	patience = 12
)

// read appends an object to buf.
func (s *Store) read(ctx context.Context, o object, buf []byte) ([]byte, error) {
	head, size := len(buf), len(buf)+int(o.size)
	for range readings {
		body := &exactly{buf: buf[:head], size: size}
		err := s.bucket.Get(ctx, o.key, body)
		buf = body.buf // as large as it has become
		switch sum := sha256.Sum256(buf[head:]); {
		case errors.Is(err, blob.ErrNotExist) || errors.Is(err, blob.ErrKey):
			return buf, fmt.Errorf("%w: %s", ErrMissing, o.key)
		case err != nil && !body.over:
			return buf, err
		case !body.over && len(buf) == size && bytes.Equal(sum[:], o.sha256):
			return buf, nil
		}
	}
	return buf, fmt.Errorf("%w: %s", ErrDamaged, o.key)
}

func (s *Store) lists(ctx context.Context, key string) bool {
	for listed, err := range s.bucket.List(ctx, key) {
		if err != nil {
			return false
		}
		if listed.Key == key {
			return true
		}
	}
	return false
}

// exactly collects size bytes and refuses more.
type exactly struct {
	buf  []byte
	size int
	over bool
}

var errLonger = errors.New("longer than its record says")

// Write implements io.Writer.
func (e *exactly) Write(p []byte) (int, error) {
	if len(e.buf)+len(p) > e.size {
		e.over = true
		return 0, errLonger
	}
	e.buf = append(e.buf, p...)
	return len(p), nil
}
