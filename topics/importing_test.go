package topics_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weftcrawl/weft/topics"
)

// TestNobodyTakesHalfAnImportForACrawl reads, pins and pauses a crawl whose
// import has begun, and again once it is finished.
func TestNobodyTakesHalfAnImportForACrawl(t *testing.T) {
	admin, options := cluster(t)
	ctx := deadline(t)
	d, n := definition(), topics.Loop("weft")
	if _, err := topics.Create(ctx, admin, topics.Spec{Crawl: "weft", Partitions: 4, Replication: 1}); err != nil {
		t.Fatal(err)
	}
	if err := topics.FinishImport(ctx, d, nil, nil, options...); err == nil || errors.Is(err, topics.ErrImporting) {
		t.Errorf("finish what was not begun: %v", err)
	}
	if err := topics.BeginImport(ctx, []topics.Definition{d, d}, options...); err != nil {
		t.Fatal(err)
	}
	pause := func(c topics.Control) topics.Control { return c.WithPaused(true, topics.Fetch) }
	for what, do := range map[string]func() error{
		"read":  func() error { _, err := topics.ReadDefinition(ctx, n, options...); return err },
		"pin":   func() error { _, err := topics.Pin(ctx, d, options...); return err },
		"write": func() error { return topics.WriteDefinition(ctx, d, options...) },
		"pause": func() error { _, err := topics.WriteControl(ctx, n, pause, options...); return err },
	} {
		if err := do(); !errors.Is(err, topics.ErrImporting) {
			t.Errorf("%s: %v", what, err)
		}
	}
	settings := map[string]topics.Setting{"a.example": {Domain: "a.example", Blocked: true, Reason: "asked to stop"}}
	if err := topics.FinishImport(ctx, d, []topics.Stage{topics.Parse}, settings, options...); err != nil {
		t.Fatal(err)
	}
	if got, err := topics.Pin(ctx, d, options...); err != nil || !cmp.Equal(got, d) {
		t.Errorf("once it is finished: %+v, %v", got, err)
	}
	o, err := topics.ReadOrders(ctx, n, options...)
	if c := o.Control; err != nil || !c.Pauses(topics.Parse) || c.Pauses(topics.Fetch) {
		t.Errorf("control is %+v, %v", c, err)
	}
	if diff := cmp.Diff(settings, o.Settings); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
	if err := topics.FinishImport(ctx, d, nil, nil, options...); err == nil {
		t.Error("it can be finished again")
	}
}
