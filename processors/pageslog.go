package processors

import (
	"context"
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
	print, err := codecs.DecodeParsedPrint(value)
	if err != nil || print.ContentHash == "" {
		return nil
	}
	p := &duplicates.Page{ID: print.ID, URL: print.URL, Domain: print.Domain}
	if p.Print.Hash, err = similar.ParseHash(print.ContentHash); err != nil {
		return nil
	}
	if print.SimHash != "" {
		if p.Print.Sim, err = strconv.ParseUint(print.SimHash, 16, 64); err != nil {
			return nil
		}
	}
	if print.MinHash != "" {
		if p.Print.Min, err = similar.ParseMinHash(print.MinHash); err != nil {
			return nil
		}
	}
	if o := print.DuplicateOf; o != nil {
		p.Verdict = duplicates.Verdict{ID: o.ID, URL: o.URL, Distance: o.Distance, Own: domainOf(o.URL) == print.Domain}
	}
	return p
}
