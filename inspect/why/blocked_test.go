package why

import (
	"strings"
	"testing"
	"time"
)

// An automatic block is shown also if no process runs the crawl, which then is what holds the
// domain back.
func TestAutomaticBlockIsShown(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for until, want := range map[time.Time]bool{now.Add(time.Hour): true, now.Add(-time.Hour): false} {
		s := DomainStory{Now: now, Domain: "example.com", State: "due", BlockedUntil: until, WaitReason: WaitReason{Cause: Stopped, Text: "no process runs this crawl"}}
		s.clock = clock{now: now, zone: time.UTC}
		var screen strings.Builder
		if err := s.WriteText(&screen); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(screen.String(), "blocked   until"); got != want {
			t.Errorf("blocked until %v, now %v: shown %v, want %v:\n%s", until, now, got, want, screen.String())
		}
	}
}
