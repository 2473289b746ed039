package crawl_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"go.uber.org/goleak"

	"github.com/weftcrawl/weft/crawl"
	"github.com/weftcrawl/weft/internal/broker"
	"github.com/weftcrawl/weft/internal/urls"
	"github.com/weftcrawl/weft/test/webserver"
	"github.com/weftcrawl/weft/topics"
)

// endsWithin is how long an end may take.
const endsWithin = 10 * time.Second

// ask changes what is asked of the crawl of o, which runs.
func ask(t *testing.T, o crawl.Options, change func(topics.Control) topics.Control) {
	t.Helper()
	access, release, err := crawl.Reach(t.Context(), o.Dir, crawl.ToWrite, nil)
	if err != nil {
		t.Error(err)
		return
	}
	defer release()
	if _, err := topics.WriteControl(t.Context(), topics.Loop("weft"), change, access.Options()...); err != nil {
		t.Error(err)
	}
}

// Parse is paused, so that fetch soon has as many bytes ahead of it as it may;
// then the crawl is stopped, and later goes on.
func TestStopWithAFullBacklog(t *testing.T) {
	t.Parallel()
	site := everything
	site.Pages = 50 // each waits for the one before
	w := serve(t, site, webserver.ServerOptions{})
	o := options(t, w)
	o.Fetch.BacklogBytes = 1
	a, asked := w.at(20), make(chan time.Time, 1)
	var asking sync.WaitGroup
	asking.Go(func() {
		<-a.reached
		ask(t, o, func(c topics.Control) topics.Control { return c.WithPaused(true, topics.Parse) })
		a.release()
		asked <- time.Now()
		ask(t, o, func(c topics.Control) topics.Control { c.Stop = topics.Stages(); return c })
	})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	result, err := crawl.Run(ctx, o)
	if err != nil || result.Ended != crawl.EndedStopped {
		t.Fatalf("ended %q: %v", result.Ended, err)
	}
	if took := time.Since(<-asked); took > endsWithin {
		t.Errorf("the end took %v", took)
	}
	asking.Wait()
	// The pause is in force still; a user asks for its end while no process runs.
	ask(t, o, func(topics.Control) topics.Control { return topics.Control{} })
	o.Seeds = nil
	run(t, o, crawl.EndedDrained)
	if report := w.audit(t, webserver.Expect{Pages: w.Pages()}); report.Repeats > everything.Domains {
		t.Errorf("the server's log:\n%v", report)
	}
	if repeats := holds(t, w, read(t, lines(t, o))); repeats > 0 {
		t.Errorf("%d pages are in the files twice", repeats)
	}
}

// Each stage alone joins its group, is stopped, and leaves nothing. Not
// parallel, so that no other test's goroutines are about.
func TestStagesAreStoppedAndLeaveNoGoroutine(t *testing.T) {
	before := goleak.IgnoreCurrent()
	b, err := broker.Open(broker.Options{Dir: t.TempDir(), Listen: "127.0.0.1:0", Listener: broker.Listener{Trusted: true}})
	if err != nil {
		t.Fatal(err)
	}
	client, err := kgo.NewClient(b.Client()...)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		client.Close()
		if err := b.Close(); err != nil {
			t.Error(err)
		}
		goleak.VerifyNone(t, append(bySarama, before)...)
	}()
	admin, names := kadm.NewClient(client), topics.Loop("weft")
	if _, err := topics.Create(t.Context(), admin, topics.Spec{Crawl: "weft", Partitions: 2, Replication: 1}); err != nil {
		t.Fatal(err)
	}
	o := configured(t.TempDir())
	o.Cluster.Brokers, o.Definition.Partitions, o.Definition.Version = []string{b.Addr()}, 2, topics.DefinitionVersion
	o.Definition.SuffixList = urls.BundledSuffixes().Version()
	if err := topics.WriteDefinition(t.Context(), o.Definition, b.Client()...); err != nil {
		t.Fatal(err)
	}
	for _, stage := range topics.Stages() {
		t.Run(string(stage), func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			ended := make(chan error, 1)
			go func() { ended <- crawl.RunStages(ctx, o, []topics.Stage{stage}) }()
			for joined := false; !joined; {
				groups, err := admin.DescribeGroups(ctx, names.Group(stage))
				if err != nil {
					t.Fatal(err)
				}
				joined = len(groups[names.Group(stage)].Members) > 0 && groups[names.Group(stage)].State == "Stable"
			}
			order := func(c topics.Control) topics.Control { c.Stop = []topics.Stage{stage}; return c }
			if _, err := topics.WriteControl(ctx, names, order, b.Client()...); err != nil {
				t.Fatal(err)
			}
			asked := time.Now()
			if err := <-ended; err != nil || ctx.Err() != nil {
				t.Errorf("ended with %v, after its time: %v", err, ctx.Err())
			}
			if took := time.Since(asked); took > endsWithin {
				t.Errorf("the end took %v", took)
			}
		})
	}
}
