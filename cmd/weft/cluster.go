package main

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// answerTimeout bounds an answer of a cluster that has answered before.
const answerTimeout = 10 * time.Second

// admin connects to the cluster and makes sure that it answers.
func (f clusterFlags) admin(ctx context.Context) (*kadm.Client, error) {
	if err := f.access().Ping(ctx); err != nil {
		return nil, err
	}
	client, err := kgo.NewClient(f.client()...)
	if err != nil {
		return nil, fmt.Errorf("connect to %v: %w", f.Brokers, err)
	}
	return kadm.NewClient(client), nil
}

// exists is an error of usage unless the topic exists.
func (f clusterFlags) exists(ctx context.Context, topic string) error {
	admin, err := f.admin(ctx)
	if err != nil {
		return err
	}
	defer admin.Close()
	return existsIn(ctx, admin, topic)
}

// existsIn is exists for who is connected.
func existsIn(ctx context.Context, admin *kadm.Client, topic string) error {
	listed, err := admin.ListTopics(ctx, topic)
	if err != nil {
		return fmt.Errorf("list topic %s: %w", topic, err)
	}
	if !listed.Has(topic) {
		return usagef("there is no topic %s: the crawl is begun by weft crawl, or weft topics create", topic)
	}
	return nil
}
