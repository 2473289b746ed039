package stage

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/internal/kafka"
	"github.com/weftcrawl/weft/internal/trouble"
	"github.com/weftcrawl/weft/topics"
)

// ArchiveLag is how old an exchange may be that the archive does not have. If one is older, nothing
// is released: fetched is kept until it is archived, and would grow until the disks of the brokers
// are full. A file of the archive is published after an hour at the latest.
const ArchiveLag = 2 * time.Hour

// backlogEvery is the time between two looks at how far the archive is.
const backlogEvery = 10 * time.Second

// backlog watches how far the archive of a crawl is. nil watches nothing.
type backlog struct {
	env    Env
	client *kgo.Client
	admin  *kadm.Client
	report holdReport
	looked time.Time
	behind string
}

// newBacklog returns nil if the crawl has no archive, or no stage to report it.
func newBacklog(env Env, reporter topics.Stage) *backlog {
	if env.Definition.Archive == "" || reporter == "" {
		return nil
	}
	client, err := env.Cluster.NewClient()
	if err != nil {
		env.Logger.Error("how far the archive is cannot be watched", "error", err)
		return nil
	}
	return &backlog{
		env: env, client: client, admin: kadm.NewClient(client),
		report: holdReport{env: env, stage: reporter, kind: trouble.Archive, until: "it has caught up", log: "the archive is behind"},
	}
}

func (b *backlog) close() {
	if b != nil {
		b.client.Close()
	}
}

// look says what the archive lacks; empty: not too much. If the brokers do not answer, it says
// what it said before.
func (b *backlog) look(ctx context.Context, now time.Time) string {
	switch {
	case b == nil:
		return ""
	case now.Sub(b.looked) < backlogEvery:
		return b.behind
	}
	b.looked = now
	asking, cancel := context.WithTimeout(ctx, backlogEvery)
	defer cancel()
	late, err := Unarchived(asking, b.admin, b.env.Names, now.Add(-ArchiveLag))
	switch {
	case err != nil && ctx.Err() == nil:
		b.env.Logger.Warn("asking how far the archive is failed", "error", err)
	case err == nil && late == 0:
		b.behind = ""
	case err == nil:
		b.behind = fmt.Sprintf("archive: it lacks %d exchanges that are older than %d h", late, ArchiveLag/time.Hour)
	}
	b.env.Reserve.behind.Store(b.behind)
	b.report.look(ctx, b.behind, now)
	return b.behind
}

// Unarchived counts the records of fetched from before a time that the archive has not committed.
func Unarchived(ctx context.Context, admin *kadm.Client, names topics.Names, before time.Time) (late int64, err error) {
	all, err := kafka.BoundsOf(ctx, admin, names.Fetched)
	if err != nil {
		return 0, err
	}
	since, err := kafka.BoundsSince(ctx, admin, names.Fetched, before.UnixMilli())
	if err != nil {
		return 0, err
	}
	group := names.Group(topics.Archive)
	answer := admin.FetchManyOffsets(ctx, group)[group]
	commits, err := answer.Fetched, answer.Err
	if err != nil && !errors.Is(err, kerr.GroupIDNotFound) {
		return 0, fmt.Errorf("commits of %s: %w", group, err)
	}
	for partition, bounds := range since {
		next := all[partition].Start
		if c, ok := commits.Lookup(names.Fetched, partition); ok {
			next = max(next, c.At)
		}
		late += max(bounds.Start-next, 0)
	}
	return late, nil
}
