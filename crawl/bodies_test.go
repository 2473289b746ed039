package crawl_test

import (
	"errors"
	"hash/fnv"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/crawl"
	"github.com/weftcrawl/weft/internal/blob"
	"github.com/weftcrawl/weft/internal/bodies"
	"github.com/weftcrawl/weft/test/s3server"
	"github.com/weftcrawl/weft/test/webserver"
	"github.com/weftcrawl/weft/topics"
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

// filesBelow are the files below a directory, temporary ones included.
func filesBelow(t *testing.T, dir string) (keys []string) {
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
	w := serve(t, webserver.Options{Pages: 80, Domains: 4}, webserver.ServerOptions{})
	w.swell = swollen(8, 1<<20, 5<<20)
	o := options(t, w)
	o.WARC = true
	run(t, o, crawl.EndedDrained)
	if len(w.large()) < 5 {
		t.Fatalf("only %d pages are large", len(w.large()))
	}
	holds(t, w, read(t, lines(t, o)))
	w.isArchived(t, responses(t, o))
	left := filesBelow(t, filepath.Join(o.Dir, "bodies"))
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
	t.Parallel()
	w := serve(t, webserver.Options{Pages: 300, Domains: 12, CrossLinks: 0.1}, webserver.ServerOptions{})
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
	w.audit(t, webserver.Expect{Pages: w.Pages()})
	o := p.options()
	holds(t, w, read(t, lines(t, o)))
	w.isArchived(t, responses(t, o))
	left := filesBelow(t, filepath.Join(o.Dir, "bodies"))
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
	w := serve(t, webserver.Options{Pages: 60, Domains: 4}, webserver.ServerOptions{})
	w.swell = swollen(8, 1<<20, 12<<20)
	o := options(t, w)
	o.Definition.Bodies, o.Definition.MaxBody = s3server.Serve(t, "crawls"), 32<<20
	run(t, o, crawl.EndedDrained)
	holds(t, w, read(t, lines(t, o)))
	refs := referred(t, o)
	bucket, err := blob.Open(t.Context(), o.Definition.Bodies)
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
	if len(filesBelow(t, filepath.Join(o.Dir, "bodies"))) > 0 {
		t.Error("there are bodies in the data directory, too")
	}
}

// A place that cannot be used, or cannot be reached, is a mistake that is named
// before anything is begun.
func TestPlacesOfBodiesThatCannotBe(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for location, want := range map[string]string{
		file:                           "not a directory",
		"s3://":                        "names no bucket",
		"s3://key:s3cret@bucket/there": "credentials belong in the environment",
	} {
		o := configured(t.TempDir())
		o.Seeds, o.Definition.Bodies = [][]byte{[]byte("http://127.1.0.1/")}, location
		_, err := crawl.Run(t.Context(), o)
		if !errors.Is(err, crawl.ErrUsage) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v", location, err)
		}
	}
}

// A store that does not work at the moment is not a mistake of the user: a supervisor starts the
// process again.
func TestStoresThatDoNotWorkNow(t *testing.T) {
	there := s3server.Fake(t, "there")
	for location, usage := range map[string]bool{
		"s3://there?path-style=true&endpoint=http://127.0.0.1:1": false,
		strings.Replace(there, "there", "missing", 1):            true,
	} {
		if _, err := crawl.OpenStore(t.Context(), "archive files", location); err == nil || errors.Is(err, crawl.ErrUsage) != usage {
			t.Errorf("%s: %v", location, err)
		}
	}
}

// The place of a crawl's bodies never changes, and a process that cannot know
// where it is says so.
func TestPlaceOfBodiesIsTheCrawls(t *testing.T) {
	t.Parallel()
	w := serve(t, webserver.Options{Pages: 20, Domains: 2}, webserver.ServerOptions{})
	o := options(t, w)
	run(t, o, crawl.EndedDrained)
	elsewhere := o
	elsewhere.Redefine = func(d topics.Definition) topics.Definition { d.Bodies = t.TempDir(); return d }
	if _, err := crawl.Run(t.Context(), elsewhere); !errors.Is(err, topics.ErrPinned) || !errors.Is(err, crawl.ErrUsage) {
		t.Errorf("another place: %v", err)
	}
	reached, release, err := crawl.Reach(t.Context(), o.Dir, crawl.ToWrite, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	other := configured(t.TempDir())
	other.Cluster = reached
	err = crawl.RunStages(t.Context(), other, []topics.Stage{topics.Parse})
	if !errors.Is(err, crawl.ErrUsage) || !strings.Contains(err.Error(), "begun with --bodies") {
		t.Errorf("parse elsewhere: %v", err)
	}
}

func TestClaiming(t *testing.T) {
	dir := t.TempDir()
	bucket, err := blob.Open(t.Context(), filepath.Join(dir, "bodies"))
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	ref, err := bodies.New(bucket, kadm.TopicID{1}, log).Put(t.Context(), 0, "page", []byte("a body"), nil)
	if err != nil {
		t.Fatal(err)
	}
	lost := proto.CloneOf(ref)
	lost.Key += "X"
	for _, test := range []struct {
		dir, place string
		ref        *weftpb.BodyReference
		want       string
	}{
		{dir, topics.InData, ref, "a body"},
		{"", filepath.Join(dir, "bodies"), ref, "a body"},
		{dir, topics.InData, lost, ""},
		{"", topics.InData, ref, ""}, // no process knows where
		{dir, "", ref, ""},
	} {
		claim, err := crawl.BodyLoader(t.Context(), topics.Definition{Bodies: test.place}, test.dir, log)
		if err != nil {
			t.Fatal(err)
		}
		value, err := proto.Marshal(&weftpb.Fetched{Stored: test.ref})
		if err != nil {
			t.Fatal(err)
		}
		var f weftpb.Fetched
		if err := proto.Unmarshal(claim(t.Context(), value), &f); err != nil || string(f.Body) != test.want || f.Stored == nil {
			t.Errorf("%+v: %q, %v", test, f.Body, err)
		}
	}
}
