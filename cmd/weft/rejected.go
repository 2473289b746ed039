package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/codecs"
	"github.com/weftcrawl/weft/progress"
	"github.com/weftcrawl/weft/replay"
	"github.com/weftcrawl/weft/topics"
)

type rejectedCmd struct {
	reachFlags
	Stage  string        `placeholder:"STAGE" help:"Only what this stage rejected."`
	Reason string        `placeholder:"REASON" help:"Only what was rejected for this reason, such as panic or undecodable."`
	Since  time.Duration `placeholder:"DUR" help:"Only what was rejected in the last DUR; 0: all that is kept."`
	JSON   bool          `name:"json" help:"Print JSON lines, with the whole record in base64."`
	Replay bool          `help:"Write the records back to the topics that they came from, for a program that can use them."`

	strangers int // records of the topic that no stage wrote
}

// refusal is a record of the topic rejected. Its fields are those of --json.
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

// Run is called by kong.
func (c *rejectedCmd) Run(ctx context.Context, std streams) error {
	if c.Since < 0 {
		return usagef("--since %v is negative", c.Since)
	}
	if c.JSON && c.Replay {
		return usagef("--json prints records and --replay writes them back: one at a time")
	}
	reach := func(ctx context.Context) (func(), error) { return c.look(ctx, std) }
	if c.Replay {
		reach = c.reach
	}
	release, err := reach(ctx)
	if err != nil {
		return err
	}
	defer release()
	if err := c.exists(ctx, topics.Loop(c.Crawl).Rejected); err != nil {
		return err
	}
	switch {
	case c.Replay:
		return c.replay(ctx, std.out)
	case c.JSON:
		return c.lines(ctx, std.out)
	}
	return c.list(ctx, std.out)
}

// each calls visit with the records that the flags select.
func (c *rejectedCmd) each(ctx context.Context, visit func(refusal) error) error {
	reader, err := replay.New(c.client()...)
	if err != nil {
		return err
	}
	defer reader.Close()
	oldest := time.Time{}
	if c.Since > 0 {
		oldest = time.Now().Add(-c.Since)
	}
	return reader.Records(ctx, topics.Loop(c.Crawl).Rejected, func(r *kgo.Record) error {
		record, err := codecs.DecodeRejected(r.Value)
		if err != nil || record.Stage == "" || record.Topic == "" || record.Reason == "" {
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

// lines prints the records as JSON.
func (c *rejectedCmd) lines(ctx context.Context, to io.Writer) error {
	out := bufio.NewWriter(to)
	encoder := json.NewEncoder(out)
	return errors.Join(c.each(ctx, func(r refusal) error { return encoder.Encode(r) }), out.Flush())
}

// list prints a table of the records in the order of time, and how many there
// are by stage and reason.
func (c *rejectedCmd) list(ctx context.Context, out io.Writer) error {
	type row struct {
		at   time.Time
		text string
	}
	var rows []row
	total := tally{}
	err := c.each(ctx, func(r refusal) error {
		total[r.kind()]++
		rows = append(rows, row{r.Time, fmt.Sprintf("%s\t%s\t%s\t%s\t%s\t%s\n", r.Time.Format(time.DateTime), r.Stage,
			c.place(r), r.Reason, progress.Bytes(r.Bytes), excerpt(r.Value))})
		return nil
	})
	if err != nil {
		return err
	}
	slices.SortStableFunc(rows, func(a, b row) int { return a.at.Compare(b.at) })
	if len(rows) > 0 {
		table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(table, "TIME (UTC)\tSTAGE\tRECORD\tREASON\tSIZE\tBEGINS")
		for _, r := range rows {
			_, _ = io.WriteString(table, r.text)
		}
		if err := table.Flush(); err != nil {
			return fmt.Errorf("write table: %w", err)
		}
	}
	if err := total.write(out, "rejected"); err != nil || c.strangers == 0 {
		return err
	}
	_, err = fmt.Fprintf(out, "%s records of the topic are passed over: another program wrote them\n", progress.Count(int64(c.strangers)))
	return err
}

// place is where the record was: topic, without the crawl's name, partition and
// offset.
func (c *rejectedCmd) place(r refusal) string {
	return fmt.Sprintf("%s/%d/%d", strings.TrimPrefix(r.Topic, c.Crawl+"."), r.Partition, r.Offset)
}

// kind is what refusals are counted by.
type kind struct{ stage, reason string }

func (r refusal) kind() kind { return kind{r.Stage, r.Reason} }

// tally counts by kind.
type tally map[kind]int

// write prints the sum and, the most frequent first, the parts.
func (t tally) write(out io.Writer, what string) error {
	sum, kinds := 0, make([]kind, 0, len(t))
	for k, n := range t {
		sum += n
		kinds = append(kinds, k)
	}
	slices.SortFunc(kinds, func(a, b kind) int {
		return cmp.Or(cmp.Compare(t[b], t[a]), strings.Compare(a.stage+" "+a.reason, b.stage+" "+b.reason))
	})
	fmt.Fprintf(out, "%s %s\n", progress.Count(int64(sum)), what)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, k := range kinds {
		fmt.Fprintf(table, "  %s\t%s\t%s\n", progress.Count(int64(t[k])), k.stage, k.reason)
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("write counts: %w", err)
	}
	return nil
}

// excerptRunes bounds what is shown of a record.
const excerptRunes = 60

// excerpt shows what people can read of the beginning of a value; what they
// cannot is one dot a run.
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
