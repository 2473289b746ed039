package plan

import (
	"math"
	"slices"

	"github.com/weftcrawl/weft/internal/politeness"
	"github.com/weftcrawl/weft/processors/fetch/hostqueue"
	"github.com/weftcrawl/weft/processors/schedule/frontier"
)

// The assumptions; see the package's comment.
const (
	wireShare      = 0.25    // of a body's bytes travel from the web
	storeSlack     = 2       // a store while it compacts
	backlog        = 10 * 60 // seconds until records are consumed
	largeBody      = 3 << 20 // bytes of a body in the object store
	shares         = 2       // partitions of each process and machine, so that shares are even
	requestBytes   = 500     // of a request to the web
	sessionTimeout = 10.0    // seconds, of `weft run`
	checkpoints    = 30.0    // seconds between two checkpoints of a partition, see ledger
	keptObjects    = 2       // checkpoints of each partition in the object store
	indexMemory    = 44      // bytes for each page in the index of duplicates, see there
)

// For computes the plan of a crawl. Both arguments must be valid.
func For(c Crawl, m Model) Plan {
	w := work{c: c, m: m, total: c.total()}
	w.rate = w.total.Times(1 / c.seconds())
	p := Plan{
		Crawl: c, Rate: w.rate.Pages, Requests: w.rate.Pages + w.rate.Domains, URLs: float64(c.Pages) * c.Known,
		Politeness: w.politeness(),
		Topics:     w.topics(),
	}
	for _, name := range stores {
		p.Stores = append(p.Stores, Store{name, m.Stores[name].Of(c.state()) * storeSlack})
	}
	p.Network = w.network(p.Topics)
	for _, name := range stages {
		p.Stages = append(p.Stages, w.stage(name, p.Stores))
	}
	p.Workers, p.Brokers = w.workers(p), w.brokers(p)
	p.Partitions, p.PartitionsWhy = w.partitions(p)
	p.Objects = Objects{
		Checkpoints: keptObjects * checkpoint(p),
		BodiesRate:  w.rate.Pages * c.LargeShare * largeBody,
	}
	p.Objects.Bodies = p.Objects.BodiesRate * backlog
	p.Recovery = w.recovery(p)
	p.Bottlenecks = w.bottlenecks(p)
	return p
}

// work is the computation of a plan.
type work struct {
	c     Crawl
	m     Model
	total Load
	rate  Load // per second
}

// politeness compares the rate with the rate that the domains permit: each domain gets a request
// per interval, and the crawl lasts as long as its largest domain.
func (w work) politeness() Polite {
	domains, interval := float64(w.c.Domains), w.c.interval()
	requests := w.total.Pages + w.total.Domains
	share := w.total.Pages / requests // the rest is robots.txt
	largest := max(float64(w.c.LargestDomain), w.total.Pages/domains)
	p := Polite{
		Most:       domains / interval * share,
		DaysNeeded: (largest + w.c.robots(largest)) * interval / secondsOfDay,
	}
	// More domains have more robots.txt: the time after these requests is for pages.
	if left := w.c.seconds() - max(1, w.c.Days)*interval; left > 0 {
		p.DomainsNeeded = int64(whole(w.total.Pages * interval / left))
	}
	p.Possible = p.DaysNeeded <= w.c.Days
	return p
}

// topics are the logs, with their largest sizes.
func (w work) topics() (logs []Log) {
	for _, name := range loop {
		t := w.m.Topics[name]
		log := Log{Topic: name, Records: t.Records.Of(w.rate), Bytes: t.Bytes.Of(w.rate), Kept: "until consumed"}
		held := min(backlog, w.c.seconds()) * log.Bytes
		switch name {
		case "deduped", "scheduled":
			log.Kept, held = "whole", t.Bytes.Of(w.total)
		case "parsed":
			log.Kept, held = "as you say", min(w.c.RetentionDays, w.c.Days)*secondsOfDay*log.Bytes
		}
		log.Disk = held * float64(w.c.Replication)
		logs = append(logs, log)
	}
	return logs
}

// network counts each record once to its broker, once to each further copy, and
// once to its reader.
func (w work) network(logs []Log) Network {
	n := Network{FromWeb: w.rate.KiB * 1024 * wireShare}
	for _, log := range logs {
		n.ToBrokers += log.Bytes
	}
	n.FromBrokers = n.ToBrokers
	n.Replicas = n.ToBrokers * float64(w.c.Replication-1)
	return n
}

// stage is the part of a stage: its work and the work of its idle processes. The number of
// processes follows from its cores, its open requests, and the part of its state that fits on
// one machine.
func (w work) stage(name string, stores []Store) Part {
	c, s := w.c, w.m.Stages[name]
	busy, memory, disk, open := s.CPU.Of(w.rate), 0.0, 0.0, 0.0
	switch name {
	case "fetch":
		// A connection for each visit, and one for each robots.txt.
		visits := w.rate.Pages/float64(politeness.VisitSize(c.Delay)) + w.rate.Domains
		busy += visits*w.m.TLS.Handshake + w.rate.KiB*wireShare*w.m.TLS.KiB
		open = (w.rate.Pages + w.rate.Domains) * c.Response.Seconds()
	case "dedupe":
		memory = float64(c.Pages) * c.Known * w.m.BloomBits / 8
	case "parse":
		memory = float64(c.Pages) * indexMemory
	}
	for _, store := range stores {
		if store.Stage == name {
			disk = store.Disk
		}
	}
	part := Part{Stage: name, Cores: busy / 1e6}
	part.Processes = max(w.least(), whole(max(
		part.Cores/float64(c.ProcessCores),
		open/float64(hostqueue.Defaults().Slots),
		memory/float64(c.Memory),
		disk/float64(c.Disk),
	)/c.Load))
	part.Cores += s.Idle * float64(part.Processes)
	part.Memory = s.PeakMiB*(1<<20)*float64(part.Processes) + memory
	return part
}

// least is the minimum number of machines: a crawl with copies of records should survive the loss
// of a machine.
func (w work) least() int { return min(w.c.Replication, 2) }

// partitions is the largest required number, rounded up to a power of two or one and a half times
// one, which many processes can share evenly; and the reason for it.
func (w work) partitions(p Plan) (n int, why string) {
	asked := 1.0
	ask := func(partitions float64, reason string) {
		if partitions = min(partitions, most); partitions > asked {
			asked, why = partitions, reason
		}
	}
	visits := w.rate.Pages * w.c.interval() // that are out at once, one of a domain
	ask(visits/w.c.Load/float64(frontier.DefaultOptions().Window), "for the visits that are out at once")
	for _, part := range p.Stages {
		ask(float64(shares*part.Processes), "for even shares of the processes of "+part.Stage)
		if slices.Contains(ledgers, part.Stage) {
			ask(part.Cores/w.c.Load, "since "+part.Stage+" works on each with one core")
		}
	}
	ask(float64(shares*p.Workers.Count), "for even shares of the machines of stages")
	ask(float64(shares*p.Brokers.Count), "for even shares of the brokers")
	for n = 1; float64(n) < asked; n *= 2 {
		if half := n + n/2; float64(half) >= asked {
			return half, why
		}
	}
	return n, why
}

// workers are the machines of the stages.
func (w work) workers(p Plan) Machines {
	var cores, memory float64
	for _, part := range p.Stages {
		cores += part.Cores
		memory += part.Memory
	}
	in := p.Network.FromWeb + p.Network.FromBrokers
	for _, log := range p.Topics {
		if log.Topic == "parsed" {
			in -= log.Bytes // which others read
		}
	}
	out := p.Network.ToBrokers + p.Requests*requestBytes
	return w.machines(w.least(), cores, memory, storesDisk(p), max(in, out))
}

// brokers are the machines of the cluster. Their memory is for the page cache.
func (w work) brokers(p Plan) Machines {
	disk := 0.0
	for _, log := range p.Topics {
		disk += log.Disk
	}
	in := p.Network.ToBrokers + p.Network.Replicas
	out := p.Network.FromBrokers + p.Network.Replicas
	return w.machines(w.c.Replication, w.m.BrokerCPU.Of(w.rate)/1e6*float64(w.c.Replication), 0, disk, max(in, out))
}

// machines for these resources; network is bytes per second in one direction.
func (w work) machines(least int, cores, memory, disk, network float64) Machines {
	m := Machines{
		CPU:     cores / w.c.Load / float64(w.c.Cores),
		Memory:  memory / w.c.Load / float64(w.c.Memory),
		Disk:    disk / w.c.Load / float64(w.c.Disk),
		Network: network * 8 / w.c.Load / float64(w.c.Network),
	}
	m.Count = max(least, whole(max(m.CPU, m.Memory, m.Disk, m.Network)))
	return m
}

func storesDisk(p Plan) (disk float64) {
	for _, s := range p.Stores {
		disk += s.Disk
	}
	return disk
}

// checkpoint is the size of one checkpoint of each partition. The index of duplicates has no
// checkpoints.
func checkpoint(p Plan) (bytes float64) {
	for _, s := range p.Stores {
		if slices.Contains(ledgers, s.Stage) {
			bytes += s.Disk / storeSlack
		}
	}
	return bytes
}

// most is the largest number of machines, processes or partitions in a plan.
const most = 1e15

// whole rounds up.
func whole(v float64) int { return int(math.Ceil(min(v, most))) }
