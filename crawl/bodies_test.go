package crawl_test

import (
	"errors"
	"hash/fnv"
	"io/fs"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/crawl"
	"github.com/weftcrawl/weft/s3test"
	"github.com/weftcrawl/weft/store"
	"github.com/weftcrawl/weft/topics"
	"github.com/weftcrawl/weft/webtest"
)

// swollen has one page of so many be large: from least to most bytes, always the
// same for a path.
func swollen(of uint32, least, most int) func(path string) int {
	return func(path string) int {
		h := fnv.New32a()
		_, _ = h.Write([]byte(path)) // cannot fail
		sum := h.Sum32()
		if sum%of != 0 {
			return 0
		}
		return least + int(sum/of)%(most-least)
	}
}

// large are the pages that do not fit in records of a crawl with defaults.
func (w *web) large() (paths []string) {
	for _, path := range w.Pages() {
		if w.swell(path) > int(topics.DefaultBodyThreshold) {
			paths = append(paths, path)
		}
	}
	return paths
}

// referred are the keys of bodies that records of fetched refer to, in a crawl
// that does not run.
func referred(t *testing.T, o crawl.Options) (keys []string) {
	t.Helper()
	for _, r := range readTopic(t, reopened(t, o), topics.Loop(o.Definition.Crawl).Fetched) {
		var f weftpb.Fetched
		if err := proto.Unmarshal(r.Value, &f); err != nil {
			t.Fatal(err)
		}
		if key := f.Stored.GetKey(); key != "" {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// kept are the files below a directory, temporary ones included.
func kept(t *testing.T, dir string) (keys []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		key, err := filepath.Rel(dir, path)
		keys = append(keys, filepath.ToSlash(key))
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	slices.Sort(keys)
	return keys
}

func TestLargeBodies(t *testing.T) {
	t.Parallel()
	w := serve(t, webtest.Options{Pages: 80, Domains: 4}, webtest.ServerOptions{})
	w.swell = swollen(8, 1<<20, 5<<20)
	o := options(t, w)
	o.WARC = true
	run(t, o, crawl.EndedDrained)
	if len(w.large()) < 5 {
		t.Fatalf("only %d pages are large", len(w.large()))
	}
	holds(t, w, read(t, lines(t, o)))
	w.isArchived(t, responses(t, o))
	left := kept(t, filepath.Join(o.Dir, "bodies"))
	if refs := referred(t, o); !slices.Equal(left, refs) || len(left) > 4 {
		t.Errorf("%v are left, and fetched refers to %v", left, refs)
	}
}

// Kills at any moment lose no large page, and leave no body that no record
// refers to once the crawl is drained. Memory is bounded, whatever the bodies.
func TestLargeBodiesSurviveKills(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute; TestLargeBodies crawls without kills")
	}
	w := serve(t, webtest.Options{Pages: 300, Domains: 12, CrossLinks: 0.1}, webtest.ServerOptions{})
	w.swell = swollen(12, 3<<20, 30<<20)
	p := process{Dir: t.TempDir(), Seeds: w.server.Seeds(), WARC: true, MaxBody: 64 << 20}
	total := 0
	for _, path := range w.large() {
		total += w.swell(path)
	}
	var held int64
	for _, n := range []int64{20, 30, 50, 40} {
		a := w.at(n)
		c := p.start(t)
		a.wait(t)
		c.kill()
		a.release()
		held = max(held, c.peak())
		p.Seeds = nil
	}
	c := p.start(t)
	c.drains(t)
	held = max(held, c.peak())
	t.Logf("%d large pages, %d MiB; at most %d MiB of memory", len(w.large()), total>>20, held>>20)
	if most := int64(1 << 30); held > most {
		t.Errorf("%d MiB of memory", held>>20)
	}
	w.audit(t, webtest.Expect{Pages: w.Pages()})
	o := p.options()
	holds(t, w, read(t, lines(t, o)))
	w.isArchived(t, responses(t, o))
	left := kept(t, filepath.Join(o.Dir, "bodies"))
	if refs := referred(t, o); !slices.Equal(left, refs) || len(left) > 4 {
		t.Errorf("%v are left, and fetched refers to %v", left, refs)
	}
}

// peak is the most memory that an ended child had, in bytes.
func (c *child) peak() int64 {
	<-c.ended
	usage, _ := c.cmd.ProcessState.SysUsage().(*syscall.Rusage)
	return usage.Maxrss << 10
}

// Bodies may be in a bucket. What is left there beside what fetched refers to is
// for the next run to remove.
func TestLargeBodiesInABucket(t *testing.T) {
	w := serve(t, webtest.Options{Pages: 60, Domains: 4}, webtest.ServerOptions{})
	w.swell = swollen(8, 1<<20, 12<<20)
	o := options(t, w)
	o.Definition.Bodies, o.Definition.MaxBody = s3test.Serve(t, "crawls"), 32<<20
	run(t, o, crawl.EndedDrained)
	holds(t, w, read(t, lines(t, o)))
	refs := referred(t, o)
	bucket, err := store.Open(t.Context(), o.Definition.Bodies)
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]bool{}
	for object, err := range bucket.List(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		there[object.Key] = true
	}
	for _, key := range refs {
		if !there[key] {
			t.Errorf("%s is not there", key)
		}
	}
	if len(kept(t, filepath.Join(o.Dir, "bodies"))) > 0 {
		t.Error("there are bodies in the data directory, too")
	}
}
