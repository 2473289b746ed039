package ledger

import "testing"

func bodies(w *world, n int) (out []string) {
	for _, ev := range w.events(n) {
		if len(ev.Body) > 0 {
			out = append(out, string(ev.Body))
		}
	}
	return out
}

func TestEventsFollowInputs(t *testing.T) {
	w := newWorld(t)
	stop := w.start(w.options())
	w.produce("a", "b", "skip", "bad", "a")
	got := bodies(w, 3)
	if len(got) != 3 || got[0] != "a" || got[1] != "b" || got[2] != "a" {
		t.Errorf("events %q", got)
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	if len(w.rejected) != 1 || w.rejected[0] != "bad:bad" {
		t.Errorf("rejected %q", w.rejected)
	}
}
