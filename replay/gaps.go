package replay

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/ledger"
)

// gaps follows the offsets of a ledger's partition. Ledgers are never compacted,
// and what ends a transaction is looked at, too: an offset between two others that holds nothing holds
// damage, which cannot be read.
type gaps struct {
	next  int64
	begun bool // something was read; what is missing before that may be trimmed
}

// look returns an error that wraps ledger.ErrCorrupt when records before r are
// missing.
func (g *gaps) look(r *kgo.Record) error {
	if r.Offset > g.next && g.begun {
		return fmt.Errorf("%w: %s/%d at %d: nothing can be read up to %d", ledger.ErrCorrupt, r.Topic, r.Partition, g.next, r.Offset)
	}
	g.next, g.begun = r.Offset+1, true
	return nil
}
