package topics

import "strconv"

// Kept says how long the records of a topic stay.
type Kept int

const (
	// Whole is for ever: the topic is a table, or the crawl's definition.
	Whole Kept = iota + 1
	// Consumed is until every stage that reads it has committed it.
	Consumed
	// Yours is for ever by default, and the user's to change.
	Yours
	// Days is a week.
	Days
)

// Topic describes one topic of the loop.
type Topic struct {
	// Name with the crawl's prefix, and without.
	Name, Short string
	// Record and Key say in words what a record is and what places it.
	Record, Key string
	// WrittenBy names the stages, or the people, that write it.
	WrittenBy string
	Kept      Kept
	// Single topics have one partition whatever the crawl's number is.
	Single bool
	// MaxMessageBytes is the largest record batch, max.message.bytes.
	MaxMessageBytes int32
	// SegmentBytes is the size at which a log rolls, segment.bytes; 0 leaves it
	// to the brokers. It is small where a janitor trims, since trimming frees
	// whole segments only, but never below MaxMessageBytes: Kafka refuses a batch
	// that is larger than a segment.
	SegmentBytes int32
}

const mib = 1 << 20

// Topics returns the loop, in its order.
func (n Names) Topics() []Topic {
	return []Topic{
		{
			Name: n.Config, Short: "config",
			Record:    "the crawl's definition: partitions, scope, delays, public suffix list; or what is asked of it: pause, drain, stop",
			Key:       "none; \"control\" for what is asked",
			WrittenBy: "weft topics create, weft crawl; weft pause, resume, stop",
			Kept:      Whole, Single: true,
			MaxMessageBytes: mib,
		},
		{
			Name: n.Seeds, Short: "seeds",
			Record:    "a URL: plain text or JSON with options",
			Key:       "any",
			WrittenBy: "users, with any client and any partitioner",
			Kept:      Consumed,
			// A client that batches lines for itself may send large records.
			MaxMessageBytes: 4 * mib, SegmentBytes: 8 * mib,
		},
		{
			Name: n.Discovered, Short: "discovered",
			Record:    "what one exchange names: outlinks, a redirect's target, sitemap entries",
			Key:       "domain of the source page",
			WrittenBy: "parse",
			Kept:      Consumed,
			// A sitemap or a link farm of 10 MiB, spread over records by parse.
			MaxMessageBytes: 4 * mib, SegmentBytes: 8 * mib,
		},
		{
			Name: n.Normalized, Short: "normalized",
			Record:    "canonical URLs that one page, or one batch of seeds, names in one domain",
			Key:       "domain of the URLs",
			WrittenBy: "normalize",
			Kept:      Consumed,
			// 200 URLs or 64 KiB a record.
			MaxMessageBytes: mib, SegmentBytes: 8 * mib,
		},
		{
			Name: n.Deduped, Short: "deduped",
			Record:    "the URLs of one domain never seen before",
			Key:       "domain",
			WrittenBy: "dedupe",
			Kept:      Whole,
			// Events stay under 512 KiB by construction.
			MaxMessageBytes: mib,
		},
		{
			Name: n.Scheduled, Short: "scheduled",
			Record:    "what the scheduler decided for one domain: admitted, released, settled",
			Key:       "domain; none when only gauges and positions move",
			WrittenBy: "schedule",
			Kept:      Whole,
			// Events stay under 512 KiB by construction; robots rules, at most
			// 500 KiB, travel alone.
			MaxMessageBytes: mib,
		},
		{
			Name: n.Fetched, Short: "fetched",
			Record:    "one HTTP exchange with its body",
			Key:       "domain",
			WrittenBy: "fetch",
			Kept:      Consumed,
			// A body is at most 10 MiB, decoded.
			MaxMessageBytes: 16 * mib, SegmentBytes: 16 * mib,
		},
		{
			Name: n.Visited, Short: "visited",
			Record:    "the outcomes of one visit, without bodies; robots rules when they changed",
			Key:       "domain",
			WrittenBy: "fetch",
			Kept:      Consumed,
			// Robots rules of at most 500 KiB, and their sitemaps.
			MaxMessageBytes: 2 * mib, SegmentBytes: 8 * mib,
		},
		{
			Name: n.Parsed, Short: "parsed",
			Record:    "one page as JSON: text, title, metadata, links",
			Key:       "URL, placed by its domain",
			WrittenBy: "parse",
			Kept:      Yours,
			// The text and the links of a body of 10 MiB.
			MaxMessageBytes: 16 * mib,
		},
		{
			Name: n.Rejected, Short: "rejected",
			Record:    "a record that a stage could not use, with stage, offset, reason",
			Key:       "that record's own",
			WrittenBy: "every stage",
			Kept:      Days,
			// The record itself, cut at 15 MiB (codecs.RejectedValueBytes).
			MaxMessageBytes: 16 * mib,
		},
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

// rejectedDays is how long rejected records are kept.
const rejectedDays = 7

// partitions of the topic in a crawl of n.
func (t Topic) partitions(n int32) int32 {
	if t.Single {
		return min(n, 1)
	}
	return n
}

// Configs returns the topic's configuration, by Kafka's names, when it has so
// many copies; -1 leaves that to the brokers, and how many must have a record
// too.
func (t Topic) Configs(replication int16) map[string]string {
	retention := int64(-1)
	if t.Kept == Days {
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

// insync returns that number: two of three or more, so that what is acknowledged
// survives a broker and nothing waits while one is away. Of two copies one has to
// do: with both, each broker that goes away would stop the crawl.
func insync(replication int16) int {
	if replication >= 3 {
		return 2
	}
	return 1
}
