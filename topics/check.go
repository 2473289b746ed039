package topics

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kadm"
)

// ErrMissing means that a topic of the crawl does not exist.
var ErrMissing = errors.New("topic does not exist")

// ErrUnsafe means that a topic is set up such that the crawl would lose URLs,
// pages or its politeness.
var ErrUnsafe = errors.New("topic is not safe for this crawl")

// Check verifies that a crawl can live on its topics: they exist, have the
// pinned number of partitions, take records, as large as the loop writes, and
// nothing but the janitor deletes from those that hold the crawl's state or
// work. All that is wrong is reported at once, wrapping ErrMissing or ErrUnsafe.
func Check(ctx context.Context, admin *kadm.Client, n Names, partitions int32) error {
	loop := n.Topics()
	names := make([]string, len(loop))
	for i, t := range loop {
		names[i] = t.Name
	}
	details, err := listAll(ctx, admin, names, hearsay)
	if err != nil {
		return fmt.Errorf("list topics of %s: %w", n.Crawl, err)
	}
	var wrong []error
	for _, t := range loop {
		if !details.Has(t.Name) {
			wrong = append(wrong, fmt.Errorf("%w: %s", ErrMissing, t.Name))
			continue
		}
		if err := details[t.Name].Err; err != nil {
			wrong = append(wrong, fmt.Errorf("describe topic %s: %w", t.Name, err))
		}
	}
	differs, err := differences(ctx, admin, loop, details, partitions, 0)
	if err != nil {
		return err
	}
	for _, d := range differs {
		t, _ := n.Topic(d.Topic)
		if d.unsafe(t, details[d.Topic].Partitions.NumReplicas()) {
			wrong = append(wrong, fmt.Errorf("%w: %s", ErrUnsafe, d))
		}
	}
	return errors.Join(wrong...)
}
