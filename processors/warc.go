package processors

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/topics"
	"github.com/weftcrawl/weft/warc"
)

// WARC writes the exchanges of fetched to WARC files until ctx ends. A record
// is committed after it was flushed: after a crash some are written again,
// under the same record ids.
func WARC(ctx context.Context, env Env, opts warc.Options) error {
	return env.run(ctx, topics.WARC, func(ctx context.Context) (err error) {
		files, err := warc.Open(opts)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, files.Close()) }()
		client, err := env.client(
			kgo.ConsumerGroup(env.Names.Group(topics.WARC)),
			kgo.ConsumeTopics(env.Names.Inputs(topics.WARC)...),
			kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
			kgo.DisableAutoCommit(),
			kgo.FetchMaxBytes(2<<20), kgo.FetchMaxPartitionBytes(1<<20),
		)
		if err != nil {
			return err
		}
		defer client.Close()
		aside, err := env.aside(topics.WARC)
		if err != nil {
			return err
		}
		defer aside.client.Close()
		return archive(ctx, client, files, aside)
	})
}

// warcFiles is the part of warc.Writer that writes.
type warcFiles interface {
	Write(f *weftpb.Fetched) error
	Flush() error
}

// archive writes until ctx ends, and commits what is flushed.
func archive(ctx context.Context, client *kgo.Client, files warcFiles, aside *outbox) error {
	flushed := time.Now()
	for {
		poll, cancel := context.WithTimeout(ctx, flushEvery)
		fetches := client.PollRecords(poll, 200)
		cancel()
		if err := pollError(fetches); err != nil && ctx.Err() == nil {
			return err
		}
		for it := fetches.RecordIter(); !it.Done(); {
			if err := archiveRecord(ctx, it.Next(), files, aside); err != nil {
				return fmt.Errorf("write WARC: %w", err)
			}
		}
		if ctx.Err() == nil && time.Since(flushed) < flushEvery {
			continue
		}
		if err := files.Flush(); err != nil {
			return fmt.Errorf("write WARC: %w", err)
		}
		flushed = time.Now()
		if err := client.CommitUncommittedOffsets(context.WithoutCancel(ctx)); err != nil {
			return fmt.Errorf("commit WARC: %w", err)
		}
		if ctx.Err() != nil {
			return nil
		}
	}
}

// archiveRecord writes one exchange. What cannot be written goes aside.
func archiveRecord(ctx context.Context, r *kgo.Record, files warcFiles, aside *outbox) error {
	whole, reason, err := aside.env.claim(ctx, r)
	if err != nil {
		return err
	}
	if reason != "" {
		return aside.setAside(ctx, r, reason)
	}
	var f weftpb.Fetched
	if proto.Unmarshal(whole.Value, &f) != nil {
		return nil // parse sends it to rejected
	}
	_, err = aside.unlessPanic(ctx, r, func() error { return files.Write(&f) })
	return err
}
