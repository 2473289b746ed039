package topics

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/twmb/franz-go/pkg/kadm"
)

// ErrMissing means that a topic of the crawl does not exist.
var ErrMissing = errors.New("topic does not exist")

// ErrUnsafe means that a topic is set up such that the crawl would lose URLs,
// pages or its politeness.
var ErrUnsafe = errors.New("topic is not safe for this crawl")

// Check verifies that a crawl can live on its topics: they exist, have the
// pinned number of partitions, take records as large as the loop writes, and
// nothing but the janitor deletes from those that hold the crawl's state or
// work. All that is wrong is reported at once, wrapping ErrMissing or ErrUnsafe.
func Check(ctx context.Context, admin *kadm.Client, n Names, partitions int32) error {
	loop := n.Topics()
	names := make([]string, len(loop))
	for i, t := range loop {
		names[i] = t.Name
	}
	details, err := listAll(ctx, admin, names)
	if err != nil {
		return fmt.Errorf("list topics of %s: %w", n.Crawl, err)
	}
	var (
		wrong   []error
		present []Topic
	)
	for _, t := range loop {
		want := partitions
		if t.Single {
			want = 1
		}
		if !details.Has(t.Name) {
			wrong = append(wrong, fmt.Errorf("%w: %s", ErrMissing, t.Name))
			continue
		}
		if err := details[t.Name].Err; err != nil {
			wrong = append(wrong, fmt.Errorf("describe topic %s: %w", t.Name, err))
			continue
		}
		present = append(present, t)
		if have := len(details[t.Name].Partitions); have != int(want) {
			wrong = append(wrong, fmt.Errorf("%w: %s has %d partitions where the crawl has %d", ErrUnsafe, t.Name, have, want))
		}
	}
	differs, err := differences(ctx, admin, present)
	if err != nil {
		return err
	}
	for _, d := range differs {
		t, _ := n.Topic(d.Topic)
		if d.unsafe(t) {
			wrong = append(wrong, fmt.Errorf("%w: %s", ErrUnsafe, d))
		}
	}
	return errors.Join(wrong...)
}

// unsafe reports whether a difference loses something, as against a choice of
// the operator.
func (d Difference) unsafe(t Topic) bool {
	switch d.Config {
	case "cleanup.policy":
		// Compaction removes events, and all but one URL of a domain.
		return t.Kept == Whole || t.Kept == Consumed
	case "retention.ms", "retention.bytes":
		return t.Kept == Whole || t.Kept == Consumed
	case "max.message.bytes":
		have, err := strconv.ParseInt(d.Have, 10, 64)
		return err != nil || have < int64(t.MaxMessageBytes)
	}
	return false
}
