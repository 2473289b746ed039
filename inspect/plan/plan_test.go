package plan_test

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/weftcrawl/weft/inspect/plan"
)

// crawls draws what may be planned.
func crawls(t *rapid.T) plan.Crawl {
	c := plan.DefaultCrawl()
	c.Pages = rapid.Int64Range(1, 1e11).Draw(t, "pages")
	c.Domains = rapid.Int64Range(1, min(c.Pages, 1e8)).Draw(t, "domains")
	c.LargestDomain = rapid.Int64Range(0, c.Pages).Draw(t, "largest")
	c.Days = rapid.Float64Range(0.01, 1000).Draw(t, "days")
	c.PageBytes = rapid.Int64Range(1, 1<<22).Draw(t, "bytes")
	c.Links = rapid.Float64Range(0, 500).Draw(t, "links")
	c.Known = rapid.Float64Range(1, 50).Draw(t, "known")
	c.LargeShare = float64(rapid.IntRange(0, 1000).Draw(t, "large")) / 1000
	c.Delay = time.Duration(rapid.Int64Range(0, int64(time.Minute)).Draw(t, "delay"))
	c.Response = time.Duration(rapid.Int64Range(1, int64(10*time.Second)).Draw(t, "response"))
	c.Replication = rapid.IntRange(1, 5).Draw(t, "replication")
	c.RetentionDays = rapid.Float64Range(0, 365).Draw(t, "retention")
	c.Cores = rapid.IntRange(1, 128).Draw(t, "cores")
	c.Load = rapid.Float64Range(0.1, 1).Draw(t, "load")
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	return c
}

// figures are the figures of a plan that may only grow with the crawl.
func figures(p plan.Plan) map[string]float64 {
	f := map[string]float64{
		"rate": p.Rate, "urls": p.URLs, "partitions": float64(p.Partitions),
		"domains needed": float64(p.Politeness.DomainsNeeded), "days needed": p.Politeness.DaysNeeded,
		"from web": p.Network.FromWeb, "to brokers": p.Network.ToBrokers, "checkpoints": p.Objects.Checkpoints, "bodies": p.Objects.Bodies,
	}
	for kind, m := range map[string]plan.Machines{"workers": p.Workers, "brokers": p.Brokers} {
		f[kind] = float64(m.Count)
		f[kind+" cpu"], f[kind+" memory"], f[kind+" disk"], f[kind+" network"] = m.CPU, m.Memory, m.Disk, m.Network
	}
	for _, s := range p.Stages {
		f["cores of "+s.Stage], f["processes of "+s.Stage], f["memory of "+s.Stage] = s.Cores, float64(s.Processes), s.Memory
	}
	for _, l := range p.Topics {
		f["records of "+l.Topic], f["bytes of "+l.Topic], f["disk of "+l.Topic] = l.Records, l.Bytes, l.Disk
	}
	for _, s := range p.Stores {
		f["store of "+s.Stage] = s.Disk
	}
	return f
}

// Nothing gets less when more is wanted.
func TestMorePagesTakeNoLess(t *testing.T) {
	m := plan.Default()
	rapid.Check(t, func(t *rapid.T) {
		c := crawls(t)
		more := c
		more.Pages += rapid.Int64Range(0, c.Pages*3).Draw(t, "more")
		before, after := figures(plan.For(c, m)), figures(plan.For(more, m))
		for name, v := range before {
			if after[name] < v*(1-1e-9) {
				t.Errorf("%s: %v for %d pages, %v for %d", name, v, c.Pages, after[name], more.Pages)
			}
		}
	})
}

// A crawl of everything times k, on the same time, takes k times as much: what
// does not is what is rounded up, and processes that idle.
func TestTwiceTheCrawlTakesTwiceAsMuch(t *testing.T) {
	m := plan.Default()
	for name, s := range m.Stages {
		s.Idle = 0
		m.Stages[name] = s
	}
	rapid.Check(t, func(t *rapid.T) {
		c := crawls(t)
		k := rapid.Int64Range(2, 50).Draw(t, "k")
		times := c
		times.Pages, times.Domains, times.LargestDomain = c.Pages*k, c.Domains*k, c.LargestDomain
		before, after := figures(plan.For(c, m)), figures(plan.For(times, m))
		for name, v := range before {
			if strings.HasPrefix(name, "processes") || strings.HasPrefix(name, "memory") || strings.HasSuffix(name, "memory") ||
				name == "partitions" || name == "workers" || name == "brokers" || name == "days needed" || name == "domains needed" {
				continue
			}
			if want := v * float64(k); math.Abs(after[name]-want) > 1e-9*want {
				t.Errorf("%s: %v, and %v for %d times as much", name, v, after[name], k)
			}
		}
	})
}

// A crawl is possible if and only if it ends in time; with the domains and in
// the days that the plan asks for, it is.
func TestPolitenessIsPossibleWithWhatIsNeeded(t *testing.T) {
	m := plan.Default()
	rapid.Check(t, func(t *rapid.T) {
		c := crawls(t)
		c.LargestDomain = 0
		p := plan.For(c, m).Politeness
		if p.Possible != (p.Most >= float64(c.Pages)/c.Days/86_400*(1-1e-9)) && math.Abs(p.DaysNeeded/c.Days-1) > 1e-6 {
			t.Errorf("possible: %v, with %+v", p.Possible, p)
		}
		if p.DomainsNeeded > 0 && p.DomainsNeeded <= c.Pages {
			c.Domains = p.DomainsNeeded
			if needed := plan.For(c, m).Politeness.DaysNeeded; needed > c.Days*(1+1e-6) {
				t.Errorf("%d domains take %v days of %v", c.Domains, needed, c.Days)
			}
		}
	})
}

func TestCheckpointsNeverMakeRecoveryLonger(t *testing.T) {
	m := plan.Default()
	rapid.Check(t, func(t *rapid.T) {
		if r := plan.For(crawls(t), m).Recovery; r.WithCheckpoints > r.WithoutCheckpoints || r.WithCheckpoints < 10 {
			t.Errorf("%+v", r)
		}
	})
}

// Figures that can be worked out on paper: each stage takes 100 µs a page, each
// topic 1,000 bytes a page.
func TestByHand(t *testing.T) {
	m := plan.Model{
		Stages: map[string]plan.Stage{}, Topics: map[string]plan.Topic{},
		BrokerCPU: plan.Cost{Page: 50},
		Stores:    map[string]plan.Cost{"dedupe": {Page: 20, Queued: 20}, "schedule": {Domain: 100, Queued: 50}, "parse": {Page: 130}},
		Replay:    map[string]plan.Cost{"dedupe": {Page: 1}, "schedule": {Page: 1}},
		BloomBits: 16,
	}
	for _, name := range []string{"normalize", "dedupe", "schedule", "fetch", "parse"} {
		m.Stages[name] = plan.Stage{CPU: plan.Cost{Page: 100}, PeakMiB: 100}
	}
	for _, name := range []string{"discovered", "normalized", "deduped", "scheduled", "fetched", "visited", "parsed"} {
		m.Topics[name] = plan.Topic{Bytes: plan.Cost{Page: 1000}, Records: plan.Cost{Page: 1}}
	}
	if err := m.Validate(); err != nil {
		t.Fatal(err)
	}
	c := plan.DefaultCrawl() // 3 copies, machines of 16 cores at 60 %, 100 KiB a page, 4 URLs known a page
	c.Pages, c.Days, c.Domains = 864_000_000, 10, 1_000_000
	p := plan.For(c, m)
	stages := p.Stages
	for _, tt := range []struct {
		what      string
		got, want float64
	}{
		{"pages/s", p.Rate, 1000},
		{"URLs", p.URLs, 3_456_000_000},
		{"pages/s that 1,000,000 domains permit: one in 1.5 s, 864 of 874 for pages", p.Politeness.Most, 1_000_000 / 1.5 * 864 / 874},
		{"cores of parse", stages[4].Cores, 0.1},
		{"processes of parse", float64(stages[4].Processes), 2},
		{"processes of fetch: 500 open requests at 60 % of 512", float64(stages[3].Processes), 2},
		{"memory of dedupe: 2 bytes a URL and two processes", stages[1].Memory, 6_912_000_000 + 200<<20},
		{"bytes/s to brokers", p.Network.ToBrokers, 7_000_000},
		{"between brokers", p.Network.Replicas, 14_000_000},
		{"from the web, a quarter", p.Network.FromWeb, 1000 * 100 * 1024 / 4},
		{"disk of scheduled", p.Topics[3].Disk, 864e6 * 1000 * 3},
		{"disk of parsed, seven days", p.Topics[6].Disk, 7 * 86_400 * 1e6 * 3},
		{"disk of fetched, ten minutes", p.Topics[4].Disk, 600 * 1e6 * 3},
		{"store of dedupe, doubled", p.Stores[0].Disk, 2 * 20 * 3_456_000_000},
		{"store of schedule, doubled", p.Stores[1].Disk, 2 * (100*1e6 + 50*2_592_000_000)},
		{"store of parse, doubled", p.Stores[2].Disk, 2 * 130 * 864e6},
		{"memory of parse: 44 bytes a page and two processes", stages[4].Memory, 44*864e6 + 200<<20},
		{"checkpoints", p.Objects.Checkpoints, 2 * (20*3_456_000_000 + 100*1e6 + 50*2_592_000_000)},
		{"brokers by disk: 7 TB on 2.6 TB each", float64(p.Brokers.Count), 3},
		{"partitions: two of each broker", float64(p.Partitions), 6},
		{"brokers by CPU: 0.15 cores", p.Brokers.CPU, 0.15 / 0.6 / 16},
		{"machines of stages", float64(p.Workers.Count), 2},
		// Half of the ledgers, at 60 % of 10 Gbit/s; half of 1,728 s of CPU on the
		// cores of three partitions.
		{"a cold recovery", p.Recovery.WithoutCheckpoints, 10 + 864e6*2000/2/0.75e9 + 1728/2.0/3},
		{"pages of a lost machine: half of seven days of parsed", p.Recovery.Pages, 10 + 7*86_400*1e6/2/0.75e9},
	} {
		if math.Abs(tt.got-tt.want) > 1e-6*tt.want {
			t.Errorf("%s: %v, want %v", tt.what, tt.got, tt.want)
		}
	}
}

// What is scarce is named.
func TestBottleneck(t *testing.T) {
	tests := []struct {
		name  string
		scant func(*plan.Crawl)
		want  string
	}{
		{"one domain", func(c *plan.Crawl) { c.Domains = 1 }, "politeness"},
		{"a large domain", func(c *plan.Crawl) { c.LargestDomain = 1_000_000 }, "politeness"},
		{"pages that are kept", func(c *plan.Crawl) { c.RetentionDays = 10; c.Cores = 128 }, "disk of the brokers"},
		{"machines of one core", func(c *plan.Crawl) { c.Cores = 1; c.RetentionDays = 0; c.Known = 1 }, "CPU of the stages"},
		{"little memory", func(c *plan.Crawl) { c.Memory = 1 << 30; c.RetentionDays = 0 }, "memory of the stages"},
		{"a slow network", func(c *plan.Crawl) { c.Network = 1e8; c.RetentionDays = 0 }, "network of the brokers"},
	}
	for _, tt := range tests {
		c := plan.DefaultCrawl()
		c.Pages, c.Days, c.Domains = 864_000_000, 10, 1_000_000
		tt.scant(&c)
		p := plan.For(c, plan.Default())
		if got := p.Bottlenecks[0]; got.What != tt.want {
			t.Errorf("%s: the bottleneck is %+v, want %s", tt.name, got, tt.want)
		}
		if (p.Bottlenecks[0].What == "politeness") == p.Politeness.Possible {
			t.Errorf("%s: %+v", tt.name, p.Politeness)
		}
	}
}

func TestValidateNamesWhatIsNoCrawl(t *testing.T) {
	good := plan.DefaultCrawl()
	good.Pages, good.Days, good.Domains = 1000, 1, 10
	if err := good.Validate(); err != nil {
		t.Fatal(err)
	}
	for want, spoil := range map[string]func(*plan.Crawl){
		"0 pages":          func(c *plan.Crawl) { c.Pages = 0 },
		"0 days":           func(c *plan.Crawl) { c.Days = 0 },
		"NaN days":         func(c *plan.Crawl) { c.Days = math.NaN() },
		"2000 domains":     func(c *plan.Crawl) { c.Domains = 2000 },
		"largest domain":   func(c *plan.Crawl) { c.LargestDomain = 1001 },
		"is empty":         func(c *plan.Crawl) { c.PageBytes = 0 },
		"links":            func(c *plan.Crawl) { c.Links = -1 },
		"known URLs":       func(c *plan.Crawl) { c.Known = 0.5 },
		"large bodies":     func(c *plan.Crawl) { c.LargeShare = 2 },
		"delay":            func(c *plan.Crawl) { c.Delay = -1 },
		"a response in 0s": func(c *plan.Crawl) { c.Response = 0 },
		"replication of 0": func(c *plan.Crawl) { c.Replication = 0 },
		"retention":        func(c *plan.Crawl) { c.RetentionDays = -1 },
		"a machine":        func(c *plan.Crawl) { c.Cores = 0 },
		"a process":        func(c *plan.Crawl) { c.ProcessCores = 0 },
		"a load":           func(c *plan.Crawl) { c.Load = 1.5 },
	} {
		c := good
		spoil(&c)
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want something of %q", err, want)
		}
	}
}

func TestModelIsReadAsItIsWritten(t *testing.T) {
	m := plan.Default()
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	again, err := plan.ParseModel(text)
	if err != nil || !reflect.DeepEqual(again, m) {
		t.Errorf("%+v, %v", again, err)
	}
	if r := m.Rounded(); !reflect.DeepEqual(r, r.Rounded()) {
		t.Error("rounding twice is not rounding once")
	}
	for want, text := range map[string]string{
		"stage parse is missing":                 `{}`,
		"topic parsed is missing":                `{}`,
		"replay of schedule is missing":          `{}`,
		"unknown field":                          `{"stagess": {}}`,
		"stage fetch is missing or no cost":      strings.Replace(string(text), `"fetch":{"cpu_us":{"page":`, `"fetch":{"cpu_us":{"page":-`, 1),
		"cannot unmarshal string into Go struct": `{"bloom_bits_per_url": "many"}`,
	} {
		if _, err := plan.ParseModel([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want something of %q", err, want)
		}
	}
}
