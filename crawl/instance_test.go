package crawl

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/topics"
)

// An id is kept only for a process that holds the directory's lock under the same boot.
func TestInstances(t *testing.T) {
	dir := t.TempDir()
	take := func(crawl, member, boot string, stages ...topics.Stage) *instances {
		t.Helper()
		held, err := takeInstances(dir, crawl, member, boot, stages)
		if err != nil {
			t.Fatal(err)
		}
		return held
	}
	release := func(held *instances) {
		t.Helper()
		if err := held.release(); err != nil {
			t.Fatal(err)
		}
	}
	first := take("weft", "höst-1", "boot", topics.Fetch, topics.Schedule)
	if id := first.ids[topics.Fetch]; !strings.HasPrefix(id, "h_st-1-") || id == first.ids[topics.Schedule] {
		t.Errorf("ids %v", first.ids)
	}
	// Another process in the same directory runs one stage more.
	second := take("weft", "höst-1", "boot", topics.Fetch, topics.Parse)
	if second.ids[topics.Fetch] != "" || second.ids[topics.Parse] == "" {
		t.Errorf("ids beside another process: %v", second.ids)
	}
	other := take("other", "höst-1", "boot", topics.Fetch)
	if id := other.ids[topics.Fetch]; id == "" || id == first.ids[topics.Fetch] {
		t.Errorf("id in another crawl: %q", id)
	}
	for _, held := range []*instances{first, second, other} {
		release(held)
	}

	again := take("weft", "höst-1", "boot", topics.Fetch)
	release(again)
	if again.ids[topics.Fetch] != first.ids[topics.Fetch] {
		t.Errorf("after a restart %q, before %q", again.ids[topics.Fetch], first.ids[topics.Fetch])
	}
	for name, held := range map[string]*instances{
		"another boot":   take("weft", "höst-1", "boot 2", topics.Fetch),
		"another member": take("weft", "höst-2", "boot 2", topics.Schedule),
	} {
		release(held)
		for stage, id := range held.ids {
			if id == first.ids[stage] || id == "" {
				t.Errorf("%s: %s has %q", name, stage, id)
			}
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "instances", "weft.fetch"), []byte("boot höst-1-x\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	damaged := take("weft", "höst-1", "boot", topics.Fetch)
	release(damaged)
	if id := damaged.ids[topics.Fetch]; !strings.HasPrefix(id, "h_st-1-") {
		t.Errorf("of a damaged file %q", id)
	}
	if none := take("weft", "höst-1", "", topics.Fetch); len(none.ids) > 0 {
		t.Errorf("without a boot %v", none.ids)
	}
}
