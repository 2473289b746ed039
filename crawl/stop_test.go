package crawl_test

import (
	"context"
	"testing"

	"github.com/weftcrawl/weft/crawl"
	"github.com/weftcrawl/weft/test/webserver"
)

// stopped runs a crawl that is told to stop at an alarm.
func stopped(t *testing.T, o crawl.Options, a *alarm) crawl.Result {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	go func() {
		select {
		case <-a.reached:
			stop()
		case <-ctx.Done():
		}
		a.release()
	}()
	result, err := crawl.Run(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func TestStoppedCrawlGoesOn(t *testing.T) {
	t.Parallel()
	w := serve(t, everything, webserver.ServerOptions{})
	o := options(t, w)
	for _, n := range []int64{20, 90} { // once among robots.txt files, once in full run
		result := stopped(t, o, w.at(n))
		if result.Ended != crawl.EndedInterrupted {
			t.Fatalf("ended %s", result.Ended)
		}
		o.Seeds = nil
	}
	run(t, o, crawl.EndedDrained)
	report := w.audit(t, webserver.Expect{Pages: w.Pages()})
	// A stop cancels what is in flight: one request of each domain.
	if most := 2 * everything.Domains; report.Repeats > most {
		t.Errorf("more than %d repeats:\n%v", most, report)
	}
	written := lines(t, o)
	if repeats := holds(t, w, read(t, written)); repeats > 0 {
		t.Errorf("%d pages are in the files twice", repeats)
	}
	equalsTopic(t, o, written)
}
