package parse

import (
	"context"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/codecs"
	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/internal/topiclog"
	"github.com/weftcrawl/weft/internal/urls"
	"github.com/weftcrawl/weft/processors/parse/duplicates"
	"github.com/weftcrawl/weft/processors/parse/simhash"
	"github.com/weftcrawl/weft/topics"
)

// duplicateChecker is the index of duplicates as the stage's PartitionState. It says of each
// page which earlier page it is a duplicate of, in the order in which pages are written to
// parsed.
type duplicateChecker struct {
	*duplicates.Index
	env   stage.Env
	logs  *topiclog.Reader
	loads chan struct{} // has an element for each partition that is being loaded
}

// loadsAtOnce bounds the memory for reading parsed.
const loadsAtOnce = 4

func newDuplicateChecker(env stage.Env) (*duplicateChecker, error) {
	logs, err := topiclog.New(env.Cluster.Options()...)
	if err != nil {
		return nil, err
	}
	index := duplicates.New(filepath.Join(env.Dir, "duplicates"), pagesLog{env, logs})
	return &duplicateChecker{Index: index, env: env, logs: logs, loads: make(chan struct{}, loadsAtOnce)}, nil
}

// close leaves the index on disk. No page may be judged afterwards.
func (c *duplicateChecker) close() {
	if err := c.Close(); err != nil {
		c.env.Logger.Warn("the index of duplicates was not closed properly; the next process reads the missing part from parsed", "error", err)
	}
	c.logs.Close()
}

// Load reads what other processes wrote to parsed. An error is only logged: the first
// page of the partition meets it again.
func (c *duplicateChecker) Load(ctx context.Context, partition int32) {
	select {
	case c.loads <- struct{}{}:
		defer func() { <-c.loads }()
	case <-ctx.Done():
		return
	}
	log := c.env.Logger.With("stage", topics.Parse, "partition", partition)
	began := time.Now()
	long := time.AfterFunc(time.Second, func() { log.Info("pages wait until parsed is read for the index of duplicates") })
	err := c.Index.Load(ctx, partition)
	switch quick := long.Stop(); {
	case ctx.Err() != nil:
	case err != nil:
		log.Warn("the index of duplicates was not read", "error", err)
	case !quick:
		log.Info("the index of duplicates is read", "took", time.Since(began))
	}
}

// pagesLog is the topic parsed as the index of duplicates reads it.
type pagesLog struct {
	env    stage.Env
	reader *topiclog.Reader
}

// Incarnation is the topic with its id.
func (l pagesLog) Incarnation(ctx context.Context) (string, error) {
	client, err := l.env.Cluster.NewClient()
	if err != nil {
		return "", err
	}
	defer client.Close()
	parsed := l.env.Names.Parsed
	listed, err := kadm.NewClient(client).ListTopics(ctx, parsed)
	if err == nil {
		err = listed.Error()
	}
	if err != nil {
		return "", fmt.Errorf("describe %s: %w", parsed, err)
	}
	id := listed[parsed].ID
	return parsed + "-" + hex.EncodeToString(id[:]), nil
}

// Bounds of a partition.
func (l pagesLog) Bounds(ctx context.Context, partition int32) (start, end int64, err error) {
	bounds, err := l.reader.Bounds(ctx, l.env.Names.Parsed, partition)
	return bounds[partition].Start, bounds[partition].End, err
}

// Range reads the records from one offset to before another.
func (l pagesLog) Range(ctx context.Context, partition int32, from, to int64, visit func(duplicates.Record) error) error {
	part := map[int32]topiclog.Bounds{partition: {Start: from, End: to}}
	return l.reader.Range(ctx, l.env.Names.Parsed, part, func(r *kgo.Record) error {
		return visit(duplicates.Record{Offset: r.Offset, Bytes: int64(len(r.Value)), Page: l.page(r.Value)})
	})
}

// page is what the index needs of a record of parsed; nil: it has no fingerprint.
func (pagesLog) page(value []byte) *duplicates.Page {
	print, err := codecs.DecodeParsedFingerprints(value)
	if err != nil || print.ContentHash == "" {
		return nil
	}
	p := &duplicates.Page{ID: print.ID, URL: print.URL, Domain: print.Domain}
	if p.Print.Hash, err = simhash.ParseHash(print.ContentHash); err != nil {
		return nil
	}
	if print.SimHash != "" {
		if p.Print.Sim, err = strconv.ParseUint(print.SimHash, 16, 64); err != nil {
			return nil
		}
	}
	if print.MinHash != "" {
		if p.Print.Min, err = simhash.ParseMinHash(print.MinHash); err != nil {
			return nil
		}
	}
	if o := print.DuplicateOf; o != nil {
		p.Verdict = duplicates.Verdict{ID: o.ID, URL: o.URL, Distance: o.Distance, Own: urls.DomainOf(o.URL) == print.Domain}
	}
	return p
}
