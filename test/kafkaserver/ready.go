package kafkaserver

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// readyTimeout is how long brokers may take to become a cluster. On a busy
// machine a start of one takes ten seconds.
const readyTimeout = 90 * time.Second

// ready waits until a node says that it and all others that run are brokers of
// the cluster, and takes connections of clients.
func (c *Cluster) ready(n *node) error {
	ctx, cancel := context.WithTimeout(context.Background(), readyTimeout)
	defer cancel()
	client, err := kgo.NewClient(kgo.SeedBrokers(n.addrs[inside]))
	if err != nil {
		return err
	}
	defer client.Close()
	for {
		err := c.ask(ctx, client)
		for _, l := range c.opts.Listeners {
			if err == nil {
				err = n.process.Listens(ctx, n.addrs[l.Name])
			}
		}
		if err == nil {
			return nil
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-n.process.Ended:
			return fmt.Errorf("broker %d has ended by itself", n.id)
		case <-ctx.Done():
			return fmt.Errorf("broker %d is not ready after %v: %w", n.id, readyTimeout, err)
		}
	}
}

// ask asks the one broker that client knows who is there.
func (c *Cluster) ask(ctx context.Context, client *kgo.Client) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	request := kmsg.NewPtrMetadataRequest()
	request.Topics = []kmsg.MetadataRequestTopic{} // none; nil would be all
	response, err := client.SeedBrokers()[0].Request(ctx, request)
	if err != nil {
		return err
	}
	for _, n := range c.nodes {
		there := slices.ContainsFunc(response.(*kmsg.MetadataResponse).Brokers, func(b kmsg.MetadataResponseBroker) bool { return b.NodeID == n.id })
		if n.running() && !there {
			return fmt.Errorf("broker %d is not in the cluster", n.id)
		}
	}
	return nil
}
