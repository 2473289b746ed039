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

// tryArchive refuses an archive that cannot be used, before the definition names it: otherwise the next start, without the
// flag, would fail in the same way.
func (s *session) tryArchive(ctx context.Context, have, want topics.Definition) error {
	if want.Archive == have.Archive {
		return nil
	}
	_, err := s.archiveStore(ctx, want)
	return err
}

// archiveStore opens the archive, if this process runs its stage; nil: it does not.
func (s *session) archiveStore(ctx context.Context, d topics.Definition) (blob.Bucket, error) {
	location := d.Archive
	switch {
	case location == "" || !slices.Contains(s.stages, topics.Archive):
		return nil, nil
	case location == topics.InData && !s.whole:
		return nil, fmt.Errorf("%w: the archive of crawl %s is in the data directory of weft crawl;"+
			" weft topics create --archive gives it a store that all processes reach", ErrUsage, d.Crawl)
	case location == topics.InData:
		location = s.opts.warcDir()
		if err := warc.Recover(location); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrUsage, err)
		}
	}
	bucket, err := OpenStore(ctx, "archive files", location)
	if err != nil {
		return nil, err
	}
	if err := blob.ProbeNew(ctx, bucket); err != nil {
		return nil, unusable("archive files", bucket, err)
	}
	return bucket, nil
}

// openArchive prepares the stage archive, if this process runs it.
func (s *session) openArchive(ctx context.Context) error {
	d := s.env.Definition
	bucket, err := s.archiveStore(ctx, d)
	if bucket == nil || err != nil {
		return err
	}
	age := blob.DeadUploadAge
	if d.Archive == topics.InData {
		age = 0 // no other process writes there
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
