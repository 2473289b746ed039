package transfer

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kadm"
	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs"
	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/topics"
)

// plain writes a topic whose records stay as they are.
func (im *importer) plain(from, to, short string) func(context.Context) error {
	return func(ctx context.Context) error {
		return im.archive.each(short, func(e entry) error {
			return im.out.copyOf(ctx, to, im.places.of(from, e.Key, e.log.Partition), e.Archived, e.Value)
		})
	}
}

// visited writes the reports that schedule has not read, of visits that are
// out; reports of others change nothing. What cannot be decoded is for schedule
// to reject.
func (im *importer) visited(ctx context.Context) error {
	return im.archive.each("visited", func(e entry) error {
		value, out, err := im.renameVisited(e.Value)
		if err != nil || !out {
			return err
		}
		return im.out.copyOf(ctx, im.to.Visited, im.places.of(im.from.Visited, e.Key, e.log.Partition), e.Archived, value)
	})
}

// renameVisited gives a record of visited its visit's new id. out tells whether
// the visit is out, or cannot be known.
func (im *importer) renameVisited(value []byte) (renamed []byte, out bool, err error) {
	var v weftpb.Visited
	if proto.Unmarshal(value, &v) != nil {
		return value, true, nil
	}
	if v.Visit == "" { // from another domain, about its robots.txt or ours
		return value, true, nil
	}
	v.Visit, out = im.renamed(v.Visit)
	renamed, err = proto.Marshal(&v)
	if err != nil {
		return nil, false, fmt.Errorf("encode report of a visit: %w", err)
	}
	return renamed, out, nil
}

// renameFetched is renameVisited for a record of fetched.
func (im *importer) renameFetched(value []byte) (renamed []byte, out bool, err error) {
	var f weftpb.Fetched
	if proto.Unmarshal(value, &f) != nil {
		return value, false, nil
	}
	f.Visit, out = im.renamed(f.Visit)
	renamed, err = proto.Marshal(&f)
	if err != nil {
		return nil, false, fmt.Errorf("encode exchange: %w", err)
	}
	return renamed, out, nil
}

// renamed is the new id of a visit that is out. One that is not out has none:
// its old one may be the new one of another.
func (im *importer) renamed(id string) (string, bool) {
	v := im.history.out[id]
	if v == nil {
		return "", false
	}
	return v.id, true
}

// The records of fetched by who is done with them, in the order in which they
// are written: then one commit for each of its groups tells them apart.
const (
	doneByAll   = iota // kept if the visit is out: who takes it over looks here
	doneByParse        // but not by the writer of WARC files
	doneByWARC         // but not by parse
	doneByNone
	classes
)

func classOf(l Log, offset int64) int {
	warc, writes := l.Next[topics.WARC]
	parsed, written := offset < l.Next[topics.Parse], !writes || offset < warc
	switch {
	case parsed && written:
		return doneByAll
	case parsed:
		return doneByParse
	case written:
		return doneByWARC
	}
	return doneByNone
}

// fetched writes the exchanges that are not parsed, or not in WARC files, or may
// have to be reported.
func (im *importer) fetched(ctx context.Context) error {
	var ends [classes][]int64
	for class := range classes {
		err := im.archive.each("fetched", func(e entry) error {
			if classOf(e.log, e.Offset) != class {
				return nil
			}
			value, out, err := im.renameFetched(e.Value)
			if err != nil || class == doneByAll && !out {
				return err
			}
			partition := im.places.of(im.from.Fetched, e.Key, e.log.Partition)
			if class != doneByAll {
				if value, err = im.bodies.check(ctx, im.definition, partition, value); err != nil {
					return err
				}
			}
			return im.out.copyOf(ctx, im.to.Fetched, partition, e.Archived, value)
		})
		if err != nil {
			return err
		}
		for partition := range im.definition.Partitions {
			ends[class] = append(ends[class], im.out.end(im.to.Fetched, partition))
		}
	}
	var parse, warc kadm.Offsets
	for i := range im.definition.Partitions {
		parse.AddOffset(im.to.Fetched, i, ends[doneByParse][i], -1)
		written := ends[doneByWARC][i]
		if ends[doneByParse][i] > ends[doneByAll][i] {
			// One commit cannot leave out both of what either group has to
			// do: the writer repeats what parse has to, under the same ids.
			written = ends[doneByAll][i]
		}
		warc.AddOffset(im.to.Fetched, i, written, -1)
	}
	im.commits[topics.Parse] = parse
	for _, l := range im.archive.logs("fetched") {
		if _, writes := l.Next[topics.WARC]; writes {
			im.commits[topics.WARC] = warc
		}
	}
	return nil
}

// rejected writes the records that stages could not use. What they tell is where
// they would go if they were replayed now; the offsets are the old ones.
func (im *importer) rejected(ctx context.Context) error {
	return im.archive.each("rejected", func(e entry) error {
		r, err := codecs.DecodeRejected(e.Value)
		if err != nil {
			return im.out.copyOf(ctx, im.to.Rejected, e.log.Partition%im.definition.Partitions, e.Archived, e.Value)
		}
		from := r.Topic
		if t, ok := im.from.Topic(r.Topic); ok {
			r.Topic = im.to.Crawl + "." + t.Short
		}
		r.Partition = im.places.of(from, r.Key, r.Partition)
		whole := codecs.Whole(r)
		switch {
		case !whole:
		case from == im.from.Visited:
			r.Value, _, err = im.renameVisited(r.Value)
		case from == im.from.Fetched:
			r.Value, _, err = im.renameFetched(r.Value)
		}
		if whole {
			r.ValueBytes = int64(len(r.Value))
		}
		if err != nil {
			return err
		}
		value, err := proto.Marshal(r)
		if err != nil {
			return fmt.Errorf("encode rejected record: %w", err)
		}
		return im.out.copyOf(ctx, im.to.Rejected, r.Partition, e.Archived, value)
	})
}
