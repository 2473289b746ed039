package transfer

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"pgregory.net/rapid"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/ledger"
	"github.com/weftcrawl/weft/processors/schedule/frontier"
	"github.com/weftcrawl/weft/test/memstore"
	"github.com/weftcrawl/weft/topics"
)

// recorder is a broker that keeps what is written.
type recorder struct {
	logs map[string]map[int32][]*kgo.Record
}

func (r *recorder) Produce(_ context.Context, record *kgo.Record, promise func(*kgo.Record, error)) {
	if r.logs[record.Topic] == nil {
		r.logs[record.Topic] = map[int32][]*kgo.Record{}
	}
	log := r.logs[record.Topic][record.Partition]
	record.Offset = int64(len(log))
	r.logs[record.Topic][record.Partition] = append(log, record)
	promise(record, nil)
}

func (r *recorder) Flush(context.Context) error { return nil }

// TestStatesAreTheSame moves crawls at random to other numbers of partitions and
// compares what the new ledgers fold into with what the old ones did, domain by
// domain and key by key.
func TestStatesAreTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		old := newCrawled(t, rapid.Int32Range(1, 4).Draw(t, "from"))
		for range rapid.IntRange(0, 150).Draw(t, "steps") {
			old.step()
		}
		dir, err := os.MkdirTemp("", "weft-transfer-")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		n := rapid.Int32Range(1, 5).Draw(t, "to")
		im := newImporter(old.archive(dir), ImportOptions{Crawl: "new", Partitions: n})
		to := &recorder{logs: map[string]map[int32][]*kgo.Record{}}
		if err := im.write(context.Background(), to); err != nil {
			t.Fatal(err)
		}
		m := &compared{t: t, old: old, im: im, to: to, ids: map[string]string{}}
		m.foldAll(n)
		m.compareDomains()
		m.compareSums()
		m.compareInputs()
		m.compareTransient()
	})
}

// compared compares a crawl with the crawl that it was made of.
type compared struct {
	t   *rapid.T
	old *crawled
	im  *importer
	to  *recorder
	// ids are the new ids of visits that are out, by their old ones.
	ids map[string]string

	parts []*frontier.Frontier
	store []*memstore.Store
	// positions in deduped, -1 for none.
	positions []int64
}

// foldAll folds the new ledger with the frontier's own Apply, which refuses gauges that differ from
// the state.
func (m *compared) foldAll(partitions int32) {
	for n := range partitions {
		store := new(memstore.Store)
		f := frontier.New(frontierOptions(n), store)
		m.parts, m.store, m.positions = append(m.parts, f), append(m.store, store), append(m.positions, -1)
		var reader ledger.EventReader
		var last *weftpb.Scheduled
		for offset, r := range m.to.logs["new.scheduled"][n] {
			ev, err := reader.Read(r.Value, "new.scheduled", n, int64(offset))
			if err != nil {
				m.t.Fatal(err)
			}
			if ev == nil {
				if offset == len(m.to.logs["new.scheduled"][n])-1 {
					m.t.Fatal("the last record is a claim, or does not count")
				}
				continue
			}
			for _, at := range ev.Positions {
				m.positions[n] = at.Offset
			}
			var body weftpb.Scheduled
			if err := proto.Unmarshal(ev.Body, &body); err != nil {
				m.t.Fatal(err)
			}
			want := f.Oldest()
			if want < 0 {
				want = int64(offset)
			}
			if body.Oldest != want {
				m.t.Fatalf("event %d of %d says that %d is oldest, not %d", offset, n, body.Oldest, want)
			}
			if len(r.Key) > 0 && topics.Partition(string(r.Key), partitions) != n {
				m.t.Fatalf("an event of %s is in partition %d of %d", r.Key, n, partitions)
			}
			if err := f.Apply(string(r.Key), &body, int64(offset)); err != nil {
				m.t.Fatal(err)
			}
			last = &body
		}
		if g, err := f.Gauges(); err != nil || last != nil && !proto.Equal(g, last.Gauges) {
			m.t.Fatalf("partition %d holds %v and says %v, %v", n, g, last.Gauges, err)
		}
	}
}

// compareDomains holds the states of domains against each other, and the keys of
// those things that do not name offsets byte by byte.
func (m *compared) compareDomains() {
	count := 0
	for _, p := range m.old.parts {
		p.f.Domains(func(domain string) bool {
			count++
			f := m.parts[topics.Partition(domain, int32(len(m.parts)))]
			m.compareVisits(domain, p.f, f)
			was, err := p.f.DomainState(domain)
			if err != nil {
				m.t.Fatal(err)
			}
			is, err := f.DomainState(domain)
			if err != nil {
				m.t.Fatal(err)
			}
			for i, id := range was.Visits {
				was.Visits[i] = m.ids[id]
			}
			if d := cmp.Diff(was, is); d != "" {
				m.t.Fatalf("%s (-old +new):\n%s", domain, d)
			}
			return true
		})
	}
	have := 0
	for _, f := range m.parts {
		f.Domains(func(string) bool { have++; return true })
	}
	if have != count {
		m.t.Fatalf("%d domains became %d", count, have)
	}
	was, is := map[string]string{}, map[string]string{}
	for _, p := range m.old.parts {
		keysOf(p.store, was)
	}
	for _, s := range m.store {
		keysOf(s, is)
	}
	if d := cmp.Diff(was, is); d != "" {
		m.t.Fatalf("keys (-old +new):\n%s", d)
	}
}

// keysOf collects queues, retries, origins and rules of domains, the indexes of
// due times and leases, and the sums of reasons.
func keysOf(s *memstore.Store, into map[string]string) {
	s.Scan(nil, bytes.Repeat([]byte{0xff}, 64), func(key, value []byte) bool {
		switch key[0] {
		case 'b', 'l':
			into[string(key)] = string(value)
		case 'd':
			_, rest, _ := strings.Cut(string(key), "\x00")
			if rest != "" && rest[0] != 'v' {
				into[string(key)] = string(value)
			}
		}
		return true
	})
}

func (m *compared) compareVisits(domain string, old, f *frontier.Frontier) {
	was, err := old.Visits(domain)
	if err != nil {
		m.t.Fatal(err)
	}
	is, err := f.Visits(domain)
	if err != nil || len(is) != len(was) {
		m.t.Fatalf("%s: %d visits became %d, %v", domain, len(was), len(is), err)
	}
	for i := range was {
		m.ids[was[i].ID] = is[i].ID
		was[i].ID, was[i].Offset = is[i].ID, is[i].Offset
	}
	if d := cmp.Diff(was, is, protocmp.Transform()); d != "" {
		m.t.Fatalf("visits of %s (-old +new):\n%s", domain, d)
	}
}

// compareSums holds gauges, outcomes and the latest decision against each other.
func (m *compared) compareSums() {
	type sums struct {
		Gauges   [10]int64
		Outcomes map[string]int64
		Decided  time.Time
	}
	sum := func(of []*frontier.Frontier) sums {
		s := sums{Outcomes: map[string]int64{}}
		for _, f := range of {
			g, err := f.Gauges()
			if err != nil {
				m.t.Fatal(err)
			}
			for i, n := range []int64{g.Pending, g.Queued, g.Out, g.Domains, g.DomainsOut, g.Fetched, g.Failed, g.Refused, g.Visits, g.Withdrawn} {
				s.Gauges[i] += n
			}
			for reason, n := range f.Outcomes() {
				s.Outcomes[reason] += n
			}
			if f.Decided().After(s.Decided) {
				s.Decided = f.Decided()
			}
		}
		return s
	}
	var old []*frontier.Frontier
	for _, p := range m.old.parts {
		old = append(old, p.f)
	}
	if d := cmp.Diff(sum(old), sum(m.parts)); d != "" {
		m.t.Fatalf("sums (-old +new):\n%s", d)
	}
}

// compareInputs divides deduped by the new positions: what is read was admitted,
// and the rest is still to be.
func (m *compared) compareInputs() {
	read, rest := map[string]bool{}, map[string]bool{}
	for n, log := range m.to.logs["new.deduped"] {
		var reader ledger.EventReader
		for offset, r := range log {
			ev, err := reader.Read(r.Value, "new.deduped", n, int64(offset))
			if err != nil {
				m.t.Fatal(err)
			}
			if ev == nil {
				continue
			}
			var d weftpb.Deduped
			if err := proto.Unmarshal(ev.Body, &d); err != nil {
				m.t.Fatal(err)
			}
			for _, t := range d.Targets {
				if int64(offset) <= m.positions[n] {
					read[t.Url] = true
				} else {
					rest[t.Url] = true
				}
			}
		}
	}
	if d := cmp.Diff(m.old.admitted, read); d != "" {
		m.t.Fatalf("what schedule has read of deduped (-old +new):\n%s", d)
	}
	if d := cmp.Diff(m.old.onTheWay, rest); d != "" {
		m.t.Fatalf("what it has not read (-old +new):\n%s", d)
	}
	committed := map[int32]int64{}
	for n, at := range m.im.commits[topics.Schedule]["new.deduped"] {
		committed[n] = at.At
	}
	for n, at := range m.positions {
		if committed[int32(n)] != at+1 {
			m.t.Fatalf("partition %d: position %d, committed %d", n, at, committed[int32(n)])
		}
	}
}

// compareTransient holds visited and fetched against what their readers have
// still to do.
func (m *compared) compareTransient() {
	was, is := map[string]int{}, map[string]int{}
	for _, p := range m.old.parts {
		for _, r := range p.logs["visited"].records {
			if id, ok := m.ids[visitedBy(m.t, r.Value)]; ok {
				was["visited "+id]++
			}
		}
		for offset, r := range p.logs["fetched"].records {
			page, visit := pageOf(m.t, r.Value)
			if int64(offset) >= p.parsed {
				was["parse "+page]++
			}
			if id, ok := m.ids[visit]; ok {
				was["search "+page+" "+id]++
			}
		}
	}
	for _, log := range m.to.logs["new.visited"] {
		for _, r := range log {
			is["visited "+visitedBy(m.t, r.Value)]++
		}
	}
	parse := m.im.commits[topics.Parse]["new.fetched"]
	for n, log := range m.to.logs["new.fetched"] {
		for offset, r := range log {
			page, visit := pageOf(m.t, r.Value)
			if int64(offset) >= parse[n].At {
				is["parse "+page]++
			}
			if visit != "" {
				is["search "+page+" "+visit]++
			}
		}
	}
	if d := cmp.Diff(was, is); d != "" {
		m.t.Fatalf("what is left to do (-old +new):\n%s", d)
	}
	m.compareWARC()
}

// compareWARC: nothing is lost of what was not written, and repeated is at most
// what parse has not done either.
func (m *compared) compareWARC() {
	writes := m.im.commits[topics.Archive]["new.fetched"]
	if writes == nil {
		return
	}
	want, may, have := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, p := range m.old.parts {
		for offset, r := range p.logs["fetched"].records {
			page, _ := pageOf(m.t, r.Value)
			page = fmt.Sprint(page, p.number, offset)
			switch {
			case int64(offset) >= p.written:
				want[page[:16]] = true
			case int64(offset) >= p.parsed:
				may[page[:16]] = true
			}
		}
	}
	for n, log := range m.to.logs["new.fetched"] {
		for offset, r := range log {
			if page, _ := pageOf(m.t, r.Value); int64(offset) >= writes[n].At {
				have[page[:16]] = true
			}
		}
	}
	for page := range want {
		if !have[page] {
			m.t.Fatalf("page %s was not in WARC files, and will not be", page)
		}
	}
	for page := range have {
		if !want[page] && !may[page] {
			m.t.Fatalf("page %s is written again", page)
		}
	}
}

func visitedBy(t *rapid.T, value []byte) string {
	var v weftpb.Visited
	if err := proto.Unmarshal(value, &v); err != nil {
		t.Fatal(err)
	}
	return v.Visit
}

func pageOf(t *rapid.T, value []byte) (page, visit string) {
	var f weftpb.Fetched
	if err := proto.Unmarshal(value, &f); err != nil {
		t.Fatal(err)
	}
	return f.Id, f.Visit
}
