package topics

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// ErrUndefined means that nobody has defined the crawl yet.
var ErrUndefined = errors.New("crawl has no definition")

// ReadDefinition returns the crawl's definition in force: the last one in
// config. client says how to reach the brokers. The error is ErrUndefined when
// the topic is empty or does not exist, and ErrImporting when an import has
// begun and not ended.
func ReadDefinition(ctx context.Context, n Names, client ...kgo.Opt) (Definition, error) {
	h, err := readHistory(ctx, n, client)
	return h.last, err
}

// WriteDefinition appends d to config. It refuses, with ErrPinned, what the
// crawl's first definition has pinned otherwise.
func WriteDefinition(ctx context.Context, d Definition, client ...kgo.Opt) error {
	n := Loop(d.Crawl)
	value, err := d.encode()
	if err != nil {
		return err
	}
	h, err := readHistory(ctx, n, client)
	switch {
	case errors.Is(err, ErrUndefined):
	case err != nil:
		return err
	default:
		if err := h.first.Agrees(d); err != nil {
			return err
		}
	}
	return appendConfig(ctx, n, nil, value, client)
}

// appendConfig appends one record to config.
func appendConfig(ctx context.Context, n Names, key, value []byte, client []kgo.Opt) error {
	producer, err := NewProducer(n, DefaultProducerOptions(), client...)
	if err != nil {
		return err
	}
	defer producer.Close()
	if err := producer.ProduceSync(ctx, &kgo.Record{Topic: n.Config, Key: key, Value: value}).FirstErr(); err != nil {
		return fmt.Errorf("write to %s: %w", n.Config, err)
	}
	return nil
}

// Pin makes sure that this process and all others of the crawl agree on what
// is pinned, and returns the definition in force. mine becomes that when the
// crawl has none; else only its pinned fields matter. A disagreement is
// ErrPinned.
//
// Two processes may both find the topic empty and both write. The first record
// pins, so both read the topic again, and the one that came second and
// disagrees stops.
func Pin(ctx context.Context, mine Definition, client ...kgo.Opt) (Definition, error) {
	if err := mine.Validate(); err != nil {
		return Definition{}, err
	}
	n := Loop(mine.Crawl)
	h, err := readHistory(ctx, n, client)
	if errors.Is(err, ErrUndefined) {
		if err := WriteDefinition(ctx, mine, client...); err != nil {
			return Definition{}, err
		}
		h, err = readHistory(ctx, n, client)
	}
	if err != nil {
		return Definition{}, err
	}
	if err := h.first.Agrees(mine); err != nil {
		return Definition{}, err
	}
	return h.last, nil
}

// history is what config tells: the first definition of a crawl, which pins,
// and the last, which is in force; the control as it stands; and the offset of
// the record that comes next.
type history struct {
	first, last Definition
	control     Control
	next        int64
	importing   bool // an import has begun and not ended
}

func readHistory(ctx context.Context, n Names, client []kgo.Opt) (history, error) {
	reader, err := kgo.NewClient(append([]kgo.Opt{
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{n.Config: {0: kgo.NewOffset().AtStart()}}),
		kgo.KeepControlRecords(), // a log that ends with one would be waited for in vain
	}, client...)...)
	if err != nil {
		return history{}, fmt.Errorf("read definition from %s: %w", n.Config, err)
	}
	defer reader.Close()

	start, end, err := bounds(ctx, kadm.NewClient(reader), n.Config)
	if err != nil {
		return history{}, fmt.Errorf("read definition from %s: %w", n.Config, err)
	}
	if start == end {
		return history{}, fmt.Errorf("%w: %s is empty", ErrUndefined, n.Config)
	}
	h := history{next: start}
	defined := false
	for h.next < end {
		fetches := reader.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			return history{}, fmt.Errorf("read definition from %s: %w", n.Config, err)
		}
		for it := fetches.RecordIter(); !it.Done(); {
			r := it.Next()
			if err := h.read(r, n.Crawl, &defined); err != nil {
				return history{}, fmt.Errorf("read %s at %d: %w", n.Config, r.Offset, err)
			}
			h.next = r.Offset + 1
		}
	}
	if !defined && !h.importing {
		return history{}, fmt.Errorf("%w: %s holds none", ErrUndefined, n.Config)
	}
	if h.importing {
		return history{}, fmt.Errorf("crawl %s cannot be used: %w", n.Crawl, ErrImporting)
	}
	return h, nil
}

// read takes in one record; defined tells whether a definition was there. A record
// that is none of the crawl's was written by another program, and says nothing.
// The error is that of a definition which only a newer program can read.
func (h *history) read(r *kgo.Record, crawl string, defined *bool) error {
	d, err := decodeDefinition(r.Value)
	if errors.Is(err, errNewer) && d.Crawl == crawl {
		return err
	}
	if err != nil || d.Crawl != crawl || *defined && h.first.Agrees(d) != nil {
		return nil
	}
	switch string(r.Key) {
	case controlKey:
		if c, err := decodeControl(r.Value); err == nil {
			h.control = c.standing()
		}
		return nil
	case importKey:
		h.importing = true
		return nil
	}
	h.importing = false
	if !*defined {
		h.first, *defined = d, true
	}
	h.last = d
	return nil
}

// bounds returns the first and the next offset of partition 0 of a topic; both
// are 0 when the topic does not exist.
func bounds(ctx context.Context, admin *kadm.Client, topic string) (start, end int64, err error) {
	starts, err := admin.ListStartOffsets(ctx, topic)
	if err != nil {
		return 0, 0, err
	}
	ends, err := admin.ListEndOffsets(ctx, topic)
	if err != nil {
		return 0, 0, err
	}
	first, _ := starts.Lookup(topic, 0)
	last, _ := ends.Lookup(topic, 0)
	err = errors.Join(first.Err, last.Err)
	if errors.Is(err, kerr.UnknownTopicOrPartition) {
		return 0, 0, nil
	}
	return first.Offset, last.Offset, err
}
