package transfer

import (
	"github.com/weftcrawl/weft/topics"
	"github.com/weftcrawl/weft/urls"
)

// places says in which partition of the new crawl a record belongs.
type places struct {
	names      topics.Names // of the exported crawl
	partitions int32
	suffixes   *urls.Suffixes
}

// of returns the partition of a record of topic, given by its full name, that
// was in partition old. Records are placed by the domain that is their key, but
// those of parsed have the URL for one, and seeds anything or nothing.
func (p places) of(topic string, key []byte, old int32) int32 {
	switch {
	case len(key) == 0:
		return old % p.partitions
	case topic == p.names.Parsed:
		if u, refusal := urls.Parse(string(key)); refusal == urls.Accepted {
			return topics.Partition(p.suffixes.Domain(u.Hostname()), p.partitions)
		}
		return old % p.partitions
	}
	return topics.Partition(string(key), p.partitions)
}
