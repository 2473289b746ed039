package plan

import (
	"cmp"
	"fmt"
	"slices"
)

// Plan is the resources of a crawl. Sizes are in bytes, rates are per second, and machines may be
// fractions unless their type is an integer.
type Plan struct {
	Crawl Crawl `json:"crawl"`
	// Rate is pages per second; Requests also counts robots.txt.
	Rate     float64 `json:"pages_per_second"`
	Requests float64 `json:"requests_per_second"`
	// URLs that are known at the end.
	URLs       float64 `json:"urls"`
	Politeness Polite  `json:"politeness"`
	// Partitions of the crawl, and the reason for their number; empty: the minimum.
	Partitions    int      `json:"partitions"`
	PartitionsWhy string   `json:"partitions_why"`
	Stages        []Part   `json:"stages"`
	Workers       Machines `json:"workers"`
	Brokers       Machines `json:"brokers"`
	Topics        []Log    `json:"topics"`
	Stores        []Store  `json:"stores"`
	Network       Network  `json:"network"`
	Objects       Objects  `json:"objects"`
	Recovery      Recovery `json:"recovery"`
	// Bottlenecks are the resources that limit the plan; the first one decides.
	Bottlenecks []Bottleneck `json:"bottlenecks"`
}

// Polite says whether politeness permits the pages in the time.
type Polite struct {
	Possible bool `json:"possible"`
	// Most is the pages per second that the domains permit.
	Most float64 `json:"most_pages_per_second"`
	// DomainsNeeded is the number of domains of equal size that permits the rate; 0: no
	// number does, because one robots.txt takes longer. DaysNeeded is the minimum time of
	// the crawl with its domains.
	DomainsNeeded int64   `json:"domains_needed"`
	DaysNeeded    float64 `json:"days_needed"`
}

// Part is a stage's part of the work.
type Part struct {
	Stage     string  `json:"stage"`
	Cores     float64 `json:"cores"` // busy, in the mean
	Processes int     `json:"processes"`
	Memory    float64 `json:"memory"` // of all its processes
}

// Machines of one kind: the number that each resource requires, and the number that is needed.
type Machines struct {
	CPU     float64 `json:"cpu"`
	Memory  float64 `json:"memory"`
	Disk    float64 `json:"disk"`
	Network float64 `json:"network"`
	Count   int     `json:"count"`
}

// Log is a topic.
type Log struct {
	Topic   string  `json:"topic"`
	Records float64 `json:"records_per_second"`
	Bytes   float64 `json:"bytes_per_second"`
	Kept    string  `json:"kept"`
	Disk    float64 `json:"disk"` // of all copies
}

// Store is the state of a stage on the disks of its machines.
type Store struct {
	Stage string  `json:"stage"`
	Disk  float64 `json:"disk"`
}

// Network is bytes per second, of all machines together.
type Network struct {
	FromWeb     float64 `json:"from_web"`
	ToBrokers   float64 `json:"to_brokers"`
	FromBrokers float64 `json:"from_brokers"`
	Replicas    float64 `json:"between_brokers"`
}

// Objects is the data in the object store: two checkpoints of each partition, and large bodies that
// are not parsed yet.
type Objects struct {
	Checkpoints float64 `json:"checkpoints"`
	Bodies      float64 `json:"bodies"`
	BodiesRate  float64 `json:"bodies_per_second"`
}

// Recovery is the effect of a lost machine that a new one replaces: the seconds without requests to
// its domains, and the seconds without parsing of its partitions' pages.
type Recovery struct {
	WithCheckpoints    float64 `json:"with_checkpoints_s"`
	WithoutCheckpoints float64 `json:"without_checkpoints_s"`
	Pages              float64 `json:"pages_s"`
}

// Bottleneck is a resource, with the number of machines that it requires by itself. The number is 0
// for politeness.
type Bottleneck struct {
	What     string  `json:"what"`
	Why      string  `json:"why"`
	Machines float64 `json:"machines"`
}

// recovery is the session time-out, after which others get the partitions of a lost machine, and then
// either the download of their checkpoints and a replay of the later events, or a replay of all
// events. Pages wait until parse has read parsed, at the rate of the network.
func (w work) recovery(p Plan) Recovery {
	var logs, pages, replay, replayRate float64
	for _, name := range ledgers {
		replay += w.m.Replay[name].Of(w.total)
		replayRate += w.m.Replay[name].Of(w.rate)
	}
	for _, log := range p.Topics {
		switch bytes := log.Disk / float64(w.c.Replication); {
		case log.Kept == "whole":
			logs += bytes
		case log.Topic == "parsed":
			pages = bytes
		}
	}
	machines := float64(p.Workers.Count)
	// One core folds a partition.
	cores := max(1, min(float64(w.c.Cores), float64(p.Partitions)/machines))
	wire := float64(w.c.Network) / 8 * w.c.Load
	took := func(bytes, cpu float64) float64 {
		return sessionTimeout + bytes/machines/wire + cpu/1e6/machines/cores
	}
	// The time of two checkpoints: one is made while the previous one is sent.
	since := min(2*checkpoints, w.c.seconds())
	without := took(logs, replay)
	return Recovery{
		WithCheckpoints:    min(took(checkpoint(p), replayRate*since), without),
		WithoutCheckpoints: without,
		Pages:              took(pages, 0),
	}
}

// bottlenecks are politeness, if it forbids the crawl, and then the resources by the number of machines
// that they require, each with its largest part.
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

// share is the largest item of a sum, and its part in per cent.
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
