package topics_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/topics"
)

// defined makes a crawl and returns how to reach it.
func defined(t *testing.T) (context.Context, topics.Names, []kgo.Opt) {
	t.Helper()
	admin, options := cluster(t)
	ctx := deadline(t)
	if _, err := topics.Create(ctx, admin, topics.Spec{Crawl: "weft", Partitions: 4, Replication: 1}); err != nil {
		t.Fatal(err)
	}
	if err := topics.WriteDefinition(ctx, definition(), options...); err != nil {
		t.Fatal(err)
	}
	return ctx, topics.Loop("weft"), options
}

// change writes a control.
func change(t *testing.T, ctx context.Context, n topics.Names, options []kgo.Opt, to topics.Control) {
	t.Helper()
	if _, err := topics.WriteControl(ctx, n, func(topics.Control) topics.Control { return to }, options...); err != nil {
		t.Fatal(err)
	}
}

func TestControlStandsBesideTheDefinition(t *testing.T) {
	ctx, n, options := defined(t)
	paused := topics.Control{Paused: []topics.Stage{topics.Fetch}}
	change(t, ctx, n, options, paused)

	later := definition()
	later.DelayMS = 5000
	if err := topics.WriteDefinition(ctx, later, options...); err != nil {
		t.Fatal(err)
	}
	got, err := topics.ReadOrders(ctx, n, options...)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(paused, got.Control); diff != "" || got.Next != 3 {
		t.Errorf("next %d; control -want +got:\n%s", got.Next, diff)
	}
	change(t, ctx, n, options, topics.Control{})
	d, err := topics.ReadDefinition(ctx, n, options...)
	if diff := cmp.Diff(later, d); diff != "" || err != nil {
		t.Errorf("%v; definition -want +got:\n%s", err, diff)
	}
}

// A program that knows no controls takes every record of config for a
// definition.
func TestControlIsADefinitionToOlderPrograms(t *testing.T) {
	ctx, n, options := defined(t)
	change(t, ctx, n, options, topics.Control{Paused: []topics.Stage{topics.Parse}, Draining: true})
	reader, err := kgo.NewClient(append(options, kgo.ConsumeTopics(n.Config))...)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	var last *kgo.Record
	for last == nil || last.Offset < 1 {
		reader.PollFetches(ctx).EachRecord(func(r *kgo.Record) { last = r })
		if ctx.Err() != nil {
			t.Fatal(ctx.Err())
		}
	}
	var d topics.Definition
	if err := json.Unmarshal(last.Value, &d); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(definition(), d); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestControlWithoutACrawl(t *testing.T) {
	_, options := cluster(t)
	_, err := topics.WriteControl(deadline(t), topics.Loop("weft"), func(c topics.Control) topics.Control { return c }, options...)
	if !errors.Is(err, topics.ErrUndefined) {
		t.Errorf("got %v", err)
	}
}

func TestStopIsAnOrderToThoseWhoRun(t *testing.T) {
	ctx, n, options := defined(t)
	orders, err := topics.ReadOrders(ctx, n, options...)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(ctx)
	heard := make(chan topics.Control, 10)
	ended := make(chan error, 1)
	go func() {
		ended <- topics.FollowOrders(ctx, n, orders.Next, topics.OrderFollower{Control: func(c topics.Control) { heard <- c }}, options...)
	}()
	if err := topics.WriteDefinition(ctx, definition(), options...); err != nil { // is no control
		t.Fatal(err)
	}
	order := topics.Control{Paused: []topics.Stage{topics.Parse}, Draining: true, Stop: topics.Stages()}
	change(t, ctx, n, options, order)
	select {
	case got := <-heard:
		if diff := cmp.Diff(order, got); diff != "" {
			t.Errorf("a running process reads -want +got:\n%s", diff)
		}
	case <-ctx.Done():
		t.Fatal("a running process reads nothing")
	}
	got, err := topics.ReadOrders(ctx, n, options...)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(topics.Control{Paused: []topics.Stage{topics.Parse}}, got.Control); diff != "" {
		t.Errorf("who begins later reads -want +got:\n%s", diff)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestControlInWords(t *testing.T) {
	all := topics.Control{}.WithPaused(true, topics.Parse, topics.Fetch)
	tests := []struct {
		control topics.Control
		words   string
		pauses  bool
	}{
		{topics.Control{}, "", false},
		{all, "paused: fetch parse", true},
		{all.WithPaused(true, topics.Fetch).WithPaused(false, topics.Fetch), "paused: parse", true},
		{topics.Control{}.WithPaused(true, topics.Normalize), "paused: normalize", false},
		{all.WithPaused(false, topics.Stages()...), "", false},
		{topics.Control{Draining: true}, "draining", true},
		{topics.Control{Paused: []topics.Stage{topics.Parse}, Draining: true}, "paused: parse, draining", true},
	}
	for _, tt := range tests {
		if got := tt.control.String(); got != tt.words || tt.control.PausesReleases() != tt.pauses {
			t.Errorf("%+v is %q and pauses releases: %v", tt.control, got, tt.control.PausesReleases())
		}
	}
}
