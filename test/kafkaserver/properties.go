package kafkaserver

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

func (c *Cluster) properties(n *node) string {
	var voters, listeners, protocols []string
	for _, v := range c.nodes {
		voters = append(voters, fmt.Sprintf("%d@%s", v.id, v.addrs[controller]))
	}
	advertised := []string{}
	for _, l := range c.opts.listeners() {
		at := l.Name + "://" + n.addrs[l.Name]
		listeners = append(listeners, at)
		protocols = append(protocols, l.Name+":"+l.Protocol)
		if l.Name != controller {
			advertised = append(advertised, at)
		}
	}
	replicas, insync := "1", "1"
	if c.opts.Brokers > 1 {
		replicas, insync = "3", "2"
	}
	all := map[string]string{
		"process.roles":                  "broker,controller",
		"node.id":                        strconv.Itoa(int(n.id)),
		"controller.quorum.voters":       strings.Join(voters, ","),
		"controller.listener.names":      controller,
		"listeners":                      strings.Join(listeners, ","),
		"advertised.listeners":           strings.Join(advertised, ","),
		"listener.security.protocol.map": strings.Join(protocols, ","),
		"inter.broker.listener.name":     inside,
		"super.users":                    "User:ANONYMOUS",
		"log.dirs":                       n.data(),

		"auto.create.topics.enable":                "false",
		"default.replication.factor":               replicas,
		"min.insync.replicas":                      insync,
		"offsets.topic.replication.factor":         replicas,
		"transaction.state.log.replication.factor": replicas,
		"transaction.state.log.min.isr":            insync,

		// Quick to start, quick to form groups, quick to notice.
		"offsets.topic.num.partitions":         "4",
		"transaction.state.log.num.partitions": "1",
		"group.initial.rebalance.delay.ms":     "0",
		"broker.heartbeat.interval.ms":         "500",
		"broker.session.timeout.ms":            "3000",

		// Small.
		"num.network.threads":            "2",
		"num.io.threads":                 "4",
		"log.cleaner.dedupe.buffer.size": "4194304",
	}
	maps.Copy(all, c.opts.Properties)
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(all)) {
		fmt.Fprintf(&text, "%s=%s\n", name, all[name])
	}
	return text.String()
}
