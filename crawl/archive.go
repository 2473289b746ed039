package crawl

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/weftcrawl/weft/internal/blob"
	"github.com/weftcrawl/weft/processors/archive"
	"github.com/weftcrawl/weft/processors/archive/warc"
	"github.com/weftcrawl/weft/topics"
)

// openArchive prepares the stage archive, if this process runs it.
func (s *session) openArchive(ctx context.Context) error {
	d := s.env.Definition
	location, age := d.Archive, blob.DeadUploadAge
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
	s.expiry.opened = time.Now()
	return s.adoptFormer(ctx)
}

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
