package kept

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weftcrawl/weft/internal/blob"
	"github.com/weftcrawl/weft/processors/archive"
	"github.com/weftcrawl/weft/processors/archive/warc"
)

// ErrNone means that the archive has no response of a URL.
var ErrNone = errors.New("the archive has no response of this URL")

// Exchange is a response that is kept.
type Exchange struct {
	URL string
	// Date is when its request began.
	Date   time.Time
	Status int
	// Head is from the status line to the empty line, and Payload the body as it is stored.
	Head, Payload []byte
	// Facts are what the crawl knew of the exchange besides. Foreign: another program wrote the
	// record, or an earlier version, and there are no facts.
	Facts   warc.Facts
	Foreign bool
}

// Find returns the response of a URL that is nearest to a time. The zero time asks for the newest: it
// passes over responses whose body was not kept, as long as there is one with its body. A URL that
// differs only in what indexes leave out, such as www., is taken if there is no response of the exact
// one. Find skips responses that say that nothing has changed (304). The error is ErrEmpty if there is no
// archive.
func Find(ctx context.Context, bucket blob.Bucket, target string, at time.Time) (Exchange, error) {
	found, err := lines(ctx, bucket, target)
	if err != nil {
		return Exchange{}, err
	}
	found = slices.DeleteFunc(found, func(l warc.Line) bool { return l.Status == strconv.Itoa(http.StatusNotModified) })
	exact := slices.DeleteFunc(slices.Clone(found), func(l warc.Line) bool { return l.URL != target })
	if len(exact) > 0 {
		found = exact
	}
	if len(found) == 0 {
		return Exchange{}, fmt.Errorf("%w: %s", ErrNone, target)
	}
	slices.SortStableFunc(found, func(a, b warc.Line) int {
		if at.IsZero() {
			return b.Date.Compare(a.Date)
		}
		return cmp.Compare(at.Sub(a.Date).Abs(), at.Sub(b.Date).Abs())
	})
	x, err := readWithSiblings(ctx, bucket, found[0])
	if err != nil || !at.IsZero() || x.HasBody() {
		return x, err
	}
	for _, line := range found[1:] {
		older, err := readWithSiblings(ctx, bucket, line)
		switch {
		case errors.Is(err, ErrNone), errors.Is(err, ErrNoPayload):
		case err != nil || older.HasBody():
			return older, err
		}
	}
	return x, nil
}

func readWithSiblings(ctx context.Context, bucket blob.Bucket, l warc.Line) (Exchange, error) {
	return read(ctx, bucket, l, func(target string) ([]warc.Line, error) { return siblings(ctx, bucket, l.File, target) })
}

// HasBody tells whether the body is there, or its beginning, or the response had none. A check of a host
// leaves out a body that is too large: then only its head tells that there was one.
func (x Exchange) HasBody() bool {
	if len(x.Payload) > 0 {
		return true
	}
	leftOut := x.Facts.Aside && !bytes.Equal(warc.OriginalHead(x.Head), x.Head)
	return x.Facts.ErrorClass == "" && !x.Facts.Truncated && !leftOut
}

// lines returns the lines of a URL: of the merged index, if there is one, and of the indexes of files
// that are not in it.
func lines(ctx context.Context, bucket blob.Bucket, target string) (found []warc.Line, err error) {
	merged, err := readMerged(ctx, bucket)
	if err != nil {
		return nil, err
	}
	indexes, merged, err := indexesOf(ctx, bucket, merged)
	if err != nil {
		return nil, err
	}
	indexes = slices.DeleteFunc(indexes, func(index blob.Object) bool { return merged.has(index.Key) })
	if len(merged.Of) > 0 {
		indexes = append(indexes, blob.Object{Key: merged.Index, Size: merged.Bytes})
	}
	if len(indexes) == 0 {
		return nil, ErrEmpty
	}
	for _, index := range indexes {
		more, err := linesOf(ctx, bucket, index, target)
		if err != nil {
			return nil, err
		}
		found = append(found, more...)
	}
	return found, nil
}

const (
	// lookBytes is read for each step of a bisection. Lines are shorter: a URL has at most
	// 2,048 bytes.
	lookBytes = 16 << 10
	// restBytes is the length from which on the rest is read at once.
	restBytes = 64 << 10
)

// linesOf returns the lines of a URL in a sorted index. An index of an earlier version has other keys
// for some URLs, and a merged index may have both. So it looks for each key.
func linesOf(ctx context.Context, bucket blob.Bucket, index blob.Object, target string) (found []warc.Line, err error) {
	for _, key := range warc.Keys(target) {
		more, err := linesAt(ctx, bucket, index, key)
		if err != nil {
			return nil, err
		}
		found = append(found, more...)
	}
	return found, nil
}

// linesAt returns the lines of a key in a sorted index.
func linesAt(ctx context.Context, bucket blob.Bucket, index blob.Object, surt string) ([]warc.Line, error) {
	key := []byte(surt + " ")
	low, high := int64(0), index.Size // the first line of the URL begins between them, or at low
	for high-low > restBytes {
		middle := low + (high-low)/2
		var some bytes.Buffer
		if err := bucket.GetRange(ctx, index.Key, middle, lookBytes, &some); err != nil {
			return nil, err
		}
		_, line, ok := bytes.Cut(some.Bytes(), []byte("\n"))
		if !ok {
			return nil, fmt.Errorf("%s has a line of more than %d bytes", index.Key, lookBytes)
		}
		if begin := middle + int64(some.Len()-len(line)); bytes.Compare(line, key) < 0 {
			low = begin
		} else {
			high = begin
		}
	}
	var text bytes.Buffer
	for next := low; ; next += restBytes {
		before := text.Len()
		if err := bucket.GetRange(ctx, index.Key, next, restBytes, &text); err != nil {
			return nil, err
		}
		// The last line that is there whole tells whether others of the URL may follow.
		whole := text.Bytes()[:bytes.LastIndexByte(text.Bytes(), '\n')+1]
		last := whole[bytes.LastIndexByte(bytes.TrimSuffix(whole, []byte("\n")), '\n')+1:]
		if text.Len()-before < restBytes || bytes.Compare(last, key) > 0 && !bytes.HasPrefix(last, key) {
			return warc.Lines(whole, surt), nil
		}
	}
}

// siblings returns the lines of a URL in the index of a file.
func siblings(ctx context.Context, bucket blob.Bucket, file, target string) (found []warc.Line, err error) {
	for object, err := range bucket.List(ctx, archive.Stem(file)+".") {
		if err != nil {
			return nil, err
		}
		if strings.HasSuffix(object.Key, archive.IndexExtension) {
			lines, err := linesOf(ctx, bucket, object, target)
			if err != nil {
				return nil, err
			}
			found = append(found, lines...)
		}
	}
	return found, nil
}

// read reads the response of a line. beside returns the lines of a URL in the same file.
func read(ctx context.Context, bucket blob.Bucket, l warc.Line, beside func(target string) ([]warc.Line, error)) (Exchange, error) {
	record, err := member(ctx, bucket, l)
	if err != nil {
		return Exchange{}, err
	}
	if record.Erasure() != "" { // the index is older than that
		return Exchange{}, fmt.Errorf("%w any more: it was erased", ErrNone)
	}
	x := Exchange{URL: record.Field("WARC-Target-URI"), Date: l.Date}
	if date, err := record.Date(); err == nil {
		x.Date = date
	}
	facts, own := record.Facts()
	x.Facts, x.Foreign = facts, !own
	x.Head, x.Payload = message(record, own)
	x.Status, _ = strconv.Atoi(l.Status)
	if record.Field("WARC-Type") != "revisit" || x.Status == http.StatusNotModified {
		return x, nil
	}
	first, err := original(ctx, bucket, l, record, beside)
	if err != nil {
		return Exchange{}, err
	}
	_, x.Payload = message(first, own)
	return x, nil
}

// ErrNoPayload means that a record refers to a payload that is not in its file.
var ErrNoPayload = errors.New("its payload is not there")

// original returns the record that a revisit refers to.
func original(ctx context.Context, bucket blob.Bucket, l warc.Line, revisit warc.Record, beside func(target string) ([]warc.Line, error)) (warc.Record, error) {
	lines, err := beside(revisit.Field("WARC-Refers-To-Target-URI"))
	if err != nil {
		return warc.Record{}, err
	}
	for _, line := range lines {
		record, err := member(ctx, bucket, line)
		if err != nil || record.Field("WARC-Record-ID") == revisit.Field("WARC-Refers-To") {
			return record, err
		}
	}
	return warc.Record{}, fmt.Errorf("%s at %d: %w: %s", l.File, l.Offset, ErrNoPayload, revisit.Field("WARC-Refers-To"))
}

func member(ctx context.Context, bucket blob.Bucket, l warc.Line) (warc.Record, error) {
	var text bytes.Buffer
	if err := bucket.GetRange(ctx, l.File, l.Offset, l.Length, &text); err != nil {
		return warc.Record{}, err
	}
	record, err := warc.ReadMember(text.Bytes())
	if err != nil {
		return warc.Record{}, fmt.Errorf("%s at %d: %w", l.File, l.Offset, err)
	}
	return record, nil
}
