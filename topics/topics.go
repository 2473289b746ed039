package topics

import "strconv"

// Kept says how long the records of a topic stay.
type Kept int

const (
	// Forever is how long a record stays whose topic is a table, or the crawl's definition.
	Forever Kept = iota + 1
	// UntilConsumed is until all stages that read the topic have committed the record.
	UntilConsumed
	// UserDefined is forever, unless the user changes that.
	UserDefined
	// OneWeek is seven days.
	OneWeek
)

// Topic describes one topic of the loop.
type Topic struct {
	// Name with the crawl's prefix, and without.
	Name, Short string
	Kept        Kept
	// Single topics have one partition whatever the crawl's number is.
	Single bool
	// MaxMessageBytes is the largest record batch, max.message.bytes.
	MaxMessageBytes int32
	// SegmentBytes is the size at which a log begins a new segment, segment.bytes;
	// 0 leaves it to the brokers. It is small where a janitor trims, because trimming
	// frees whole segments only. It is never below MaxMessageBytes, because Kafka
	// refuses a batch that is larger than a segment.
	SegmentBytes int32
}

const mib = 1 << 20

// Topics returns the loop, in its order.
func (n Names) Topics() []Topic {
	return []Topic{
		{Name: n.Config, Short: "config", Kept: Forever, Single: true, MaxMessageBytes: mib},
		// A client that joins many lines may send large records.
		{Name: n.Seeds, Short: "seeds", Kept: UntilConsumed, MaxMessageBytes: 4 * mib, SegmentBytes: 8 * mib},
		// A sitemap or a link farm of 10 MiB, spread over records by parse.
		{Name: n.Discovered, Short: "discovered", Kept: UntilConsumed, MaxMessageBytes: 4 * mib, SegmentBytes: 8 * mib},
		// A record has at most 200 URLs, or 64 KiB.
		{Name: n.Normalized, Short: "normalized", Kept: UntilConsumed, MaxMessageBytes: mib, SegmentBytes: 8 * mib},
		// Events stay under 512 KiB by construction; robots rules, at most 500 KiB, have an event
		// of their own.
		{Name: n.Deduped, Short: "deduped", Kept: Forever, MaxMessageBytes: mib},
		{Name: n.Scheduled, Short: "scheduled", Kept: Forever, MaxMessageBytes: mib},
		// A body in a record has at most LargestInRecord, decoded.
		{Name: n.Fetched, Short: "fetched", Kept: UntilConsumed, MaxMessageBytes: 16 * mib, SegmentBytes: 16 * mib},
		// Robots rules of at most 500 KiB, and their sitemaps.
		{Name: n.Visited, Short: "visited", Kept: UntilConsumed, MaxMessageBytes: 2 * mib, SegmentBytes: 8 * mib},
		// The text and the links of a body of 10 MiB.
		{Name: n.Parsed, Short: "parsed", Kept: UserDefined, MaxMessageBytes: 16 * mib},
		// The record itself, cut at 15 MiB (codecs.RejectedValueBytes).
		{Name: n.Rejected, Short: "rejected", Kept: OneWeek, MaxMessageBytes: 16 * mib},
	}
}

// Topic returns the topic of that full name.
func (n Names) Topic(name string) (Topic, bool) {
	for _, t := range n.Topics() {
		if t.Name == name {
			return t, true
		}
	}
	return Topic{}, false
}

func namesOf(ts []Topic) (names []string) {
	for _, t := range ts {
		names = append(names, t.Name)
	}
	return names
}

// rejectedDays is how long rejected records are kept.
const rejectedDays = 7

// partitions is how many the topic has in a crawl of n.
func (t Topic) partitions(n int32) int32 {
	if t.Single {
		return min(n, 1)
	}
	return n
}

// Configs returns the topic's configuration by Kafka's names. replication is the
// number of copies; -1 leaves it, and the number that must have a record, to the
// brokers.
func (t Topic) Configs(replication int16) map[string]string {
	retention := int64(-1)
	if t.Kept == OneWeek {
		retention = rejectedDays * 24 * 60 * 60 * 1000
	}
	configs := map[string]string{
		"cleanup.policy":    "delete",
		"retention.ms":      strconv.FormatInt(retention, 10),
		"retention.bytes":   "-1",
		"max.message.bytes": strconv.Itoa(int(t.MaxMessageBytes)),
	}
	if t.SegmentBytes > 0 {
		configs["segment.bytes"] = strconv.Itoa(int(t.SegmentBytes))
	}
	if replication > 0 {
		configs[minInsync] = strconv.Itoa(insync(replication))
	}
	return configs
}

// minInsync is the number of copies that must have a record before it is
// acknowledged.
const minInsync = "min.insync.replicas"

// insync returns that number. It is two of three or more, so that acknowledged
// records survive the loss of a broker, and no writer waits while one is away. Of two
// copies it is one: with two, each broker that is away would stop the crawl.
func insync(replication int16) int {
	if replication >= 3 {
		return 2
	}
	return 1
}
