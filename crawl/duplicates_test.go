package crawl_test

import (
	"context"
	"encoding/binary"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/IBM/sarama"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/weftcrawl/weft/crawl"
	index "github.com/weftcrawl/weft/processors/parse/duplicates"
	"github.com/weftcrawl/weft/processors/parse/simhash"
	"github.com/weftcrawl/weft/test/webserver"
	"github.com/weftcrawl/weft/topics"
)

// Whenever a crawler is killed, parsed names the originals, and what the next one
// knows is what parsed says.
func TestKilledCrawlNamesOriginals(t *testing.T) {
	t.Parallel()
	w := serve(t, webserver.Options{Pages: 600, Domains: 6, CrossLinks: 0.1}, webserver.ServerOptions{})
	copies(w)
	p := process{Dir: t.TempDir(), Seeds: w.server.Seeds(), Copies: true}
	killed(t, w, p, 20, 90, 130, 100, 70)
	w.audit(t, webserver.Expect{Pages: w.Pages()})
	ends := map[int32]int64{}
	t.Run("killed", func(t *testing.T) {
		log := readTopic(t, reopened(t, p.options()), topics.Loop("weft").Parsed)
		found := namesOriginals(t, log)
		t.Logf("%+v", found)
		if found.identical == 0 || found.near == 0 || found.elsewhere == 0 {
			t.Errorf("the web was too easy: %+v", found)
		}
		for _, r := range log {
			ends[r.Partition] = r.Offset + 1
		}
	})
	p.Seeds = nil
	for _, domain := range w.Domains() { // more work for every partition
		p.Seeds = append(p.Seeds, w.url(domain, "/late/1"), w.url(domain, "/late/2"))
	}
	p.drains(t)
	t.Run("restarted", func(t *testing.T) {
		log := readTopic(t, reopened(t, p.options()), topics.Loop("weft").Parsed)
		namesOriginals(t, log)
		for partition, next := range isFold(t, p.Dir, log) {
			if next < ends[partition] {
				t.Errorf("the index of partition %d has read %d records of %d", partition, next, ends[partition])
			}
		}
	})
}

// Two crawlers share Apache Kafka, and come and go, with and without a word.
func TestPartitionsThatMoveNameOriginals(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for sessions of the dead")
	}
	t.Parallel()
	w := serve(t, webserver.Options{Pages: 3200, Domains: 16, CrossLinks: 0.1}, webserver.ServerOptions{})
	copies(w)
	cluster := withShortSessions(t)
	member := func() process {
		return process{
			Dir: t.TempDir(), Brokers: cluster.Addrs(), DelayMS: 100, SessionMS: 2000, Seeds: w.server.Seeds(), Copies: true,
		}
	}
	one, two := member(), member()
	a := one.start(t)
	w.reaches(t, 150, a)
	b := two.start(t)
	w.reaches(t, 200, b)
	a.kill()
	w.reaches(t, 150, b)
	a = one.start(t)
	w.reaches(t, 200, a)
	b.signal(syscall.SIGINT)
	if status, _, complaints := b.end(t); status != 0 {
		t.Errorf("ended with status %d:\n%s", status, complaints)
	}
	w.reaches(t, 150, a)
	b = two.start(t)
	w.reaches(t, 200, b)
	b.kill()
	b = two.start(t)
	a.drains(t)
	b.drains(t)
	w.audit(t, webserver.Expect{Pages: w.Pages()})
	log := readTopic(t, outsider(t, cluster.Addrs()[0]), topics.Loop("weft").Parsed)
	t.Logf("%+v", namesOriginals(t, log))
	for _, p := range []process{one, two} {
		if len(isFold(t, p.Dir, log)) == 0 {
			t.Error("an index has nothing")
		}
	}
}

// Each page of parsed with an original is counted, by how alike they are.
func TestDuplicatesAreCounted(t *testing.T) {
	t.Parallel()
	w := serve(t, webserver.Options{Pages: 200, Domains: 3}, webserver.ServerOptions{})
	copies(w)
	o := options(t, w)
	o.Definition.TrapEvidence, o.Registry = -1, prometheus.NewRegistry()
	run(t, o, crawl.EndedDrained)
	found := namesOriginals(t, readTopic(t, reopened(t, o), topics.Loop("weft").Parsed))
	families, err := o.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	counted := map[string]int{}
	for _, family := range families {
		if family.GetName() != "weft_duplicate_pages_total" {
			continue
		}
		for _, m := range family.GetMetric() {
			counted[m.GetLabel()[0].GetValue()] = int(m.GetCounter().GetValue())
		}
	}
	if d := cmp.Diff(map[string]int{"identical": found.identical, "near": found.near}, counted); d != "" {
		t.Errorf("(-parsed +counted):\n%s", d)
	}
}

// isFold holds the index of a process against one that reads parsed and nothing
// else, up to where the index has read each partition, which it returns.
func isFold(t *testing.T, dir string, log []*sarama.ConsumerMessage) map[int32]int64 {
	t.Helper()
	dirs, err := filepath.Glob(filepath.Join(dir, "state", "duplicates", "*", "0", "index"))
	if err != nil || len(dirs) != 1 {
		t.Fatalf("not one index: %v, %v", dirs, err)
	}
	have := keys(t, dirs[0])
	ends := map[int32]int64{}
	for key, value := range have {
		if len(key) == 5 && key[4] == 'n' {
			ends[int32(binary.BigEndian.Uint32([]byte(key)))] = int64(binary.BigEndian.Uint64([]byte(value)))
		}
	}
	readerDir := t.TempDir()
	reader := index.New(readerDir, parsedLog{t, log, ends})
	unwritten := index.Page{ID: "unwritten", Print: simhash.Fingerprint{Hash: simhash.Hash{1}}}
	for partition := range ends {
		flight, failed := reader.Judge(t.Context(), partition, unwritten)
		if failed != nil {
			t.Fatal(failed)
		}
		flight.Release() // it is not written
	}
	if err := reader.Close(); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(keys(t, filepath.Join(readerDir, "0", "index")), have); d != "" {
		t.Errorf("%s is not the fold of parsed:\n%s", dirs[0], d)
	}
	return ends
}

// parsedLog are records of parsed, up to ends.
type parsedLog struct {
	t    *testing.T
	log  []*sarama.ConsumerMessage
	ends map[int32]int64
}

func (parsedLog) Incarnation(context.Context) (string, error) { return "", nil }

func (l parsedLog) Bounds(_ context.Context, partition int32) (start, end int64, err error) {
	return 0, l.ends[partition], nil
}

func (l parsedLog) Range(_ context.Context, partition int32, from, to int64, visit func(index.Record) error) error {
	for _, r := range l.log {
		if r.Partition != partition || r.Offset < from || r.Offset >= to {
			continue
		}
		p := read(l.t, []string{string(r.Value)})[0]
		hash, err := simhash.ParseHash(p.ContentHash)
		page := &index.Page{ID: p.ID, URL: p.URL, Domain: p.Domain, Print: simhash.Fingerprint{Hash: hash}}
		if p.SimHash != "" {
			page.Print.Sim, err = strconv.ParseUint(p.SimHash, 16, 64)
			if err == nil {
				page.Print.Min, err = simhash.ParseMinHash(p.MinHash)
			}
		}
		if of := p.DuplicateOf; of != nil {
			page.Verdict = index.Verdict{ID: of.ID, URL: of.URL, Distance: of.Distance, Own: strings.HasPrefix(of.URL, origin(p.URL)+"/")}
		}
		if err == nil {
			err = visit(index.Record{Offset: r.Offset, Bytes: int64(len(r.Value)), Page: page})
		}
		if err != nil {
			return err
		}
	}
	return nil
}
