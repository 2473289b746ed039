package archive

import (
	"bytes"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/test/stagetest"
	"github.com/weftcrawl/weft/topics"
)

// clumsy are files that panic on one record.
type clumsy struct {
	mu      sync.Mutex
	written []string
}

func (c *clumsy) Append(_ int32, _ int64, record []byte) error {
	if bytes.Contains(record, []byte("boom")) {
		stagetest.Stumble([]byte("boom"))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.written = append(c.written, string(record))
	return nil
}

func (c *clumsy) Skip(int32, int64) {}
func (c *clumsy) Flush() error      { return nil }
func TestPanicOnAPageSetsItAside(t *testing.T) {
	b := stagetest.NewWorkbench(t)
	b.Definition.Partitions = 1
	page := func(id string) string { return `{"id":"` + id + `","url":"http://a.example/"}` }
	b.Write(b.Names.Parsed, page("a"), page("b"), page("boom"))
	files := new(clumsy)
	sink := &PageSink{env: b.Env, out: files, next: map[int32]int64{}, full: make(chan struct{})}
	end := stagetest.During(t, sink.Run)
	b.SetAside(topics.Pages, b.Names.Parsed, 2, page("boom"))
	if err := end(); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{page("a"), page("b")}, files.written); diff != "" || !sink.Reached(map[int32]int64{0: 3}) {
		t.Errorf("reached the end: %v; files, -want +got:\n%s", sink.Reached(map[int32]int64{0: 3}), diff)
	}
}

// What others write to parsed is in no file: it would not be a line of JSON.
func TestStrangersAreNoPages(t *testing.T) {
	b := stagetest.NewWorkbench(t)
	b.Definition.Partitions = 1
	page := `{"id":"a","url":"http://a.example/"}`
	strangers := []string{"", "garbage", "{}", "[1]", "{\"id\":\"b\",\n\"url\":\"u\"}", page[:len(page)-1], string(stage.Encode(&weftpb.Normalized{Source: "s"}))}
	b.Write(b.Names.Parsed, append([]string{page}, strangers...)...)
	files := new(clumsy)
	sink := &PageSink{env: b.Env, out: files, next: map[int32]int64{}, full: make(chan struct{})}
	end := stagetest.During(t, sink.Run)
	b.Read(b.Names.Rejected, len(strangers))
	if err := end(); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{page}, files.written); diff != "" || sink.Written() != 1 {
		t.Errorf("%d written; files, -want +got:\n%s", sink.Written(), diff)
	}
}
