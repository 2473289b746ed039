package archive

import "testing"

// The limit of pages counts the pages of earlier runs.
func TestQuota(t *testing.T) {
	q := NewQuota(6, map[int32]int64{0: 3, 1: 2})
	if q.Full() || q.Written() != 5 {
		t.Errorf("full %v after %d pages", q.Full(), q.Written())
	}
	q.Write()
	if !q.Full() || q.Written() != 6 {
		t.Errorf("full %v after %d pages", q.Full(), q.Written())
	}
	if none := NewQuota(0, map[int32]int64{0: 99}); none.Full() {
		t.Error("full without a limit")
	}
}
