package ledger

import (
	"path/filepath"
	"strconv"
	"strings"
)

// Published says what the published checkpoint of a partition below dir, which are
// the states of a process that does not run, is the fold of; false when there is
// none that can be used.
func Published(dir, ledger string, partition int32) (Folded, bool) {
	number := strconv.Itoa(int(partition))
	found, _ := filepath.Glob(filepath.Join(dir, "*", ledger+"-*", number, checkpointFile))
	for _, path := range found {
		at := filepath.Dir(path)
		_, id, _ := strings.Cut(filepath.Base(filepath.Dir(at)), ledger+"-")
		c, err := readCheckpoint(at, id)
		if err == nil && checkOpens(filepath.Join(at, c.Dir)) == nil {
			return c.folded(), true
		}
	}
	return Folded{}, false
}
