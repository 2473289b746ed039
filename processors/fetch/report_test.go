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
	r.Open()
	if part := r.Close(&weftpb.Outcome{Status: 200}, now.Add(partEvery/2)); part != nil {
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
