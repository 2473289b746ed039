package kept

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/weftcrawl/weft/inspect/scratch"
	"github.com/weftcrawl/weft/internal/blob"
	"github.com/weftcrawl/weft/processors/archive"
	"github.com/weftcrawl/weft/processors/archive/warc"
)

// Merged describes the merged index of an archive. The object mergedName has it as JSON. The zero
// value: there is no merged index.
type Merged struct {
	// Index is the key of the merged index, and Bytes and Lines are its size.
	Index string `json:"index"`
	Bytes int64  `json:"bytes"`
	Lines int64  `json:"lines"`
	// Of has the keys of the indexes that are in it, sorted.
	Of []string `json:"of"`
	// Former is the key of the merged index before. It stays until the next one is made, because
	// others may be reading it.
	Former string `json:"former,omitempty"`
}

// has tells whether the index of a file is in the merged one.
func (m Merged) has(index string) bool {
	_, in := slices.BinarySearch(m.Of, index)
	return in
}

const (
	// mergedFolder has what is made of the indexes of all files.
	mergedFolder = "index/"
	mergedName   = mergedFolder + "merged.json"
)

// IsIndex tells whether an object is the index of one file, which may be a draft.
func IsIndex(key string) bool {
	return strings.HasSuffix(key, archive.IndexExtension) && !strings.HasPrefix(key, mergedFolder)
}

// IsMerged tells whether an object is a merged index, which may not be in force.
func IsMerged(key string) bool {
	return strings.HasSuffix(key, archive.IndexExtension) && strings.HasPrefix(key, mergedFolder)
}

// HasMerged tells whether a merged index is in force.
func HasMerged(ctx context.Context, bucket blob.Bucket) (bool, error) {
	m, err := readMerged(ctx, bucket)
	return m.Index != "", err
}

// Forget deletes the merged index, and former ones. Until the next one is made, Find asks the indexes of
// the files.
func Forget(ctx context.Context, bucket blob.Bucket) error {
	if err := bucket.Delete(ctx, mergedName); err != nil {
		return err
	}
	for object, err := range bucket.List(ctx, mergedFolder) {
		if err == nil && IsMerged(object.Key) {
			err = bucket.Delete(ctx, object.Key)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func readMerged(ctx context.Context, bucket blob.Bucket) (m Merged, err error) {
	var text bytes.Buffer
	err = bucket.Get(ctx, mergedName, &text)
	if errors.Is(err, blob.ErrNotExist) {
		return Merged{}, nil
	}
	if err == nil {
		err = json.Unmarshal(text.Bytes(), &m)
	}
	if err != nil {
		return Merged{}, fmt.Errorf("read %s: %w", mergedName, err)
	}
	return m, nil
}

// Merge makes the merged index of an archive, and returns it with the number of indexes that are new
// in it. If no index is new, it changes nothing.
//
// The merged index is an object that is never changed. mergedName names it, and is replaced when the
// object is there. So readers see the former merged index or the new one. Two processes may merge at
// the same time: the index of one of them is in force.
func Merge(ctx context.Context, bucket blob.Bucket) (m Merged, fresh int, err error) {
	former, err := readMerged(ctx, bucket)
	if err != nil {
		return Merged{}, 0, err
	}
	all, former, err := indexesOf(ctx, bucket, former)
	if err != nil {
		return Merged{}, 0, err
	}
	indexes := keysOf(all)
	inputs := make([]input, 0, len(indexes)+1)
	for _, key := range indexes {
		if !former.has(key) {
			inputs = append(inputs, object{bucket, key})
		}
	}
	if fresh = len(inputs); fresh == 0 {
		return former, 0, nil
	}
	if len(former.Of) > 0 {
		inputs = append(inputs, object{bucket, former.Index})
	}
	file, err := scratch.File()
	if err != nil {
		return Merged{}, 0, err
	}
	defer file.Close()
	m = Merged{Index: nameOf(indexes), Of: indexes, Former: former.Index}
	if m.Lines, m.Bytes, err = merge(ctx, file, inputs); err != nil {
		return Merged{}, 0, err
	}
	return m, fresh, m.publish(ctx, bucket, file, former.Former)
}

// publish puts the merged index, and then its name in force. It deletes the one that nobody reads.
func (m Merged) publish(ctx context.Context, bucket blob.Bucket, file *os.File, unused string) error {
	if err := bucket.Put(ctx, m.Index, io.NewSectionReader(file, 0, m.Bytes), m.Bytes); err != nil {
		return err
	}
	text, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("describe the merged index: %w", err)
	}
	if err := bucket.Put(ctx, mergedName, bytes.NewReader(text), int64(len(text))); err != nil {
		return err
	}
	if unused == "" || unused == m.Index || unused == m.Former {
		return nil
	}
	return bucket.Delete(ctx, unused)
}

// nameOf is the name of the merged index of some indexes.
func nameOf(indexes []string) string {
	sum := sha256.Sum256([]byte(strings.Join(indexes, "\n")))
	return fmt.Sprintf("%s%x%s", mergedFolder, sum[:8], archive.IndexExtension)
}

// Indexes returns the keys of the indexes of all files that are there, sorted.
func Indexes(ctx context.Context, bucket blob.Bucket) ([]string, error) {
	all, _, err := indexesOf(ctx, bucket, Merged{})
	return keysOf(all), err
}

func keysOf(objects []blob.Object) []string {
	keys := make([]string, len(objects))
	for i, object := range objects {
		keys[i] = object.Key
	}
	return keys
}

// indexesOf lists the indexes of all files that are there, sorted by their keys. It returns the
// former merged index as far as it can be used: not if an index of it is gone, or it is gone itself.
func indexesOf(ctx context.Context, bucket blob.Bucket, former Merged) ([]blob.Object, Merged, error) {
	files, indexes, there := map[string]string{}, map[string][]blob.Object{}, former.Index == ""
	for object, err := range bucket.List(ctx, "") {
		switch {
		case err != nil:
			return nil, Merged{}, err
		case archive.IsFile(object.Key):
			files[archive.Stem(object.Key)] = object.Key
		case IsIndex(object.Key):
			stem := archive.Stem(object.Key)
			indexes[stem] = append(indexes[stem], object)
		case object.Key == former.Index && object.Size == former.Bytes:
			there = true
		}
	}
	var all []blob.Object
	for stem, some := range indexes {
		file, published := files[stem]
		if !published {
			continue // its file comes later
		}
		if len(some) == 1 {
			all = append(all, some[0])
			continue
		}
		// The others are of drafts that did not become the file.
		var begin bytes.Buffer
		if err := bucket.GetRange(ctx, file, 0, warc.HeadBytes, &begin); err != nil {
			return nil, Merged{}, err
		}
		if head, ok := warc.ReadHead(begin.Bytes()); ok {
			all = append(all, slices.DeleteFunc(some, func(o blob.Object) bool { return o.Key != archive.IndexName(head) })...)
		}
	}
	byKey := func(o blob.Object, key string) int { return strings.Compare(o.Key, key) }
	slices.SortFunc(all, func(a, b blob.Object) int { return byKey(a, b.Key) })
	gone := func(key string) bool {
		_, found := slices.BinarySearchFunc(all, key, byKey)
		return !found
	}
	if !there || slices.ContainsFunc(former.Of, gone) {
		former.Of = nil
	}
	return all, former, nil
}
