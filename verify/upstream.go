package verify

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"
	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/replay"
	"github.com/weftcrawl/weft/topics"
	"github.com/weftcrawl/weft/urls"
)

// upstream is what is before the ledgers: commits, and URLs that are named in
// seeds, discovered and normalized.
type upstream struct {
	*judge
	// commits by topic and partition: what the reader of the topic has dealt
	// with. For inputs of ledgers they are held against positions.
	commits map[string]map[int32]int64
	// starts of the inputs of ledgers, before anything else was read.
	starts map[string]map[int32]replay.Bounds
	// pages are the bounds of parsed.
	pages map[int32]replay.Bounds
	// held are URLs to be judged when deduped is known.
	held *spool
}

// The topics of mentions.
const (
	inSeeds = iota
	inDiscovered
	inNormalized
)

func newUpstream(j *judge, held *spool) *upstream {
	return &upstream{
		judge: j, held: held, commits: map[string]map[int32]int64{}, starts: map[string]map[int32]replay.Bounds{},
	}
}

func (u *upstream) topic(n uint8) string {
	return [...]string{u.names.Seeds, u.names.Discovered, u.names.Normalized}[n]
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
	for n := range uint8(inNormalized + 1) {
		read := u.reader.Records
		if n == inSeeds {
			read = u.reader.Committed // others are not crawled
		}
		err := read(ctx, u.topic(n), func(r *kgo.Record) error {
			for _, url := range u.named(r) {
				if err := u.held.add(mention{urls.Fingerprint(url), n, r.Partition, r.Offset}); err != nil {
					return err
				}
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
		var f weftpb.Fetched
		if proto.Unmarshal(r.Value, &f) == nil && f.Robots == nil { // else parse rejects it, or passes over it
			u.table.note(urls.Fingerprint(f.GetRequest().GetTarget().GetUrl()), as)
		}
		return nil
	})
}

// named returns the canonical URLs in scope that a record of seeds, discovered,
// normalized or deduped names. What cannot be decoded names none: its stage
// rejects it.
func (j *judge) named(r *kgo.Record) []string {
	switch r.Topic {
	case j.names.Normalized:
		var n weftpb.Normalized
		if proto.Unmarshal(r.Value, &n) != nil {
			return nil
		}
		return urlsOf(n.Targets)
	case j.names.Deduped:
		var ev weftpb.Event
		var d weftpb.Deduped
		if proto.Unmarshal(r.Value, &ev) != nil || proto.Unmarshal(ev.Body, &d) != nil {
			return nil
		}
		return urlsOf(d.Targets)
	case j.names.Scheduled:
		var ev weftpb.Event
		var s weftpb.Scheduled
		if proto.Unmarshal(r.Value, &ev) != nil || proto.Unmarshal(ev.Body, &s) != nil {
			return nil
		}
		var all []string
		for _, a := range s.Admitted {
			all = append(all, a.GetRequest().GetTarget().GetUrl())
		}
		return all
	}
	return j.inScope(r)
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
			var n weftpb.Normalized
			if proto.Unmarshal(o.Value, &n) != nil {
				continue // it was made a moment ago
			}
			for _, url := range urlsOf(n.Targets) {
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

// judgeHeld judges what was held, now that deduped is in the table: what dedupe
// has read must be there; the rest of normalized is on its way; and what
// normalize has read must be one or the other.
func (u *upstream) judgeHeld(down *ledgers) error {
	err := u.held.each(func(m mention) {
		switch {
		case m.topic != inNormalized:
		case m.offset > down.dedupe[m.partition].position(u.names.Normalized):
			u.transit(URLs, 1)
			u.table.mention(m.print)
		default:
			u.expect(m, "dedupe has read it, and it is not in "+u.names.Deduped, func(e entry) bool { return e.is(inDeduped) || e.is(inTrap) || e.place == givenUp }, down)
		}
	})
	if err != nil {
		return err
	}
	read := func(m mention) bool { return m.offset < u.commits[u.topic(m.topic)][m.partition] }
	err = u.held.each(func(m mention) {
		if m.topic != inNormalized && !read(m) {
			u.transit(URLs, 1)
			u.table.mention(m.print)
		}
	})
	if err != nil {
		return err
	}
	return u.held.each(func(m mention) {
		if m.topic != inNormalized && read(m) {
			u.expect(m, "normalize has read it, and it went nowhere", func(e entry) bool { return e.place != 0 || e.is(inDeduped) }, down)
		}
	})
}

// expect judges a URL that a record names.
func (u *upstream) expect(m mention, wrong string, known func(entry) bool, down *ledgers) {
	u.shown(URLs, 1)
	if known(u.table.find(m.print)) {
		return
	}
	if !down.dedupedWhole {
		u.unproven(URLs, "URLs that may be in the part of deduped that is trimmed")
		return
	}
	u.violate(Violation{
		Kind: KindLost, Says: wrong, print: m.print,
		Records: []Record{{Topic: u.topic(m.topic), Partition: m.partition, Offset: m.offset, Says: "names it"}},
	})
}

// nameAll finds the URLs of violations of which only fingerprints were at hand,
// in the records that show them.
func (j *judge) nameAll(ctx context.Context) error {
	for i := range j.listed {
		v := &j.listed[i]
		if v.print == (fingerprint{}) || v.URL != "" || len(v.Records) == 0 {
			continue
		}
		at := v.Records[0]
		one := map[int32]replay.Bounds{at.Partition: {Start: at.Offset, End: at.Offset + 1}}
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
