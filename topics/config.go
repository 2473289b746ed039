package topics

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// ErrUndefined means that the crawl is not defined yet.
var ErrUndefined = errors.New("crawl has no definition")

// ReadDefinition returns the definition of the crawl that is in force: the last one
// in config. client says how to reach the brokers. The error is ErrUndefined when
// the topic is empty or does not exist, and ErrImporting when an import has begun
// and not ended.
func ReadDefinition(ctx context.Context, n Names, client ...kgo.Opt) (Definition, error) {
	h, err := readHistory(ctx, n, client)
	return h.last, err
}

// WriteDefinition appends d to config. The error is ErrPinned when d differs from
// the crawl's first definition in what that has pinned.
func WriteDefinition(ctx context.Context, d Definition, client ...kgo.Opt) error {
	if err := d.Validate(); err != nil {
		return err
	}
	h, err := readHistory(ctx, Loop(d.Crawl), client)
	switch {
	case errors.Is(err, ErrUndefined):
	case err != nil:
		return err
	default:
		if err := h.first.Agrees(d); err != nil {
			return err
		}
	}
	return appendConfig(ctx, nil, d, record{}, client)
}

// appendConfig appends one record to config.
func appendConfig(ctx context.Context, key []byte, d Definition, r record, client []kgo.Opt) error {
	value, err := d.encode(r)
	if err != nil {
		return err
	}
	n := Loop(d.Crawl)
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

// Pin makes sure that all processes of the crawl agree on what is pinned. It returns
// the definition in force. If the crawl has no definition, it gets mine; otherwise
// only the pinned fields of mine matter. The error is ErrPinned if they differ.
//
// Two processes may find the topic empty at the same time and both write. The first
// record pins, and both read the topic again. The process whose record is the second
// stops if it disagrees.
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

// history is the content of config: the first definition of a crawl, which pins, and
// the last one, which is in force; the control for a process that begins now; the settings
// of domains; and the offset of the next record.
type history struct {
	first, last Definition
	control     Control
	settings    map[string]Setting
	next        int64
	importing   bool // an import has begun and not ended
}

func readHistory(ctx context.Context, n Names, client []kgo.Opt) (history, error) {
	reader, err := kgo.NewClient(append([]kgo.Opt{
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{n.Config: {0: kgo.NewOffset().AtStart()}}),
		kgo.KeepControlRecords(), // a log may end with one, and its end is waited for
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
	h := history{next: start, settings: map[string]Setting{}}
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
		return history{}, fmt.Errorf("%w: %s holds no definition", ErrUndefined, n.Config)
	}
	if h.importing {
		return history{}, fmt.Errorf("crawl %s cannot be used: %w", n.Crawl, ErrImporting)
	}
	return h, nil
}

// read reads one record. defined tells whether there was a definition before. A
// record that does not belong to the crawl was written by another program, and is
// ignored. The error means that only a newer program can read a definition.
func (h *history) read(r *kgo.Record, crawl string, defined *bool) error {
	d, err := decodeDefinition(r.Value)
	if errors.Is(err, errNewer) && d.Crawl == crawl {
		return err
	}
	if err != nil || d.Crawl != crawl || *defined && h.first.Agrees(d) != nil {
		return nil
	}
	switch key := string(r.Key); {
	case key == controlKey:
		if c, err := decodeControl(r.Value); err == nil {
			h.control = c.standing()
		}
		return nil
	case strings.HasPrefix(key, settingKey):
		if s, err := decodeSetting(key, r.Value); err == nil {
			h.settings[s.Domain] = s
		}
		return nil
	case key == importKey:
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

// ErrImporting means that an import into these topics has begun and not ended: their
// content is not a crawl yet.
var ErrImporting = errors.New("an import of the crawl is not finished")

// importKey is the key in config of the records that begin an import. Their values
// are former definitions of the crawl. The next definition without a key ends the
// import.
const importKey = "import"

// BeginImport marks a crawl as one that is being imported, and writes the definitions
// that it had, at least one. Until FinishImport its topics are not a crawl: the error
// of ReadDefinition is ErrImporting.
func BeginImport(ctx context.Context, had []Definition, client ...kgo.Opt) error {
	for _, d := range had {
		if err := appendConfig(ctx, []byte(importKey), d, record{}, client); err != nil {
			return err
		}
	}
	return nil
}

// FinishImport makes d the definition of a crawl that BeginImport has marked. It also
// writes the pauses and the settings of domains of the exported crawl. From then on the
// crawl exists.
func FinishImport(ctx context.Context, d Definition, paused []Stage, settings map[string]Setting, client ...kgo.Opt) error {
	if _, err := readHistory(ctx, Loop(d.Crawl), client); !errors.Is(err, ErrImporting) {
		return errors.Join(fmt.Errorf("crawl %s is not being imported", d.Crawl), err)
	}
	if len(paused) > 0 {
		if err := appendConfig(ctx, []byte(controlKey), d, record{Control: &Control{Paused: paused}}, client); err != nil {
			return err
		}
	}
	for _, domain := range slices.Sorted(maps.Keys(settings)) {
		s := settings[domain]
		if err := appendConfig(ctx, []byte(settingKey+domain), d, record{Setting: &s}, client); err != nil {
			return err
		}
	}
	return appendConfig(ctx, nil, d, record{}, client)
}
