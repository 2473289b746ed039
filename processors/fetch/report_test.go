package fetch

import (
	"testing"
	"time"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/processors/fetch/hostqueue"
)

// An outcome is reported when its time has come, even if the visit's next
// request is long in coming.
func TestOutcomesDoNotWaitForTheNext(t *testing.T) {
	now := time.Unix(1700000000, 0)
	r := NewReport(&hostqueue.Visit{Visit: &weftpb.Visit{Id: "v", Requests: make([]*weftpb.Request, 2)}}, now)
	if part := r.Late(now.Add(time.Hour)); part != nil {
		t.Errorf("reports %v, and nothing happened", part)
	}
	r.Await(nil)
	if part := r.Acknowledged(&weftpb.Outcome{Status: 200}, now.Add(partEvery/2)); part != nil {
		t.Errorf("reports at once: %v", part)
	}
	if part := r.Late(now.Add(partEvery - 1)); part != nil {
		t.Errorf("reports early: %v", part)
	}
	if part := r.Late(now.Add(partEvery)); part == nil || len(part.Outcomes) != 1 || part.Done {
		t.Errorf("reports %v", part)
	}
	if part := r.Late(now.Add(time.Hour)); part != nil {
		t.Errorf("reports twice: %v", part)
	}
}

// What a visit did not ask for because its address was crowded is given back, with how long
// its domain is to be left alone, once.
func TestReportTellsOfACrowdedAddress(t *testing.T) {
	now := time.Unix(1700000000, 0)
	r := NewReport(&hostqueue.Visit{Visit: &weftpb.Visit{Id: "v", Requests: make([]*weftpb.Request, 3)}}, now)
	r.Await(nil)
	r.Acknowledged(&weftpb.Outcome{Status: 200}, now)
	r.Crowd(20 * time.Second)
	part := r.Finish(1, now)
	if part == nil || !part.Done || part.CrowdedMs != 20_000 || len(part.Outcomes) != 3 || !part.Outcomes[1].Skipped || !part.Outcomes[2].Skipped {
		t.Errorf("reports %v", part)
	}
}

// A request that is skipped because its host asked for none says for how much longer.
func TestSkipUntil(t *testing.T) {
	now := time.Unix(100, 0)
	for wait, want := range map[time.Duration]int64{time.Minute: 60_000, -time.Second: 0} {
		if o := SkipUntil(3, now.Add(wait), now); o.Index != 3 || !o.Skipped || o.RetryAfterMs != want {
			t.Errorf("%v before the end: %v", wait, o)
		}
	}
	if o := SkipUntil(3, time.Time{}, now); !o.Skipped || o.RetryAfterMs != 0 {
		t.Errorf("for another reason: %v", o)
	}
}
