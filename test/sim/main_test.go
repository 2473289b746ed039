package sim

import (
	"os"
	"runtime/debug"
	"testing"
)

// A case makes much garbage and keeps little of it: collecting it seldom saves a fifth of the time.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}
