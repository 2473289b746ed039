package politeness

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestOutcomes holds the table of docs/outcomes.md to what Judge says: what each outcome means
// for each unit.
func TestOutcomes(t *testing.T) {
	var table strings.Builder
	golden(t, "outcomes.md", func(out *bytes.Buffer) {
		for _, status := range []uint32{200, 304, 404, 408, 421, 425, 429, 500, 503, 600} {
			fmt.Fprint(out, outcomeLine(fmt.Sprint(status), Judge(status, "")))
		}
		for _, class := range append(slices.Sorted(maps.Keys(classes)), "never_heard_of") {
			fmt.Fprint(out, outcomeLine("`"+class+"`", Judge(0, class)))
		}
		table.Write(out.Bytes())
	})
	shown, err := os.ReadFile("../../docs/outcomes.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(shown), table.String()) {
		t.Error("docs/outcomes.md does not show testdata/outcomes.md")
	}
}

func outcomeLine(outcome string, v Verdict) string {
	const down = "waits, longer each time; down after five"
	url, origin, host, domain, address := "ends as `"+v.Reason+"`", "-", "-", "its delay", "one request"
	switch {
	case v.Unmade:
		url, domain = "goes back, without an attempt", "-"
	case v.Missing:
		url, host = "waits for one more look-up, then ends", "looked up again after "+ConfirmAfter.String()+", then missing for an hour"
	case v.Throttled > 0:
		url = fmt.Sprintf("keeps its attempts, up to %d times, then `%s`", v.Throttled, GaveUp(v.Reason))
		if host = "waits as it asks, and gets a longer delay"; v.Page {
			host = "waits if it asks, and then gets a longer delay; otherwise as for 500"
		}
	case v.Retry:
		url = fmt.Sprintf("%d more attempts, then `%s`", len(retries), GaveUp(v.Reason))
	}
	switch {
	case v.Health == Answered:
		origin, host = "up", "up"
	case v.Health == Failed && v.Unit == Origin:
		origin = down
	case v.Health == Failed && v.Throttled == 0 && v.Page:
		host = "waits if more of its pages fail, longer each time; down after five"
	case v.Health == Failed && v.Throttled == 0:
		host = down
	}
	if v.Unreached {
		domain, address = "no delay", "-"
	}
	return fmt.Sprintf("| %s | %s | %s | %s | %s | %s |\n", outcome, url, origin, host, domain, address)
}
