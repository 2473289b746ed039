package transfer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/internal/supervise"
	"github.com/weftcrawl/weft/topics"
)

// ErrExists means that the name of the new crawl is taken.
var ErrExists = errors.New("there is a crawl of that name, or the remains of one")

// ErrHalf means that an import into these topics was interrupted.
var ErrHalf = errors.New("an earlier import was interrupted: import with --again, which deletes what it wrote")

// target is where the new crawl is made.
type target struct {
	names  topics.Names
	admin  *kadm.Client
	client []kgo.Opt
}

// prepare makes the empty topics of the crawl that d defines.
func (t target) prepare(ctx context.Context, d topics.Definition, replication int16, again bool) error {
	if err := idle(ctx, t.admin, t.names); err != nil {
		return err
	}
	switch _, err := topics.ReadDefinition(ctx, t.names, t.client...); {
	case err == nil:
		return fmt.Errorf("%w: %s is defined", ErrExists, t.names.Config)
	case errors.Is(err, topics.ErrImporting):
		if !again {
			return ErrHalf
		}
		if err := t.remove(ctx); err != nil {
			return err
		}
	case !errors.Is(err, topics.ErrUndefined):
		return err
	}
	if err := t.empty(ctx); err != nil {
		return err
	}
	if err := t.forget(ctx); err != nil {
		return err
	}
	spec := topics.Spec{Crawl: d.Crawl, Partitions: d.Partitions, Replication: cmp.Or(replication, -1)}
	if _, err := topics.Create(ctx, t.admin, spec); err != nil {
		return err
	}
	return topics.Check(ctx, t.admin, t.names, d.Partitions)
}

// existing are the topics of the crawl that exist.
func (t target) existing(ctx context.Context) ([]string, error) {
	var all []string
	for _, topic := range t.names.Topics() {
		all = append(all, topic.Name)
	}
	// With authorised operations, because kadm answers from a cache without.
	listed, err := t.admin.ListTopics(kadm.WithAuthorizedOps(ctx), all...)
	if err != nil {
		return nil, fmt.Errorf("list topics of %s: %w", t.names.Crawl, err)
	}
	return slices.DeleteFunc(all, func(name string) bool { return !listed.Has(name) }), nil
}

// empty makes sure that the crawl's topics were never written to.
func (t target) empty(ctx context.Context) error {
	names, err := t.existing(ctx)
	if err != nil || len(names) == 0 {
		return err
	}
	ends, err := t.admin.ListEndOffsets(ctx, names...)
	if err == nil {
		err = ends.Error()
	}
	if err != nil {
		return fmt.Errorf("ends of the topics of %s: %w", t.names.Crawl, err)
	}
	ends.Each(func(o kadm.ListedOffset) {
		if o.Offset > 0 {
			err = fmt.Errorf("%w: %s/%d holds records", ErrExists, o.Topic, o.Partition)
		}
	})
	return err
}

// remove deletes the topics of an interrupted import, and waits until they are gone.
func (t target) remove(ctx context.Context) error {
	names, err := t.existing(ctx)
	if err != nil {
		return err
	}
	// Config is last: if this is interrupted, the rest is still a half import.
	for _, name := range slices.Backward(names) {
		if _, err := t.admin.DeleteTopic(ctx, name); err != nil && !errors.Is(err, kerr.UnknownTopicOrPartition) {
			return fmt.Errorf("delete topic %s: %w", name, err)
		}
	}
	err = supervise.Until(ctx, 50*time.Millisecond, func() (bool, error) {
		names, err = t.existing(ctx)
		return len(names) == 0, err
	})
	if err != nil {
		return fmt.Errorf("wait for topics to be deleted: %w", err)
	}
	return nil
}

// forget deletes the groups of the crawl's name. Their commits are for topics that are
// gone.
func (t target) forget(ctx context.Context) error {
	for _, s := range stages() {
		group := t.names.Group(s)
		err := retryCoordinator(ctx, func() error {
			_, err := t.admin.DeleteGroup(ctx, group)
			return err
		})
		if err != nil && !errors.Is(err, kerr.GroupIDNotFound) {
			return fmt.Errorf("delete group %s: %w", group, err)
		}
	}
	return nil
}

// commit commits the offsets at which a stage goes on.
func (t target) commit(ctx context.Context, s topics.Stage, offsets kadm.Offsets) error {
	if len(offsets) == 0 {
		return nil
	}
	err := retryCoordinator(ctx, func() error { return t.admin.CommitAllOffsets(ctx, t.names.Group(s), offsets) })
	if err != nil {
		return fmt.Errorf("commit for group %s: %w", t.names.Group(s), err)
	}
	return nil
}
