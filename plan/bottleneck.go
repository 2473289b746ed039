package plan

import (
	"cmp"
	"fmt"
	"slices"
)

// bottlenecks are politeness, if it forbids the crawl, and then whatever asks for
// machines, the most first, each with what takes most of it.
func (w work) bottlenecks(p Plan) []Bottleneck {
	stage, cores := share(p.Stages, func(part Part) (string, float64) { return part.Stage, part.Cores })
	hungry, memory := share(p.Stages, func(part Part) (string, float64) { return part.Stage, part.Memory })
	store, stored := share(p.Stores, func(s Store) (string, float64) { return s.Stage, s.Disk })
	log, kept := share(p.Topics, func(l Log) (string, float64) { return l.Topic, l.Disk })
	busy, written := share(p.Topics, func(l Log) (string, float64) { return l.Topic, l.Bytes })
	web := p.Network.FromWeb / (p.Network.FromWeb + p.Network.FromBrokers) * 100
	all := []Bottleneck{
		{"CPU of the stages", fmt.Sprintf("%s takes %.0f %% of it", stage, cores), p.Workers.CPU},
		{"memory of the stages", fmt.Sprintf("%s takes %.0f %% of it", hungry, memory), p.Workers.Memory},
		{"disk of the stages", fmt.Sprintf("the store of %s takes %.0f %% of it", store, stored), p.Workers.Disk},
		{"network of the stages", fmt.Sprintf("%.0f %% of what comes in is from the web, the rest from brokers", web), p.Workers.Network},
		{"CPU of the brokers", fmt.Sprintf("%d copies of each record", w.c.Replication), p.Brokers.CPU},
		{"disk of the brokers", fmt.Sprintf("%s takes %.0f %% of it", log, kept), p.Brokers.Disk},
		{"network of the brokers", fmt.Sprintf("%s is %.0f %% of it", busy, written), p.Brokers.Network},
	}
	slices.SortStableFunc(all, func(a, b Bottleneck) int { return cmp.Compare(b.Machines, a.Machines) })
	if polite := p.Politeness; !polite.Possible {
		why := fmt.Sprintf("the largest domain takes %.3g days of the %.3g", polite.DaysNeeded, w.c.Days)
		all = append([]Bottleneck{{What: "politeness", Why: why}}, all...)
	}
	return all
}

// share is the item that has most of a sum, and how much of it, per cent.
func share[T any](items []T, of func(T) (string, float64)) (name string, percent float64) {
	var most, sum float64
	for _, item := range items {
		n, v := of(item)
		if sum += v; v > most {
			name, most = n, v
		}
	}
	return name, 100 * most / max(sum, 1e-9)
}
