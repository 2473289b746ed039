package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/codecs"
	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/crawl"
	"github.com/weftcrawl/weft/inspect/progress"
	"github.com/weftcrawl/weft/internal/topiclog"
	"github.com/weftcrawl/weft/topics"
)

type rejectedCmd struct {
	reachFlags
	Stage  string        `placeholder:"STAGE" help:"Only records that this stage rejected."`
	Reason string        `placeholder:"REASON" help:"Only records with this reason, such as panic or undecodable."`
	Since  time.Duration `placeholder:"DUR" help:"Only records that were rejected in the last DUR; 0: all that are kept."`
	JSON   bool          `name:"json" help:"Print JSON lines, with the whole record in base64."`
	Replay bool          `help:"Write the records back to their topics, for example after an upgrade that can use them."`

	strangers int // records of the topic that no stage wrote
}

// refusal is a record of the topic rejected. --json writes its fields.
type refusal struct {
	Time      time.Time `json:"time"`
	Stage     string    `json:"stage"`
	Topic     string    `json:"topic"` // full name
	Partition int32     `json:"partition"`
	Offset    int64     `json:"offset"`
	Reason    string    `json:"reason"`
	Bytes     int64     `json:"bytes"` // of the value as it was
	// Whole is false when Value is only the beginning.
	Whole bool   `json:"whole"`
	Key   []byte `json:"key"`
	Value []byte `json:"value"`
}

func (c *rejectedCmd) Run(ctx context.Context, std streams) error {
	if c.Since < 0 {
		return usagef("--since %v is negative", c.Since)
	}
	if c.JSON && c.Replay {
		return usagef("--json prints records and --replay writes them back: only one of them is possible")
	}
	use := crawl.ToRead
	if c.Replay {
		use = crawl.ToWrite
	}
	open, err := c.open(ctx, std, use, topics.Loop(c.Crawl).Rejected)
	if err != nil {
		return err
	}
	defer open.close()
	switch {
	case c.Replay:
		return c.replay(ctx, open, std.out)
	case c.JSON:
		return c.lines(ctx, open, std.out)
	}
	return c.list(ctx, open, std.out)
}

// each calls visit with the records that the flags select.
func (c *rejectedCmd) each(ctx context.Context, open *openCrawl, visit func(refusal) error) error {
	reader, err := topiclog.New(open.client()...)
	if err != nil {
		return err
	}
	defer reader.Close()
	oldest := time.Time{}
	if c.Since > 0 {
		oldest = time.Now().Add(-c.Since)
	}
	return reader.Records(ctx, open.names.Rejected, func(r *kgo.Record) error {
		record, err := codecs.DecodeRejected(r.Value)
		if err != nil || !byStage(record) {
			c.strangers++
			return nil
		}
		one := refusal{
			Time: time.UnixMilli(record.AtMs).UTC(), Stage: record.Stage, Topic: record.Topic,
			Partition: record.Partition, Offset: record.Offset, Reason: record.Reason,
			Bytes: record.ValueBytes, Whole: codecs.Whole(record), Key: record.Key, Value: record.Value,
		}
		if c.Stage != "" && c.Stage != one.Stage || c.Reason != "" && c.Reason != one.Reason || one.Time.Before(oldest) {
			return nil
		}
		return visit(one)
	})
}

// byStage tells whether a stage wrote a record of the topic. Records of other programs,
// such as copies from another topic, may be records of this type by chance.
func byStage(r *weftpb.Rejected) bool {
	stages := topics.StagesOf(topics.Worker, topics.Ledger, topics.Follower, topics.Archiver, topics.Sink)
	stages = append(stages, topics.FormerWARC)
	return slices.Contains(stages, topics.Stage(r.Stage)) && isWord(r.Topic) && isWord(r.Reason)
}

// isWord tells whether a text is a name of topics or of reasons, as far as a terminal is
// concerned.
func isWord(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' })
}

func (c *rejectedCmd) lines(ctx context.Context, open *openCrawl, to io.Writer) error {
	out := bufio.NewWriter(to)
	encoder := json.NewEncoder(out)
	return errors.Join(c.each(ctx, open, func(r refusal) error { return encoder.Encode(r) }), out.Flush())
}

// list prints a table of the records in the order of time, and counts by stage and
// reason.
func (c *rejectedCmd) list(ctx context.Context, open *openCrawl, out io.Writer) error {
	var all []refusal
	total := tally{}
	err := c.each(ctx, open, func(r refusal) error {
		total[r.kind()]++
		r.Key, r.Value = nil, []byte(excerpt(r.Value))
		all = append(all, r)
		return nil
	})
	if err != nil {
		return err
	}
	slices.SortStableFunc(all, func(a, b refusal) int { return a.Time.Compare(b.Time) })
	if len(all) > 0 {
		table := progress.NewTable(out)
		table.Row("TIME (UTC)", "STAGE", "RECORD", "REASON", "SIZE", "BEGINS")
		for _, r := range all {
			table.Row(r.Time.Format(time.DateTime), r.Stage, c.place(r), r.Reason, progress.Bytes(r.Bytes), string(r.Value))
		}
		if err := table.Flush(); err != nil {
			return err
		}
	}
	if err := total.write(out, "rejected"); err != nil || c.strangers == 0 {
		return err
	}
	_, err = fmt.Fprintf(out, "%s records of the topic are skipped: another program wrote them\n", progress.Count(c.strangers))
	return err
}

// place is the topic (without the crawl's name), partition and offset of the record
// that was rejected.
func (c *rejectedCmd) place(r refusal) string {
	return fmt.Sprintf("%s/%d/%d", strings.TrimPrefix(r.Topic, c.Crawl+"."), r.Partition, r.Offset)
}

// kind is the key that refusals are counted by.
type kind struct{ stage, reason string }

func (r refusal) kind() kind { return kind{r.Stage, r.Reason} }

type tally map[kind]int

// write prints the sum and its parts, the most frequent first.
func (t tally) write(out io.Writer, what string) error {
	sum, kinds := 0, make([]kind, 0, len(t))
	for k, n := range t {
		sum += n
		kinds = append(kinds, k)
	}
	slices.SortFunc(kinds, func(a, b kind) int {
		return cmp.Or(cmp.Compare(t[b], t[a]), strings.Compare(a.stage+" "+a.reason, b.stage+" "+b.reason))
	})
	fmt.Fprintf(out, "%s %s\n", progress.Count(sum), what)
	table := progress.NewTable(out)
	for _, k := range kinds {
		table.Row("  "+progress.Count(t[k]), k.stage, k.reason)
	}
	return table.Flush()
}

// excerptRunes bounds what is shown of a record.
const excerptRunes = 60

// excerpt shows the beginning of a value. A run of characters that cannot be printed
// is one dot.
func excerpt(value []byte) string {
	var b strings.Builder
	runes, dot := 0, false
	for len(value) > 0 && runes < excerptRunes {
		r, size := utf8.DecodeRune(value)
		value = value[size:]
		if r == utf8.RuneError || r != ' ' && !unicode.IsGraphic(r) {
			dot = true
			continue
		}
		if dot {
			b.WriteByte('.')
			runes++
		}
		b.WriteRune(r)
		runes, dot = runes+1, false
	}
	return b.String()
}

// replay writes rejected records back to the topics that they came from, with their
// key and to their partition. Nothing records the replay: a second replay writes the
// records again, and stages treat them as any repeat. A record that is rejected again
// is a new record of the topic rejected.
func (c *rejectedCmd) replay(ctx context.Context, open *openCrawl, out io.Writer) error {
	names := open.names
	options := topics.DefaultProducerOptions()
	options.Manual = true // a record goes to its old partition, whatever its key is
	producer, err := topics.NewProducer(names, options, open.client()...)
	if err != nil {
		return err
	}
	defer producer.Close()
	done, refused := tally{}, map[string]int{}
	err = c.each(ctx, open, func(r refusal) error {
		if why := unreplayable(names, r); why != "" {
			refused[why]++
			return nil
		}
		record := &kgo.Record{Topic: r.Topic, Partition: r.Partition, Key: r.Key, Value: r.Value}
		if err := producer.ProduceSync(ctx, record).FirstErr(); err != nil {
			return fmt.Errorf("write %s back: %w", c.place(r), err)
		}
		done[r.kind()]++
		return nil
	})
	err = errors.Join(err, done.write(out, "replayed"))
	if err != nil || len(refused) == 0 {
		return err
	}
	var reasons []string
	for _, why := range slices.Sorted(maps.Keys(refused)) {
		reasons = append(reasons, fmt.Sprintf("%s of %s", progress.Count(refused[why]), why))
	}
	return fmt.Errorf("not replayed: %s", strings.Join(reasons, "; "))
}

// unreplayable says why a record cannot be written back; empty if it can.
func unreplayable(names topics.Names, r refusal) string {
	topic, ok := names.Topic(r.Topic)
	switch {
	case !ok:
		return r.Topic + ", which is no topic of this crawl"
	case topic.Kept == topics.Forever:
		return topic.Short + ", to which only its owner writes"
	case !r.Whole:
		return topic.Short + ", too large to be kept whole"
	}
	return ""
}
