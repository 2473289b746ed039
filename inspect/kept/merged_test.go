package kept

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/blob"
	"github.com/weftcrawl/weft/processors/archive/warc"
	"github.com/weftcrawl/weft/test/archived"
)

// merged merges, and returns the lines of the merged index.
func mergedLines(t *testing.T, b blob.Bucket) (m Merged, fresh int, lines []string) {
	t.Helper()
	m, fresh, err := Merge(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	text := get(t, b, m.Index)
	lines = slices.Collect(strings.Lines(text))
	if int64(len(lines)) != m.Lines || int64(len(text)) != m.Bytes {
		t.Errorf("%d lines and %d bytes: %+v", len(lines), len(text), m)
	}
	return m, fresh, lines
}

func get(t *testing.T, b blob.Bucket, key string) string {
	t.Helper()
	var text bytes.Buffer
	if err := b.Get(t.Context(), key, &text); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// ownLines are the lines of the indexes of all files, sorted.
func ownLines(t *testing.T, b blob.Bucket) (lines []string) {
	t.Helper()
	for _, key := range keys(t, b) {
		if IsIndex(key) {
			lines = slices.AppendSeq(lines, strings.Lines(get(t, b, key)))
		}
	}
	slices.Sort(lines)
	return lines
}

func keys(t *testing.T, b blob.Bucket) (all []string) {
	t.Helper()
	for o, err := range b.List(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, o.Key)
	}
	return all
}

// putSome puts a file with some pages of a small site into an archive.
func putSome(t *testing.T, b blob.Bucket, file int, random *rand.Rand) {
	t.Helper()
	var all []*weftpb.Fetched
	for n := range 1 + random.IntN(20) {
		url := fmt.Sprintf("http://%c.example/%d", 'a'+random.IntN(5), random.IntN(50))
		all = append(all, archived.Exchange(url, fmt.Sprint("page ", file, n), began.Add(day)))
	}
	archived.Put(t, b, warc.Gzip, fmt.Sprintf("c-00000-%03d", file), nil, all...)
}

// The merged index has the lines of all indexes, and grows with the archive. Files that were not merged
// are found besides.
func TestMerge(t *testing.T) {
	b := archived.Folder(t)
	random := rand.New(rand.NewPCG(1, 2))
	if m, fresh, err := Merge(t.Context(), b); err != nil || fresh != 0 || m.Index != "" {
		t.Errorf("an empty archive: %+v, %d, %v", m, fresh, err)
	}
	for file := range 3 * fanIn { // more than are open at a time
		putSome(t, b, file, random)
	}
	m, fresh, lines := mergedLines(t, b)
	if diff := cmp.Diff(ownLines(t, b), lines); diff != "" || fresh != 3*fanIn || len(m.Of) != fresh {
		t.Errorf("%d new, of %d: %s", fresh, len(m.Of), diff)
	}
	if again, fresh, err := Merge(t.Context(), b); err != nil || fresh != 0 || again.Index != m.Index {
		t.Errorf("nothing is new: %+v, %d, %v", again, fresh, err)
	}
	var former Merged
	for file := 500; file < 503; file++ {
		former = m
		archived.Put(t, b, warc.Gzip, fmt.Sprintf("c-00000-%03d", file), nil, archived.Exchange(fmt.Sprint("http://new.example/", file), "new", began))
		if x, err := Find(t.Context(), b, fmt.Sprint("http://new.example/", file), began); err != nil || string(x.Payload) != "new" {
			t.Errorf("file %d is not merged yet: %+v, %v", file, x, err)
		}
		if m, fresh, lines = mergedLines(t, b); fresh != 1 || m.Former != former.Index || !slices.Equal(lines, ownLines(t, b)) {
			t.Errorf("file %d: %d new, %d lines", file, fresh, len(lines))
		}
	}
	var merged []string
	for _, key := range keys(t, b) {
		if strings.HasPrefix(key, mergedFolder) && key != mergedName {
			merged = append(merged, key)
		}
	}
	if slices.Sort(merged); !slices.Equal(merged, slices.Sorted(slices.Values([]string{m.Index, former.Index}))) {
		t.Errorf("%q stay", merged)
	}

	// A file that is gone is in the merged index no more.
	for _, key := range keys(t, b) {
		if strings.HasPrefix(key, "c-00000-501.") {
			if err := b.Delete(t.Context(), key); err != nil {
				t.Fatal(err)
			}
		}
	}
	archived.Put(t, b, warc.Gzip, "c-00000-900", nil, archived.Exchange("http://new.example/900", "new", began))
	if _, _, lines := mergedLines(t, b); !slices.Equal(lines, ownLines(t, b)) {
		t.Error("the lines of a file that is gone are still there")
	}
}

// hasty is a bucket that does not give indexes to readers with much memory.
type hasty struct{ blob.Bucket }

func (h hasty) Get(ctx context.Context, key string, w io.Writer) error {
	if IsIndex(key) || IsMerged(key) {
		return errors.New("this takes too much memory")
	}
	return h.Bucket.Get(ctx, key, w)
}

// Merging has many indexes open, so that each of them may take little memory only.
func TestMergeReadsSlowly(t *testing.T) {
	b := archived.Folder(t)
	random := rand.New(rand.NewPCG(1, 2))
	for file := range 3 {
		putSome(t, b, file, random)
		if _, fresh, err := Merge(t.Context(), hasty{b}); err != nil || fresh != 1 {
			t.Errorf("%d new, %v", fresh, err)
		}
	}
}

// What get finds, it finds in the merged index alone.
func TestFindInMergedIndex(t *testing.T) {
	b := archived.Folder(t)
	for n := range 9 {
		archived.Put(t, b, warc.Gzip, fmt.Sprintf("c-00000-%03d", n), nil,
			archived.Exchange(fmt.Sprint("http://a.example/", n), fmt.Sprint("page ", n), began), archived.Exchange(fmt.Sprint("http://a.example/copy", n), fmt.Sprint("page ", n), began))
	}
	m, _, _ := mergedLines(t, b)
	for _, key := range m.Of[5:] { // they are not read: what a damaged one says does not count
		archived.PutText(t, b, key, strings.Repeat("x", 100<<10))
	}
	for n := range 9 {
		if x, err := Find(t.Context(), b, fmt.Sprint("http://a.example/", n), began); err != nil || string(x.Payload) != fmt.Sprint("page ", n) {
			t.Errorf("page %d: %+v, %v", n, x, err)
		}
	}
	// The merged index is lost: the others are enough.
	if err := b.Delete(t.Context(), m.Index); err != nil {
		t.Fatal(err)
	}
	if x, err := Find(t.Context(), b, "http://a.example/2", began); err == nil || !strings.Contains(err.Error(), "has a line of more than") {
		t.Errorf("the indexes of the files are not read: %+v, %v", x, err)
	}
}

// The index of a draft that did not become the file is left out, and so is an index whose file is not
// published. An index that is not sorted is refused.
func TestMergeTakesOnlyWhatIsThere(t *testing.T) {
	b := archived.Folder(t)
	archived.Put(t, b, warc.Gzip, "c-00000-1", nil, archived.Exchange("http://a.example/", "a", began))
	of := keys(t, b)
	slices.Sort(of)
	archived.PutText(t, b, "c-00000-1.000000000000009.cdxj", "a)/ 2 {}\n")
	archived.PutText(t, b, "c-00000-5.000000000000009.cdxj", "a)/ 2 {}\n")
	if m, _, _ := mergedLines(t, b); !slices.Equal(m.Of, of[:1]) || m.Lines != 1 {
		t.Errorf("%+v", m)
	}
	archived.PutText(t, b, "c-00000-5.warc.gz", "")
	for _, damaged := range []string{"b 1\na 2\n", "a 1\nb 2"} {
		archived.PutText(t, b, "c-00000-5.000000000000009.cdxj", damaged)
		if m, _, err := Merge(t.Context(), b); err == nil {
			t.Errorf("%q: %+v", damaged, m)
		}
	}
}

// An index without its file, and that of a draft that did not become the file, are left out of memory,
// too. A replay would read what they name.
func TestLoadTakesOnlyWhatIsThere(t *testing.T) {
	b := archived.Folder(t)
	archived.Put(t, b, warc.Gzip, "c-00000-1", nil, archived.Exchange("http://a.example/", "a", began))
	whole := get(t, b, "c-00000-1.000000000000001.cdxj")
	draft := strings.ReplaceAll(whole, "a.example", "draft.example")
	archived.PutText(t, b, "c-00000-1.000000000000009.cdxj", draft)
	archived.PutText(t, b, "c-00000-5.000000000000009.cdxj", strings.ReplaceAll(draft, "c-00000-1", "c-00000-5"))
	ix, err := Load(t.Context(), b)
	if err != nil || ix.Len() != 1 || len(ix.Lines("http://a.example/")) != 1 || len(ix.Lines("http://draft.example/")) != 0 {
		t.Errorf("%d responses, %v", ix.Len(), err)
	}
	if err := b.Delete(t.Context(), "c-00000-1.warc.gz"); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(t.Context(), b); !errors.Is(err, ErrEmpty) {
		t.Error(err)
	}
}
