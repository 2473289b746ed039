package topics_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/topics"
)

// The last setting of a domain is in force, for those who begin and for those who run. The
// definition and the control do not change with it.
func TestSettings(t *testing.T) {
	ctx, n, options := defined(t)
	change(t, ctx, n, options, topics.Control{Paused: []topics.Stage{topics.Fetch}})
	ctx, cancel := context.WithCancel(ctx)
	heard, ended := make(chan topics.Setting, 10), make(chan error, 1)
	orders, err := topics.ReadOrders(ctx, n, options...)
	if err != nil || len(orders.Settings) > 0 {
		t.Fatal(orders, err)
	}
	go func() {
		follower := topics.OrderFollower{Setting: func(s topics.Setting) { heard <- s }}
		ended <- topics.FollowOrders(ctx, n, orders.Next, follower, options...)
	}()
	set := func(domain string, change func(*topics.Setting)) {
		t.Helper()
		if _, err := topics.WriteSetting(ctx, n, domain, func(s topics.Setting) topics.Setting { change(&s); return s }, options...); err != nil {
			t.Fatal(err)
		}
	}
	delay, at := int64(5000), time.Date(2026, 11, 24, 8, 0, 0, 0, time.UTC)
	set("a.example", func(s *topics.Setting) { s.DelayMS, s.SetAt = &delay, at })
	set("b.example", func(s *topics.Setting) { s.Priority = topics.HighPriority })
	set("a.example", func(s *topics.Setting) { s.Blocked, s.Reason = true, "asked to stop" })
	a := topics.Setting{Domain: "a.example", DelayMS: &delay, SetAt: at}
	blocked := a
	blocked.Blocked, blocked.Reason = true, "asked to stop"
	b := topics.Setting{Domain: "b.example", Priority: topics.HighPriority}
	for _, want := range []topics.Setting{a, b, blocked} {
		if diff := cmp.Diff(want, <-heard); diff != "" {
			t.Errorf("followed (-want +got):\n%s", diff)
		}
	}
	got, err := topics.ReadOrders(ctx, n, options...)
	if diff := cmp.Diff(map[string]topics.Setting{"a.example": blocked, "b.example": b}, got.Settings); err != nil || diff != "" {
		t.Errorf("settings: %v (-want +got):\n%s", err, diff)
	}
	if !got.Control.Pauses(topics.Fetch) {
		t.Error("the control is gone")
	}
	if d, err := topics.ReadDefinition(ctx, n, options...); err != nil || !cmp.Equal(d, definition()) {
		t.Errorf("the definition is %+v, %v", d, err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// What cannot be a setting is refused, and ignored if another program wrote it.
func TestNoSetting(t *testing.T) {
	ctx, n, options := defined(t)
	hour := int64(3_600_001)
	for name, spoil := range map[string]func(*topics.Setting){
		"a delay of more than an hour":  func(s *topics.Setting) { s.DelayMS = &hour },
		"less than no requests":         func(s *topics.Setting) { s.PerDay = -1 },
		"a priority that there is none": func(s *topics.Setting) { s.Priority = "urgent" },
		"a long reason":                 func(s *topics.Setting) { s.Reason = strings.Repeat("x", topics.MaxReason+1) },
		"another domain":                func(s *topics.Setting) { s.Domain = "" },
	} {
		if _, err := topics.WriteSetting(ctx, n, "a.example", func(s topics.Setting) topics.Setting { spoil(&s); return s }, options...); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
	client, err := kgo.NewClient(options...)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for _, setting := range []string{`{"domain":"b.example","blocked":true}`, `{"domain":"a.example","per_day":-1}`, `7`, `null`} {
		value := `{"version":1,"crawl":"weft","partitions":4,"suffix_list":"` + definition().SuffixList + `","setting":` + setting + `}`
		if err := client.ProduceSync(ctx, &kgo.Record{Topic: n.Config, Key: []byte("domain a.example"), Value: []byte(value)}).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := topics.ReadOrders(ctx, n, options...); err != nil || len(got.Settings) > 0 {
		t.Errorf("settings: %v, %v", got.Settings, err)
	}
}
