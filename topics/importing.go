package topics

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"
)

// ErrImporting means that a crawl is being brought to these topics, or was and
// did not come to its end: what they hold is not a crawl yet.
var ErrImporting = errors.New("an import of the crawl is not finished")

// importKey is the key in config of the records that begin an import. Their
// values are definitions that the crawl had; the one that follows without a key
// ends the import.
const importKey = "import"

// BeginImport marks a crawl as one that is being imported, and tells what
// definitions it had, of which there is at least one. Until FinishImport nobody
// takes its topics for a crawl: whoever reads its definition gets ErrImporting.
func BeginImport(ctx context.Context, had []Definition, client ...kgo.Opt) error {
	for _, d := range had {
		value, err := d.encode()
		if err != nil {
			return err
		}
		if err := appendConfig(ctx, Loop(d.Crawl), []byte(importKey), value, client); err != nil {
			return err
		}
	}
	return nil
}

// FinishImport makes d the definition of a crawl that BeginImport has marked,
// with stages paused as they were elsewhere. It is the moment from which on the
// crawl is there.
func FinishImport(ctx context.Context, d Definition, paused []Stage, client ...kgo.Opt) error {
	n := Loop(d.Crawl)
	if _, err := readHistory(ctx, n, client); !errors.Is(err, ErrImporting) {
		return errors.Join(fmt.Errorf("crawl %s is not being imported", d.Crawl), err)
	}
	if len(paused) > 0 {
		value, err := encodeControl(d, Control{Paused: paused})
		if err != nil {
			return err
		}
		if err := appendConfig(ctx, n, []byte(controlKey), value, client); err != nil {
			return err
		}
	}
	value, err := d.encode()
	if err != nil {
		return err
	}
	return appendConfig(ctx, n, nil, value, client)
}
