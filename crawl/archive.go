package crawl

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/weftcrawl/weft/inspect/erase"
	"github.com/weftcrawl/weft/internal/blob"
	"github.com/weftcrawl/weft/internal/supervise"
	"github.com/weftcrawl/weft/processors/archive"
	"github.com/weftcrawl/weft/processors/archive/warc"
	"github.com/weftcrawl/weft/topics"
)

// openArchive prepares the stage archive, if this process runs it.
func (s *session) openArchive(ctx context.Context) error {
	d := s.env.Definition
	location, age := d.Archive, sweepAge
	switch {
	case location == "" || !slices.Contains(s.stages, topics.Archive):
		return nil
	case location == topics.InData && !s.whole:
		return fmt.Errorf("%w: the archive of crawl %s is in the data directory of weft crawl;"+
			" weft topics create --archive gives it a store that all processes reach", ErrUsage, d.Crawl)
	case location == topics.InData:
		location, age = s.opts.warcDir(), 0 // no other process writes there
		if err := warc.Recover(location); err != nil {
			return fmt.Errorf("%w: %w", ErrUsage, err)
		}
	}
	bucket, err := OpenStore(ctx, "archive files", location)
	if err != nil {
		return err
	}
	if err := blob.ProbeNew(ctx, bucket); err != nil {
		return unusable("archive files", bucket, err)
	}
	if err := bucket.Sweep(ctx, "", time.Now().Add(-age)); err != nil {
		s.log.Warn("removing the remains of killed processes from the archive failed", "error", err)
	}
	fetched, err := s.topicID(ctx, s.env.Names.Fetched)
	if err != nil {
		return err
	}
	parsed, err := s.topicID(ctx, s.env.Names.Parsed)
	if err != nil {
		return err
	}
	info, err := s.archiveInfo()
	if err != nil {
		return err
	}
	s.archive = archive.Options{
		Bucket: bucket, Topic: fetched, Parsed: parsed, Info: info, Settle: s.settle,
		FileBytes: d.ArchiveFile, WARC: warc.Options{Compression: warc.Compression(d.ArchiveCompress)},
		Chore: s.expire,
	}
	return s.adoptFormer(ctx)
}

// expire erases each day what is older than the archive keeps it, until ctx ends. A crawl of one
// process that has nothing left to do waits for the first time.
func (s *session) expire(ctx context.Context) {
	d, bucket := s.env.Definition, s.archive.Bucket
	keep := erase.Keep{Default: time.Duration(d.KeepMS) * time.Millisecond, Domains: map[string]time.Duration{}}
	for domain, ms := range d.KeepOfMS {
		keep.Domains[domain] = time.Duration(ms) * time.Millisecond
	}
	_ = supervise.Until(ctx, time.Hour, func() (bool, error) { // its only error is the end of ctx
		report, due, err := erase.Daily(ctx, bucket, keep, time.Now())
		switch {
		case ctx.Err() != nil: // the next owner goes on
		case err != nil:
			s.log.Warn("erasing what the archive keeps no longer failed; the next run or hour tries again", "archive", bucket, "error", err)
		case due:
			s.log.Info("what the archive keeps no longer was erased", "archive", bucket, "records", report.Records, "files", report.Files, "deleted_files", report.Deleted)
		}
		s.expired.Store(true)
		return false, nil
	})
}

// sweepAge is the age of an upload that no process can still be busy with.
const sweepAge = 24 * time.Hour

// archiveInfo describes the crawl in each file.
func (s *session) archiveInfo() ([]warc.Field, error) {
	definition, err := json.Marshal(s.env.Definition)
	if err != nil {
		return nil, fmt.Errorf("describe the crawl: %w", err)
	}
	info := []warc.Field{
		{Name: "software", Value: "Weft"},
		{Name: "robots", Value: "obeyed"},
		{Name: "http-header-user-agent", Value: s.opts.Fetch.Client.Agent()},
	}
	if operator := cmp.Or(s.opts.Operator, s.env.Definition.Contact); operator != "" {
		info = append(info, warc.Field{Name: "operator", Value: operator})
	}
	return append(info, warc.Field{Name: "weft-definition", Value: string(definition)}), nil
}

// adoptFormer lets the stage go on where the writer of WARC files of an earlier version
// stopped.
func (s *session) adoptFormer(ctx context.Context) error {
	if !s.whole {
		return nil
	}
	fetched, group := s.env.Names.Fetched, s.env.Names.Group(topics.Archive)
	former := s.env.Names.Crawl + "." + string(topics.FormerWARC)
	answers := s.admin.FetchManyOffsets(ctx, group, former)
	if _, begun := answers[group].Fetched[fetched]; begun || len(answers[former].Fetched[fetched]) == 0 {
		return nil
	}
	var offsets kadm.Offsets
	for partition, o := range answers[former].Fetched[fetched] {
		offsets.AddOffset(fetched, partition, o.At, -1)
	}
	committed, err := s.admin.CommitOffsets(ctx, group, offsets)
	if err := cmp.Or(err, committed.Error()); err != nil {
		return fmt.Errorf("take over the commits of %s: %w", former, err)
	}
	return nil
}
