package verify

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kgo"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/topiclog"
	"github.com/weftcrawl/weft/internal/urls"
	"github.com/weftcrawl/weft/processors/parse/document"
	"github.com/weftcrawl/weft/topics"
)

// pages compares parsed with the exchanges, and its links with deduped.
type pages struct {
	*judge
	up                               *upstream
	down                             *ledgers
	count, repeats, unread, unusable int64
}

// page is the part of codecs.Parsed that is judged.
type page struct {
	ID     string `json:"id"`
	URL    string `json:"url"`
	Domain string `json:"domain"`
	Depth  uint32 `json:"depth"`
	Robots struct {
		NoFollow bool `json:"nofollow"`
	} `json:"robots"`
	// Unfollowed is why the crawl does not follow the page's links.
	Unfollowed string `json:"unfollowed"`
	Links      []struct {
		URL     string        `json:"url"`
		Rel     string        `json:"rel"`
		Kind    document.Kind `json:"kind"`
		Element document.Kind `json:"element"`
	} `json:"links"`
}

// read reads parsed to its present end. Records beyond the bounds that were read first
// only show that an exchange has its page.
func (p *pages) read(ctx context.Context) error {
	if err := p.readRejected(ctx); err != nil {
		return err
	}
	commits, err := p.reader.Commits(ctx, p.names.Group(topics.Parse), p.names.Fetched)
	if err != nil {
		return err
	}
	if err := p.up.readFetched(ctx, commits, stillUnparsed); err != nil {
		return err
	}
	bounds, err := p.reader.Bounds(ctx, p.names.Parsed)
	if err != nil {
		return err
	}
	err = p.reader.Range(ctx, p.names.Parsed, bounds, func(r *kgo.Record) error {
		var doc page
		if err := json.Unmarshal(r.Value, &doc); err != nil || doc.ID == "" || doc.URL == "" {
			p.unread++
			return nil
		}
		print, e := p.table.get(doc.URL)
		p.present(r, doc, print, e)
		if r.Offset < p.up.pages[r.Partition].End {
			p.exchange(r, doc, e)
			if !e.is(unparsed) {
				p.links(r, doc, e)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	p.missing(bounds)
	p.sum()
	return nil
}

// readRejected finds the exchanges that parse rejected. A record may be cut.
func (p *pages) readRejected(ctx context.Context) error {
	return p.reader.Records(ctx, p.names.Rejected, func(r *kgo.Record) error {
		if x := decoded[weftpb.Rejected](r.Value); x.GetStage() == string(topics.Parse) {
			p.table.note(urls.Fingerprint(requestOf(x.Value).GetTarget().GetUrl()), unusable)
		}
		return nil
	})
}

// requestOf reads the request at the beginning of a Fetched, which may be cut.
func requestOf(value []byte) *weftpb.Request {
	request := new(weftpb.Request)
	for len(value) > 0 {
		number, kind, size := protowire.ConsumeField(value)
		if size < 0 {
			break
		}
		if number == 2 && kind == protowire.BytesType {
			_, _, tag := protowire.ConsumeTag(value)
			if field, n := protowire.ConsumeBytes(value[tag:]); n > 0 && proto.Unmarshal(field, request) == nil {
				break
			}
		}
		value = value[size:]
	}
	return request
}

// present notes that there is a page, and counts repeats.
func (p *pages) present(r *kgo.Record, doc page, print fingerprint, e entry) {
	if r.Offset < p.up.pages[r.Partition].End {
		p.count++
	}
	round := -1
	for n := range uint32(e.round) + 1 {
		if urls.PageID(doc.URL, n) == doc.ID {
			round = int(n)
		}
	}
	switch {
	case round < 0:
		p.violate(Violation{
			Kind: KindPageID, Domain: doc.Domain, URL: doc.URL, Says: fmt.Sprintf("id %s is not that of any of its %d fetches", doc.ID, int(e.round)+1),
			Records: []RecordRef{recordOf(r, "has the page")},
		})
		return
	case round == 0 && e.is(paged), round > 0 && p.hadLater(doc.ID):
		p.repeats++
	}
	if e.place != 0 {
		e.marks |= paged
		p.table.put(print, e)
	}
}

// hadLater reports whether a page of a later round came before. The table keeps it as an entry
// that is not of a URL.
func (p *pages) hadLater(id string) bool {
	print := urls.Fingerprint("page " + id)
	had := p.table.find(print).is(paged)
	if !had {
		p.table.note(print, paged)
	}
	return had
}

func (p *pages) exchange(r *kgo.Record, doc page, e entry) {
	partition := p.down.partitions[r.Partition]
	switch {
	case partition == nil || !partition.whole:
	case e.is(answered), e.is(listing):
		p.shown(Pages, 1)
	case e.place == out, e.is(unreported):
		p.transit(Pages, 1)
	default:
		p.violate(Violation{
			Kind: KindNoExchange, Domain: doc.Domain, URL: doc.URL,
			Says:    fmt.Sprintf("no attempt that brought a page is settled, and the URL is %v", e.place),
			Records: []RecordRef{recordOf(r, "has the page")},
		})
	}
}

// links judges whether the URLs that a page links to are known. Only unknown URLs are
// compared with the scope, which is most of the work.
func (p *pages) links(r *kgo.Record, doc page, e entry) {
	if doc.Robots.NoFollow || doc.Unfollowed != "" {
		return
	}
	found := &weftpb.Discovered{Source: doc.URL, Depth: doc.Depth, Via: weftpb.Via_VIA_LINK, ScopeRoot: e.root}
	for _, l := range doc.Links {
		if _, known := p.table.get(l.URL); known.place != 0 {
			p.shown(URLs, 1)
			continue
		}
		if !p.followed(l.Kind, l.Element, l.Rel) {
			continue
		}
		// A refused URL is in the page as it was written.
		if u, refusal := urls.Parse(l.URL); refusal == urls.Accepted && u.String() == l.URL {
			found.Links = append(found.Links, &weftpb.Link{Url: l.URL, Rel: l.Rel})
		}
	}
	if len(found.Links) == 0 {
		return
	}
	value, err := proto.Marshal(found)
	if err != nil {
		p.unread++ // a string that is not UTF-8
		return
	}
	for _, url := range p.inScope(&kgo.Record{Topic: p.names.Discovered, Value: value}) {
		if !p.down.dedupedWhole {
			p.unproven(URLs, "links that may be in the part of deduped that is trimmed")
			continue
		}
		p.violate(Violation{
			Kind: KindLost, URL: url, Says: "a page links to it, and it went nowhere",
			Records: []RecordRef{recordOf(r, "links to it from "+doc.URL)},
		})
	}
}

func (p *pages) missing(bounds map[int32]topiclog.Bounds) {
	for partition, b := range bounds {
		if b.Start > 0 {
			p.unproven(Pages, fmt.Sprintf("exchanges of partition %d, since %s begins at %d", partition, p.names.Parsed, b.Start))
		}
	}
	p.table.each(func(print fingerprint, e entry) {
		switch {
		case !e.is(answered) || e.is(paged) || bounds[e.partition].Start > 0:
		case e.is(stillUnparsed):
			p.transit(Pages, 1)
		case e.is(unusable):
			p.unusable++
		default:
			p.violate(Violation{
				Kind: KindNoPage, Says: "it was fetched, parse is done with it, and it has no page", print: print,
				Records: []RecordRef{{Topic: p.names.Scheduled, Partition: e.partition, Offset: e.at, Says: "admits it"}},
			})
		}
	})
}

func (p *pages) sum() {
	p.note("%d pages in %s; %d of them repeat another, with its id", p.count, p.names.Parsed, p.repeats)
	p.noteAny(p.maxPages, "max-pages %d bounds the files of pages and not the topics: it is not judged here")
	p.noteAny(p.unusable, "%d exchanges without a page are in %s", p.names.Rejected)
	p.noteAny(p.unread, "%d records of %s are no pages: other programs wrote them, and they do not count", p.names.Parsed)
}

// followed reports whether parse followed links of that kind, element and rel under all
// definitions that the crawl had. Links in old records have no kind; they are anchors.
func (j *judge) followed(kind, element document.Kind, rel string) bool {
	if kind == "" {
		kind = document.KindAnchor
	}
	return !slices.ContainsFunc(j.parses, func(opts document.Options) bool { return !opts.Follows(kind, element, rel) })
}
