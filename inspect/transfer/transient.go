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

// plain copies a topic whose records do not change.
func (im *importer) plain(topic string) func(context.Context) error {
	return func(ctx context.Context) error {
		return im.archive.each(topic, func(e entry) error {
			return im.out.copyOf(ctx, topic, im.partition(topic, e.Key, e.log.Partition), e.Archived, e.Value)
		})
	}
}

// visited copies the reports of visits that are out and that schedule has not read. Other
// reports have no effect. Schedule rejects records that cannot be decoded.
func (im *importer) visited(ctx context.Context) error {
	return im.archive.each("visited", func(e entry) error {
		value, out, err := im.renameVisited(e.Value)
		if err != nil || !out {
			return err
		}
		return im.out.copyOf(ctx, "visited", im.partition("visited", e.Key, e.log.Partition), e.Archived, value)
	})
}

// renameVisited sets the new id of the visit in a record of visited. out reports that the
// visit is out, or is not known.
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

// renamed is the new id of a visit that is out. A visit that is not out has no new id,
// because its old id may be the new id of another visit.
func (im *importer) renamed(id string) (string, bool) {
	v := im.history.out[id]
	if v == nil {
		return "", false
	}
	return v.id, true
}

// The classes of records of fetched by the readers that are done with them, in the order in
// which they are written. In this order one commit for each group separates them.
const (
	doneByAll     = iota // kept if the visit is out: its takeover looks for them
	doneByParse          // but not by archive
	doneByArchive        // but not by parse
	doneByNone
	classes
)

// archivedOf is where the stage archive goes on; an earlier version has another name for it.
func archivedOf(l Log) (next int64, writes bool) {
	if next, writes = l.Next[topics.Archive]; !writes {
		next, writes = l.Next[topics.FormerWARC]
	}
	return next, writes
}

func classOf(l Log, offset int64) int {
	archived, writes := archivedOf(l)
	parsed, written := offset < l.Next[topics.Parse], !writes || offset < archived
	switch {
	case parsed && written:
		return doneByAll
	case parsed:
		return doneByParse
	case written:
		return doneByArchive
	}
	return doneByNone
}

// fetched copies the exchanges that are not parsed, not archived, or perhaps not
// reported.
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
			partition := im.partition("fetched", e.Key, e.log.Partition)
			if class != doneByAll {
				if value, err = im.bodies.put(ctx, im.definition, partition, value); err != nil {
					return err
				}
			}
			return im.out.copyOf(ctx, "fetched", partition, e.Archived, value)
		})
		if err != nil {
			return err
		}
		for partition := range im.definition.Partitions {
			ends[class] = append(ends[class], im.out.ends["fetched"][partition])
		}
	}
	var parse, archive kadm.Offsets
	for i := range im.definition.Partitions {
		parse.AddOffset(im.to.Fetched, i, ends[doneByParse][i], -1)
		written := ends[doneByArchive][i]
		if ends[doneByParse][i] > ends[doneByAll][i] {
			// One commit cannot express both classes: archive repeats the
			// records that parse has to read, under the same ids.
			written = ends[doneByAll][i]
		}
		archive.AddOffset(im.to.Fetched, i, written, -1)
	}
	im.commits[topics.Parse] = parse
	for _, l := range im.archive.logs("fetched") {
		if _, writes := archivedOf(l); writes {
			im.commits[topics.Archive] = archive
		}
	}
	return nil
}

// rejected copies the records that stages could not use. Their topic and partition are
// where a replay would write them now; the offsets are the old ones.
func (im *importer) rejected(ctx context.Context) error {
	return im.archive.each("rejected", func(e entry) error {
		r, err := codecs.DecodeRejected(e.Value)
		if err != nil {
			return im.out.copyOf(ctx, "rejected", e.log.Partition%im.definition.Partitions, e.Archived, e.Value)
		}
		from, _ := im.from.Topic(r.Topic)
		if from.Short != "" {
			r.Topic = fullName(im.to, from.Short)
		}
		r.Partition = im.partition(from.Short, r.Key, r.Partition)
		whole := codecs.Whole(r)
		switch {
		case !whole:
		case from.Short == "visited":
			r.Value, _, err = im.renameVisited(r.Value)
		case from.Short == "fetched":
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
		return im.out.copyOf(ctx, "rejected", r.Partition, e.Archived, value)
	})
}
