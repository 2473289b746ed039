package processors

import (
	"context"
	"encoding/json"
	"strconv"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/codecs"
	"github.com/weftcrawl/weft/duplicates"
	"github.com/weftcrawl/weft/replay"
	"github.com/weftcrawl/weft/similar"
)

// pagesLog is the topic parsed as the index of duplicates reads it.
type pagesLog struct {
	reader *replay.Reader
	topic  string
}

// Bounds of a partition.
func (l pagesLog) Bounds(ctx context.Context, partition int32) (start, end int64, err error) {
	bounds, err := l.reader.Bounds(ctx, l.topic, partition)
	return bounds[partition].Start, bounds[partition].End, err
}

// Range reads the records from one offset to before another.
func (l pagesLog) Range(ctx context.Context, partition int32, from, to int64, visit func(duplicates.Record) error) error {
	return l.reader.Range(ctx, l.topic, map[int32]replay.Bounds{partition: {Start: from, End: to}}, func(r *kgo.Record) error {
		return visit(duplicates.Record{Offset: r.Offset, Bytes: int64(len(r.Value)), Page: l.page(r.Value)})
	})
}

// page is what a record of parsed says of fingerprints; nil if that is nothing.
func (pagesLog) page(value []byte) *duplicates.Page {
	var doc struct {
		ID          string                 `json:"id"`
		URL         string                 `json:"url"`
		Domain      string                 `json:"domain"`
		ContentHash string                 `json:"content_hash"`
		SimHash     string                 `json:"simhash"`
		DuplicateOf *codecs.ParsedOriginal `json:"duplicate_of"`
	}
	if json.Unmarshal(value, &doc) != nil || doc.ContentHash == "" {
		return nil
	}
	p := &duplicates.Page{ID: doc.ID, URL: doc.URL, Domain: doc.Domain}
	var err error
	if p.Print.Hash, err = similar.ParseHash(doc.ContentHash); err != nil {
		return nil
	}
	if doc.SimHash != "" {
		if p.Print.Sim, err = strconv.ParseUint(doc.SimHash, 16, 64); err != nil {
			return nil
		}
	}
	if o := doc.DuplicateOf; o != nil {
		p.Verdict = duplicates.Verdict{ID: o.ID, URL: o.URL, Distance: o.Distance, Own: domainOf(o.URL) == doc.Domain}
	}
	return p
}
