//go:build !race

package supervise

import (
	"os"
	"testing"
)

// TestRaceDetector fails if `make short` asks for the race detector and the program has none.
func TestRaceDetector(t *testing.T) {
	if os.Getenv("WEFT_RACE") != "" {
		t.Fatal("this program was built without the race detector")
	}
}
