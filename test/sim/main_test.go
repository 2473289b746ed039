package sim

import (
	"os"
	"runtime/debug"
	"testing"
)

// A case makes much garbage and keeps little of it, so that collecting it seldom costs little memory.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}
