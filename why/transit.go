package why

import (
	"cmp"
	"context"
	"errors"

	"github.com/twmb/franz-go/pkg/kgo"
	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/processors"
	"github.com/weftcrawl/weft/replay"
	"github.com/weftcrawl/weft/topics"
	"github.com/weftcrawl/weft/urls"
)

// Transit is a record that names a URL and that the next stage has not read.
type Transit struct {
	Ref Ref `json:"ref"`
	// Source is the page that names the URL; empty for a seed.
	Source string `json:"source,omitempty"`
	// Stage reads the record next.
	Stage topics.Stage `json:"stage"`
}

// by is who names the URL, in words.
func (t Transit) by() string { return cmp.Or(t.Source, "a seed") }

// searchBytes bounds what is read of a topic in search of one record.
const searchBytes = 128 << 20

// errEnough ends a search.
var errEnough = errors.New("enough")

// search reads records of one topic until visit is content or searchBytes are
// read, which it reports as cut.
func (a *Asker) search(ctx context.Context, topic string, bounds map[int32]replay.Bounds, visit func(*kgo.Record) (found bool, err error)) (cut bool, err error) {
	bytes, read := 0, a.logs.Range
	if topic == a.names.Seeds {
		read = a.logs.CommittedRange
	}
	err = read(ctx, topic, bounds, func(r *kgo.Record) error {
		found, err := visit(r)
		if err == nil && found {
			err = errEnough
		}
		if bytes += len(r.Value); err == nil && bytes > searchBytes {
			cut, err = true, errEnough
		}
		return err
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return cut, err
}

// transit looks for the URL in what normalize and dedupe have not read.
func (a *Asker) transit(ctx context.Context, l loop, url urls.URL, domain string) (found *Transit, cut bool, err error) {
	normalize, err := processors.NewNormalize(processors.Env{Names: a.names, Definition: a.definition, Meter: deaf{}})
	if err != nil {
		return nil, false, err
	}
	for _, place := range []struct {
		stage topics.Stage
		topic string
	}{
		{topics.Dedupe, a.names.Normalized}, {topics.Normalize, a.names.Discovered}, {topics.Normalize, a.names.Seeds},
	} {
		bounds := map[int32]replay.Bounds{}
		for _, lag := range l.status.Lags {
			elsewhere := place.topic == a.names.Normalized && lag.Partition != a.partition(domain)
			if lag.Stage == place.stage && lag.Topic == place.topic && !elsewhere {
				bounds[lag.Partition] = replay.Bounds{Start: max(lag.Committed, lag.Start), End: lag.End}
			}
		}
		over, err := a.search(ctx, place.topic, bounds, func(r *kgo.Record) (bool, error) {
			source, names, err := a.named(r, normalize, url.String(), domain)
			if names {
				found = &Transit{Ref: a.ref(r), Source: source, Stage: place.stage}
			}
			return names, err
		})
		if err != nil || found != nil {
			return found, false, err
		}
		cut = cut || over
	}
	return nil, cut, nil
}

// named tells whether a record leads to the URL, and which page it is from.
func (a *Asker) named(r *kgo.Record, normalize processors.Transform, url, domain string) (source string, names bool, err error) {
	records := []processors.Output{{Domain: string(r.Key), Value: r.Value}}
	if r.Topic != a.names.Normalized {
		records, _ = normalize(r)
	}
	for _, record := range records {
		if record.Domain != domain {
			continue
		}
		var n weftpb.Normalized
		if proto.Unmarshal(record.Value, &n) != nil {
			continue // dedupe rejects it
		}
		for _, t := range n.Targets {
			if t.Url == url {
				return n.Source, true, nil
			}
		}
	}
	return "", false, nil
}

// deaf is the meter of what is only looked at.
type deaf struct{ processors.Meter }

// Normalized counts nothing.
func (deaf) Normalized(string, int) {}
