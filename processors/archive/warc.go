package archive

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"
	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/processors/archive/warc"
	"github.com/weftcrawl/weft/topics"
)

// WARC writes the exchanges of fetched to WARC files until ctx ends. A record is
// committed after it was flushed. After a crash some are written again, with the same
// record ids.
func WARC(ctx context.Context, env stage.Env, opts warc.Options) error {
	return env.Run(ctx, topics.WARC, func(ctx context.Context) (err error) {
		files, err := warc.Open(opts)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, files.Close()) }()
		client, err := env.Cluster.NewClient(
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
		rejects, err := env.NewOutbox(topics.WARC)
		if err != nil {
			return err
		}
		defer rejects.Close()
		return archive(ctx, client, files, rejects)
	})
}

type warcFiles interface {
	Write(f *weftpb.Fetched) error
	Flush() error
}

// archive writes until ctx ends, and commits what is flushed.
func archive(ctx context.Context, client *kgo.Client, files warcFiles, rejects *stage.Outbox) error {
	take := func(r *kgo.Record) (full bool, err error) {
		if err := archiveRecord(ctx, r, files, rejects); err != nil {
			return false, fmt.Errorf("write WARC: %w", err)
		}
		return false, nil
	}
	_, err := follow(ctx, client, 200, take, func() error {
		if err := files.Flush(); err != nil {
			return fmt.Errorf("write WARC: %w", err)
		}
		if err := client.CommitUncommittedOffsets(context.WithoutCancel(ctx)); err != nil {
			return fmt.Errorf("commit WARC: %w", err)
		}
		return nil
	})
	return err
}

// archiveRecord writes one exchange. A record that cannot be written is rejected.
func archiveRecord(ctx context.Context, r *kgo.Record, files warcFiles, rejects *stage.Outbox) error {
	whole, reason, err := rejects.Env.LoadBody(ctx, r)
	if err != nil {
		return err
	}
	if reason != "" {
		return rejects.Reject(ctx, r, reason)
	}
	var f weftpb.Fetched
	if proto.Unmarshal(whole.Value, &f) != nil {
		return nil // parse sends it to rejected
	}
	_, err = rejects.RejectOnPanic(ctx, r, func() error { return files.Write(&f) })
	return err
}
