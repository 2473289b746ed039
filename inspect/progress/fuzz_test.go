package progress

import (
	"bytes"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Whatever is counted, a line is one line of the terminal, never as wide as it,
// and its parts say what they are given.
func FuzzLine(f *testing.F) {
	f.Add(int64(1234567), int64(1)<<40, int64(-1), 0.5, int64(time.Hour), "paused: fetch", 80)
	f.Add(int64(-1)<<63, int64(999_950), int64(1)<<62, 1e300, int64(-1), "", 1)
	f.Fuzz(func(t *testing.T, pages, size, queued int64, rate float64, elapsed int64, held string, columns int) {
		s := Snapshot{Pages: pages, Bytes: size, Errors: queued, Queued: queued, Waits: strings.ToValidUTF8(strings.ReplaceAll(held, "\n", " "), "")}
		line := Line(s, rate, time.Duration(elapsed))
		if strings.Contains(line, "\n") || !strings.Contains(line, s.Waits) || !strings.Contains(line, Count(pages)+" pages") {
			t.Fatalf("%+v: %q", s, line)
		}
		if plain := strings.ReplaceAll(Count(pages), ",", ""); plain != strconv.FormatInt(pages, 10) {
			t.Fatalf("%d is %q", pages, Count(pages))
		}
		var out bytes.Buffer
		d := NewDisplay(&out, true, func() int { return columns })
		now := time.Unix(1e9, 0)
		d.Show(s, now)
		s.Pages++
		d.Show(s, now.Add(time.Second))
		for _, drawn := range strings.Split(out.String(), eraseLine) {
			if columns > 0 && len(drawn) >= columns {
				t.Fatalf("%d columns of %d: %q", len(drawn), columns, drawn)
			}
		}
		d.Close()
	})
}
