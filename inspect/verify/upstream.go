package verify

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"
	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/topiclog"
	"github.com/weftcrawl/weft/internal/urls"
	"github.com/weftcrawl/weft/topics"
)

// upstream is what is before the ledgers: commits, and the URLs that seeds, discovered
// and normalized name.
type upstream struct {
	*judge
	// commits of the stage that reads a topic, by topic and partition. For inputs of
	// ledgers they are compared with positions.
	commits map[string]map[int32]int64
	// starts of the inputs of ledgers, before anything else was read.
	starts map[string]map[int32]topiclog.Bounds
	// pages are the bounds of parsed.
	pages map[int32]topiclog.Bounds
}

func (j *judge) topic(of source) string {
	return [...]string{j.names.Normalized, j.names.Seeds, j.names.Discovered}[of]
}

func (u *upstream) read(ctx context.Context) (err error) {
	for _, stage := range topics.Stages() {
		for _, topic := range u.names.Inputs(stage) {
			if stage == topics.Fetch {
				continue // it takes its work from the ledger
			}
			if u.commits[topic], err = u.reader.Commits(ctx, u.names.Group(stage), topic); err != nil {
				return err
			}
		}
	}
	for _, topic := range []string{u.names.Normalized, u.names.Deduped, u.names.Visited} {
		if u.starts[topic], err = u.reader.Bounds(ctx, topic); err != nil {
			return err
		}
	}
	if u.pages, err = u.reader.Bounds(ctx, u.names.Parsed); err != nil {
		return err
	}
	if err := u.readFetched(ctx, u.commits[u.names.Fetched], unparsed); err != nil {
		return err
	}
	for _, from := range []source{inSeeds, inDiscovered, inNormalized} {
		read := u.reader.Records
		if from == inSeeds {
			read = u.reader.Committed // seeds of aborted transactions are not crawled
		}
		err := read(ctx, u.topic(from), func(r *kgo.Record) error {
			for nth, url := range u.named(r) {
				u.table.mention(mention{urls.Fingerprint(url), from, r.Partition, r.Offset}, nth)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// readFetched marks the URLs of exchanges that lie beyond commits of parse.
func (u *upstream) readFetched(ctx context.Context, commits map[int32]int64, as marks) error {
	bounds, err := u.reader.Bounds(ctx, u.names.Fetched)
	if err != nil {
		return err
	}
	for partition, b := range bounds {
		b.Start = max(b.Start, commits[partition])
		bounds[partition] = b
	}
	return u.reader.Range(ctx, u.names.Fetched, bounds, func(r *kgo.Record) error {
		if f := decoded[weftpb.Fetched](r.Value); f != nil && f.Robots == nil { // else parse rejects it, or skips it
			u.table.note(urls.Fingerprint(f.GetRequest().GetTarget().GetUrl()), as)
		}
		return nil
	})
}

// named returns the canonical URLs in scope that a record of seeds, discovered, normalized
// or scheduled names. A record that cannot be decoded names no URL: its stage rejects it.
func (j *judge) named(r *kgo.Record) (all []string) {
	switch r.Topic {
	case j.names.Normalized:
		return urlsOf(decoded[weftpb.Normalized](r.Value).GetTargets())
	case j.names.Scheduled:
		for _, a := range decoded[weftpb.Scheduled](decoded[weftpb.Event](r.Value).GetBody()).GetAdmitted() {
			all = append(all, a.GetRequest().GetTarget().GetUrl())
		}
		return all
	}
	return j.inScope(r)
}

// decoded is nil for a value that is not a message of that type.
func decoded[M any, P interface {
	*M
	proto.Message
}](value []byte) P {
	m := P(new(M))
	if proto.Unmarshal(value, m) != nil {
		return nil
	}
	return m
}

// inScope returns the URLs that normalize makes of a record of seeds or
// discovered under every definition that the crawl had.
func (j *judge) inScope(r *kgo.Record) []string {
	taken := map[string]int{}
	var all []string
	for _, normalize := range j.scopes {
		out, _ := normalize(r)
		fresh := map[string]bool{}
		for _, o := range out {
			for _, url := range urlsOf(decoded[weftpb.Normalized](o.Value).GetTargets()) {
				if fresh[url] {
					continue
				}
				fresh[url] = true
				if taken[url]++; taken[url] == len(j.scopes) {
					all = append(all, url)
				}
			}
		}
	}
	return all
}

func urlsOf(targets []*weftpb.Target) []string {
	all := make([]string, len(targets))
	for i, t := range targets {
		all[i] = t.GetUrl()
	}
	return all
}

// judgeMentions judges the URLs that records name when deduped is in the table. Those that
// no stage has read yet are on their way. The others must have arrived, or be on their way
// in a later topic.
func (u *upstream) judgeMentions(down *ledgers) {
	read := func(m mention) bool {
		if m.in == inNormalized {
			return m.offset <= down.dedupe[m.partition].position(u.names.Normalized)
		}
		return m.offset < u.commits[u.topic(m.in)][m.partition]
	}
	u.table.eachMention(func(m mention) {
		if !read(m) {
			u.transit(URLs, 1)
			u.table.onItsWay(m.print)
		}
	})
	u.table.eachMention(func(m mention) {
		e := u.table.find(m.print)
		switch {
		case !read(m):
		case m.in == inNormalized:
			u.expect(m, "dedupe has read it, and it is not in "+u.names.Deduped, e.is(inDeduped|inTrap) || e.place == merged, down)
		default:
			u.expect(m, "normalize has read it, and it went nowhere", e.place != 0 || e.is(inDeduped), down)
		}
	})
}

// expect judges a URL that a record names and that a stage has read.
func (u *upstream) expect(m mention, wrong string, known bool, down *ledgers) {
	u.shown(URLs, 1)
	if known {
		return
	}
	if !down.dedupedWhole {
		u.unproven(URLs, "URLs that may be in the part of deduped that is trimmed")
		return
	}
	u.violate(Violation{
		Kind: KindLost, Says: wrong, print: m.print,
		Records: []RecordRef{{Topic: u.topic(m.in), Partition: m.partition, Offset: m.offset, Says: "names it"}},
	})
}

// nameAll finds the URLs of violations that have only a fingerprint, in the records that
// show them.
func (j *judge) nameAll(ctx context.Context) error {
	for i := range j.Violations {
		v := &j.Violations[i]
		if v.print == (fingerprint{}) || v.URL != "" || len(v.Records) == 0 {
			continue
		}
		at := v.Records[0]
		one := map[int32]topiclog.Bounds{at.Partition: {Start: at.Offset, End: at.Offset + 1}}
		err := j.reader.Range(ctx, at.Topic, one, func(r *kgo.Record) error {
			for _, url := range j.named(r) {
				if urls.Fingerprint(url) == v.print {
					v.URL = url
				}
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("name a URL: %w", err)
		}
	}
	return nil
}
