package parse

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/codecs"
	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/test/stagetest"
)

func TestParseLoadsBodies(t *testing.T) {
	b := stagetest.NewWorkbench(t)
	dir, _ := b.WithBodies()
	whole, _ := b.Page("whole")
	missing, key := b.Page("missing")
	if err := b.Bodies.Delete(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	damaged, key := b.Page("damaged")
	if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(key)), []byte("<title>another"), 0o600); err != nil {
		t.Fatal(err)
	}
	last, _ := b.Page("last")
	b.Write(b.Names.Fetched, string(whole), string(missing), string(damaged), string(last))
	end := stagetest.During(t, func(ctx context.Context) error { return Run(ctx, b.Env) })
	pages := strings.Join(b.Read(b.Names.Parsed, 2), "\n")
	for _, title := range []string{"whole", "last"} {
		if !strings.Contains(pages, fmt.Sprintf(`"title":%q`, title)) {
			t.Errorf("no page %q in %.200s", title, pages)
		}
	}
	aside := map[string]string{}
	for _, value := range b.Read(b.Names.Rejected, 2) {
		r, err := codecs.DecodeRejected([]byte(value))
		if err != nil {
			t.Fatal(err)
		}
		aside[r.Reason] = string(r.Value)
	}
	if aside[stage.ReasonBodyMissing] != string(missing) || aside[stage.ReasonBodyDamaged] != string(damaged) {
		t.Errorf("set aside: %q", aside)
	}
	if b.Counts.Reasons["parse body_missing"] != 1 || b.Counts.Reasons["parse body_damaged"] != 1 {
		t.Errorf("counted: %v", b.Counts.Reasons)
	}
	if err := end(); err != nil {
		t.Error(err)
	}
}

// While the store is down parse waits, and says so; it ends when it is told to,
// and reads the record again in its next life.
func TestParseWaitsForTheStore(t *testing.T) {
	b := stagetest.NewWorkbench(t)
	_, bucket := b.WithBodies()
	page, _ := b.Page("late")
	b.Write(b.Names.Fetched, string(page))
	bucket.Down.Store(true)
	parse := func(ctx context.Context) error { return Run(ctx, b.Env) }
	end := stagetest.During(t, parse)
	b.Until(b.Bodies.Waiting, "nobody waits for the store")
	began := time.Now()
	if err := end(); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > stage.DrainTimeout {
		t.Errorf("the end took %v", took)
	}
	end = stagetest.During(t, parse)
	b.Until(func() bool { return bucket.Asked.Load() > 1 && b.Bodies.Waiting() }, "nobody waits for the store again")
	bucket.Down.Store(false)
	if got := b.Read(b.Names.Parsed, 1); !strings.Contains(got[0], `"title":"late"`) {
		t.Errorf("parsed: %.200s", got[0])
	}
	if err := end(); err != nil {
		t.Error(err)
	}
	if log := b.Log.String(); !strings.Contains(log, "the store of large bodies does not work") {
		t.Errorf("nothing about it in the log:\n%s", log)
	}
}

// A process that began before the crawl had a store must not take what it cannot
// read for lost.
func TestParseWithoutStoreEnds(t *testing.T) {
	b := stagetest.NewWorkbench(t)
	b.WithBodies()
	page, _ := b.Page("large")
	b.Write(b.Names.Fetched, string(page))
	b.Bodies = nil
	ctx, cancel := context.WithTimeout(t.Context(), stagetest.Bound)
	defer cancel()
	if err := Run(ctx, b.Env); !errors.Is(err, stage.ErrNoBodies) {
		t.Errorf("parse ended with %v", err)
	}
}
