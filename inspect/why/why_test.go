package why

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs"
	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/processors/normalize/scope"
	"github.com/weftcrawl/weft/processors/parse/document"
	"github.com/weftcrawl/weft/topics"
)

var update = flag.Bool("update", false, "rewrite testdata")

const (
	link     = weftpb.Via_VIA_LINK
	redirect = weftpb.Via_VIA_REDIRECT
	seed     = weftpb.Via_VIA_SEED
	sitemap  = weftpb.Via_VIA_SITEMAP
)

const site = "https://example.com/"

// question is a URL, a domain, or empty.
type question string

// stories are histories, each with the questions that are asked in the end.
var stories = []struct {
	name      string
	define    func(*topics.Definition)
	happens   func(*world)
	questions []question
}{
	{name: "seed", questions: []question{"HTTPS://user@EXAMPLE.com:443/a/..?x=%7e#top", site, "example.com", ""}, happens: func(w *world) {
		w.seeds(site)
		w.seeds(site + "?x=~")
		w.robots("example.com", 200, "")
		w.answers("example.com", answer(200))
		w.parsed(site)
		w.pass(2 * time.Second)
		w.tick("example.com")
		w.answers("example.com", answer(200))
		w.parsed(site + "?x=~")
		w.consumed()
		w.pass(5 * time.Minute)
	}},
	{name: "chain", define: func(d *topics.Definition) { d.Scope = "any" }, questions: []question{"https://far.example.org/4"}, happens: func(w *world) {
		w.seeds(site)
		w.admitted(site, link, 1, site+"1")
		w.admitted(site+"1", link, 2, "https://example.net/2")
		w.admitted("https://example.net/2", redirect, 2, "https://example.net/3")
		w.admitted("https://example.net/3", link, 3, "https://far.example.org/4")
		w.consumed()
	}},
	{name: "redirect", questions: []question{"http://example.com/", "https://www.example.com/"}, happens: func(w *world) {
		w.seeds("http://example.com/")
		w.robots("example.com", 404, "")
		w.answers("example.com", answer(301))
		w.pass(time.Second)
		w.admitted("http://example.com/", seed, 0, "https://www.example.com/")
		w.consumed()
	}},
	{name: "sitemaps", questions: []question{site + "sitemap.xml", site + "list", site + "lander"}, happens: func(w *world) {
		w.seeds(site)
		w.robots("example.com", 404, "")
		w.answers("example.com", answer(200))
		w.pass(2 * time.Second)
		w.hear(&weftpb.Deduped{Targets: []*weftpb.Target{
			{Url: site + "sitemap.xml", Via: sitemap, Sitemap: &weftpb.Sitemap{Level: 1, Host: "example.com"}},
			{Url: site + "list", Via: sitemap, Sitemap: &weftpb.Sitemap{Level: 1, Host: "example.com"}},
			{Url: site + "lander", Via: sitemap, Sitemap: &weftpb.Sitemap{Level: 1, Host: "example.org", Root: "https://example.org/s.xml", OutOfScope: true}},
		}})
		w.tick("example.com")
		w.answers("example.com", answer(200), answer(200), answer(200))
		w.parsed(site + "list")
		w.consumed()
		w.pass(time.Minute)
	}},
	{name: "retry", questions: []question{site, "example.com"}, happens: func(w *world) {
		w.seeds(site)
		w.robots("example.com", 404, "")
		w.answers("example.com", answer(503))
		w.pass(2 * time.Second)
		w.tick("example.com")
		w.answers("example.com", fails("connect_timeout"))
		w.consumed()
		w.pass(time.Second)
	}},
	{name: "gaveup", questions: []question{site, "example.com"}, happens: func(w *world) {
		w.seeds(site)
		w.robots("example.com", 404, "")
		for range 4 {
			w.answers("example.com", fails("reset"))
			w.pass(time.Minute)
			w.tick("example.com")
		}
		w.consumed()
	}},
	{name: "replay", define: func(d *topics.Definition) { d.Replay = "/archive" }, questions: []question{site, site + "broken"}, happens: func(w *world) {
		w.seeds(site, site+"broken")
		w.robots("example.com", 404, "")
		w.answers("example.com", fails("not_archived"), &weftpb.Outcome{Status: 503, ErrorClass: "archived_failure"})
		w.consumed()
		w.pass(time.Minute)
	}},
	{name: "robots-denied", questions: []question{site + "private/a", site + "public"}, happens: func(w *world) {
		w.seeds(site+"private/a", site+"private/b", site+"public")
		w.robots("example.com", 200, "User-agent: *\nDisallow: /private\nAllow: /private/b\n")
		w.consumed()
		w.pass(time.Second)
	}},
	{name: "robots-unheld", questions: []question{site + "a", "example.com"}, happens: func(w *world) {
		var text strings.Builder
		text.WriteString("User-agent: *\nCrawl-delay: 2\n")
		for i := range 5000 {
			fmt.Fprintf(&text, "Disallow: /*%d$\n", i)
		}
		w.seeds(site + "a")
		w.robots("example.com", 200, text.String())
		w.consumed()
		w.pass(time.Second)
	}},
	{name: "robots-unreachable", questions: []question{site, "example.com", ""}, happens: func(w *world) {
		w.seeds(site)
		w.robots("example.com", 0, "")
		w.pass(2 * time.Second)
		w.tick("example.com")
		w.robots("example.com", 503, "")
		w.consumed()
		w.pass(time.Second)
	}},
	{name: "out", questions: []question{site + "b", "www.example.com", ""}, happens: func(w *world) {
		w.seeds(site)
		w.robots("example.com", 200, "User-agent: *\nCrawl-delay: 5\n")
		w.pass(5 * time.Second)
		w.tick("example.com")
		w.admitted(site, link, 1, site+"a", site+"b", site+"c", site+"d")
		w.answers("example.com", answer(200))
		w.pass(5 * time.Second)
		w.tick("example.com")
		w.pass(5 * time.Second)
		w.answers("example.com", answer(200))
		w.consumed()
		w.pass(time.Second)
	}},
	{name: "queued", questions: []question{site + "deep/c", "example.com", ""}, happens: func(w *world) {
		w.seeds(site)
		w.robots("example.com", 404, "")
		w.admitted(site, link, 4, site+"deep/a", site+"deep/b", site+"deep/c")
		w.consumed()
		w.pass(time.Minute)
	}},
	{name: "breaker", questions: []question{"example.com", site, ""}, happens: func(w *world) {
		w.seeds(site, site+"2", site+"3", site+"4", site+"5")
		w.robots("example.com", 404, "")
		for range 5 {
			w.answers("example.com", fails("connect_refused"))
			w.pass(20 * time.Second)
			w.tick("example.com")
		}
		w.consumed()
	}},
	{name: "retry-after", questions: []question{"example.com"}, happens: func(w *world) {
		w.seeds(site)
		w.robots("example.com", 404, "")
		later := answer(429)
		later.RetryAfterMs = 600_000
		w.answers("example.com", later)
		w.consumed()
		w.pass(time.Minute)
	}},
	{name: "out-of-scope", define: func(d *topics.Definition) { d.Exclude = []string{`\.pdf$`, "calendar"} }, questions: []question{
		"https://shop.example.com/", site + "calendar?m=1", site + "new", "ftp://example.com/", "nowhere.example", "10.0.0.1", site + "x/y/x/y/x/y/x/y",
	}, happens: func(w *world) {
		w.seeds(site)
		w.consumed()
	}},
	{name: "too-deep", define: func(d *topics.Definition) { d.MaxDepth = 1 }, questions: []question{
		site + "deep?a&b", site + "unfollowed", site + "both", site + "unnamed",
	}, happens: func(w *world) {
		names := func(path, rel string) codecs.ParsedLink {
			return codecs.ParsedLink{URL: site + path, Rel: rel, Kind: string(document.KindAnchor)}
		}
		w.seeds(site)
		w.admitted(site, link, 1, site+"1")
		w.parsed(site+"1", names("deep?a&b", ""), names("unfollowed", "nofollow"), names("both", ""))
		w.parsed(site, names("both", "")) // its record of discovered was rejected
		w.consumed()
	}},
	{name: "redirected-too-often", questions: []question{site + "22"}, happens: func(w *world) {
		w.seeds(site)
		last := &weftpb.Target{Url: site + "21", Via: redirect, Redirects: scope.MaxRedirects}
		w.event(w.names.Deduped, w.partition("example.com"), "example.com", &weftpb.Deduped{Source: site + "20", Targets: []*weftpb.Target{last}})
		w.admit("example.com", []*weftpb.Target{last})
		w.consumed()
	}},
	{name: "in-transit", questions: []question{site + "normalized", site + "discovered", site + "seeds", site + "deduped"}, happens: func(w *world) {
		w.seeds(site)
		w.consumed()
		w.found(site, link, 1, site+"deduped")
		w.unread(w.names.Normalized, &weftpb.Normalized{Source: site, Targets: []*weftpb.Target{{Url: site + "normalized", Depth: 1, Via: link}}})
		w.unread(w.names.Discovered, &weftpb.Discovered{Source: site, Via: link, Links: []*weftpb.Link{{Url: "x"}, {Url: "discovered#top"}}})
		w.write(w.names.Seeds, 0, "", []byte(site+"seeds"))
	}},
	{name: "variants", questions: []question{site + "b", site + "b/", site + "c", "example.com"}, happens: func(w *world) {
		w.seeds(site)
		const domain = "example.com"
		w.robots(domain, 404, "")
		w.answers(domain, answer(200))
		show := func(kind weftpb.Evidence_Kind, path, to string) *weftpb.Evidence {
			return &weftpb.Evidence{Kind: kind, Url: site + path, SameAs: site + to}
		}
		learns := func(d *weftpb.Deduped) {
			d.Source = site
			w.event(w.names.Deduped, w.partition(domain), domain, d)
		}
		for _, path := range []string{"1", "2", "3"} {
			learns(&weftpb.Deduped{Evidence: []*weftpb.Evidence{show(weftpb.Evidence_KIND_REDIRECT, path, path+"/")}})
		}
		learns(&weftpb.Deduped{Evidence: []*weftpb.Evidence{show(weftpb.Evidence_KIND_CANONICAL, "d/index.php", "d/")}})
		b, c := &weftpb.Target{Url: site + "b", Depth: 1, Via: link}, &weftpb.Target{Url: site + "c", Depth: 1, Via: link}
		kept := []*weftpb.Target{{Url: site + "b/", Depth: 1, Via: link}}
		learns(&weftpb.Deduped{Targets: kept, Merged: []*weftpb.Merged{
			{Target: b, Kept: site + "b/", Rules: []string{"slash"}}, {Target: c, Kept: site + "b/"},
		}})
		w.admit(domain, kept)
		w.consumed()
	}},
	{name: "aside", questions: []question{"http://example.com/a", "http://example.com/b", "example.com", ""}, happens: func(w *world) {
		w.copies("a", "b")
		w.consumed()
		w.pass(time.Second)
	}},
	{name: "withdrawn", questions: []question{"http://example.com/a", "http://example.com/b", site + "a", "example.com", ""}, happens: func(w *world) {
		w.copies("a", "b")
		w.hear(&weftpb.Deduped{Groups: []*weftpb.Group{{Name: "example.com https", State: weftpb.Group_STATE_WITHDRAWN}}})
		w.pass(time.Minute)
		w.hear(&weftpb.Deduped{Recalled: []string{"http://example.com/b"}})
		w.consumed()
	}},
	{name: "withdrawn-and-back", questions: []question{"http://example.com/a", "example.com"}, happens: func(w *world) {
		w.copies("a")
		https := func(state weftpb.Group_State) {
			w.pass(time.Minute)
			w.hear(&weftpb.Deduped{Groups: []*weftpb.Group{{Name: "example.com https", State: state}}})
		}
		https(weftpb.Group_STATE_WITHDRAWN)
		https(weftpb.Group_STATE_FREE)
		https(weftpb.Group_STATE_WITHDRAWN)
		w.robots("example.com", 404, "")
		w.pass(time.Minute)
		w.tick("example.com")
		w.answers("example.com", answer(200))
		w.consumed()
	}},
	{name: "withdrawn-trimmed", questions: []question{"http://example.com/a"}, happens: func(w *world) {
		w.seeds(site)
		w.trim(w.names.Scheduled, w.partition("example.com"), 1)
		w.hear(&weftpb.Deduped{Targets: []*weftpb.Target{
			{Url: site + "a", Depth: 1, Via: link}, {Url: "http://example.com/a", Depth: 1, Via: link, Group: "example.com https", Twin: site + "a"},
		}})
		w.hear(&weftpb.Deduped{Groups: []*weftpb.Group{{Name: "example.com https", State: weftpb.Group_STATE_WITHDRAWN}}})
		w.consumed()
	}},
	{name: "trap-withdrawn", questions: []question{site + "a", site + "t", "example.com"}, happens: func(w *world) {
		w.seeds(site)
		const group = "trap 0123456789abcdef"
		queued := &weftpb.Target{Url: site + "a", Depth: 1, Via: link, Group: group}
		w.hear(&weftpb.Deduped{Targets: []*weftpb.Target{queued}, Groups: []*weftpb.Group{{Name: group, State: weftpb.Group_STATE_FREE}}})
		w.pass(time.Minute)
		w.hear(&weftpb.Deduped{
			Groups: []*weftpb.Group{{Name: group, State: weftpb.Group_STATE_WITHDRAWN}},
			Parked: []*weftpb.Parked{{
				Host: "example.com", Template: "/{word}", Reason: "same_content", Groups: []string{group},
				Targets: []*weftpb.Target{{Url: site + "t", Depth: 1, Via: link}},
			}},
		})
		w.consumed()
	}},
	{name: "trap", questions: []question{site + "cal/2031-01-01", site + "cal/2031-01-02", site + "cal/2031-01-03"}, happens: func(w *world) {
		w.seeds(site)
		held := []*weftpb.Target{{Url: site + "cal/2031-01-01", Depth: 1, Via: link}, {Url: site + "cal/2031-01-02", Depth: 1, Via: link}}
		trap := &weftpb.Parked{Host: "example.com", Template: "/Cal/{date}", Reason: "calendar", Targets: held}
		w.event(w.names.Deduped, w.partition("example.com"), "example.com", &weftpb.Deduped{Source: site, Parked: []*weftpb.Parked{trap}})
		w.pass(time.Minute)
		w.event(w.names.Deduped, w.partition("example.com"), "example.com", &weftpb.Deduped{
			Targets: held[:1], Lifted: &weftpb.Lift{Host: trap.Host, Template: trap.Template},
		})
		w.admit("example.com", held[:1])
		w.consumed()
	}},
	{name: "trimmed", questions: []question{site, site + "late", site + "never", "example.com", ""}, happens: func(w *world) {
		w.seeds(site)
		w.robots("example.com", 404, "")
		w.answers("example.com", answer(200))
		w.pass(time.Minute)
		begins := w.next[fmt.Sprint(w.names.Scheduled, w.partition("example.com"))]
		w.admitted(site, link, 1, site+"late")
		w.consumed()
		w.trim(w.names.Scheduled, w.partition("example.com"), begins)
		w.trim(w.names.Deduped, w.partition("example.com"), 2)
	}},
	{name: "lost", questions: []question{site}, happens: func(w *world) {
		w.seeds(site)
		w.robots("example.com", 404, "")
		w.pass(10 * time.Minute)
		w.tick("example.com")
		w.consumed()
		w.pass(time.Second)
	}},
	{name: "put-off", questions: []question{"http://example.com/", "example.com"}, happens: func(w *world) {
		w.seeds(site)
		w.robots("example.com", 404, "")
		w.seeds("http://example.com/")
		w.answers("example.com", answer(200))
		w.robots("example.com", 503, "")
		w.pass(2 * time.Second)
		w.seeds(site + "more")
		w.pass(2 * time.Second)
		w.tick("example.com")
		w.consumed()
	}},
	{name: "paused", questions: []question{site + "2", "example.com", ""}, happens: func(w *world) {
		w.seeds(site)
		w.robots("example.com", 404, "")
		w.answers("example.com", answer(200))
		w.seeds(site + "2")
		w.answers("example.com", fails("reset"))
		w.consumed()
		w.control(func(c topics.Control) topics.Control { return c.WithPaused(true, topics.Fetch) })
		w.pass(time.Hour)
	}},
	{name: "stopped", questions: []question{site, "example.com", ""}, happens: func(w *world) {
		w.seeds(site)
		w.robots("example.com", 404, "")
		w.consumed()
		w.running()
		w.pass(26 * time.Hour)
	}},
	{name: "behind", define: func(d *topics.Definition) { d.Scope, d.PerDomain = "prefix", 4 }, questions: []question{
		site + "a/", site + "b/", "",
	}, happens: func(w *world) {
		w.seeds(site + "a/")
		w.robots("example.com", 404, "")
		w.answers("example.com", answer(200))
		w.consumed()
		w.unread(w.names.Fetched, &weftpb.Fetched{})
		w.running(topics.Schedule, topics.Fetch, topics.Normalize, topics.Dedupe)
		w.pass(time.Second)
	}},
	{name: "many", define: func(d *topics.Definition) { d.Scope = "any" }, questions: []question{""}, happens: func(w *world) {
		for i := range 300 {
			w.seeds(site + strings.Repeat("x", i))
		}
		w.robots("example.com", 200, "User-agent: *\nCrawl-delay: 30\n")
		w.seeds("https://a.example/", "https://a.example/2", "https://b.example/", "https://c.example/", "https://c.example/2")
		w.robots("a.example", 404, "")
		w.robots("b.example", 503, "")
		w.robots("c.example", 404, "")
		w.memory("host-1", 600<<20, map[string]int64{"garbage": 90 << 20, "memtables": 30 << 20, "bodies": 30 << 20, "stacks": 1000, "unused": 40 << 20, "broker": 2 << 20})
		w.memory("host-2", 0, map[string]int64{"other": 5 << 20})
		w.answers("a.example", answer(200))
		w.answers("c.example", fails("reset"))
		w.consumed()
		w.pass(500 * time.Millisecond)
	}},
	{name: "blocked", questions: []question{site + "2", "example.com", "example.org", ""}, happens: func(w *world) {
		w.seeds(site, site+"2", "https://example.org/", "https://example.org/2")
		w.robots("example.com", 404, "")
		w.robots("example.org", 404, "")
		w.setting("example.com", &weftpb.DomainSetting{Blocked: true, Reason: "asked to stop", SetMs: w.now.UnixMilli()})
		w.setting("example.org", &weftpb.DomainSetting{
			DelayMs: proto.Int64(5000), PerDay: 2, Priority: weftpb.DomainSetting_PRIORITY_HIGH, SetMs: w.now.UnixMilli(),
		})
		w.answers("example.com", answer(200), &weftpb.Outcome{Skipped: true})
		w.answers("example.org", answer(200), &weftpb.Outcome{Skipped: true})
		w.consumed()
		w.pass(2 * time.Second)
	}},
}

// copies has the seed name paths twice: with https, and with http, which waits aside.
func (w *world) copies(paths ...string) {
	w.t.Helper()
	w.seeds(site)
	w.robots("example.com", 404, "")
	w.answers("example.com", answer(200))
	d := &weftpb.Deduped{}
	for _, path := range paths {
		d.Targets = append(d.Targets, &weftpb.Target{Url: site + path, Depth: 1, Via: link}, &weftpb.Target{
			Url: "http://example.com/" + path, Depth: 1, Via: link, Group: "example.com https", Twin: site + path,
		})
	}
	w.hear(d)
}

// unread writes a record of example.com that no stage has read.
func (w *world) unread(topic string, m proto.Message) {
	w.t.Helper()
	w.write(topic, w.partition("example.com"), "example.com", w.encode(m))
}

type story interface{ WriteText(to io.Writer) error }

func ask(t testing.TB, w *world, a *Asker, q question) story {
	t.Helper()
	var (
		s   story
		err error
	)
	switch about := string(q); {
	case about == "":
		s, err = a.Crawl(w.ctx, w.now, time.UTC)
	case strings.Contains(about, "://"):
		s, err = a.URL(w.ctx, about, w.now, time.UTC)
	default:
		s, err = a.Domain(w.ctx, about, about, w.now, time.UTC)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestStories(t *testing.T) {
	for _, test := range stories {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t, test.define)
			test.happens(w)
			var screens, records bytes.Buffer
			a := w.asker()
			for _, q := range test.questions {
				s := ask(t, w, a, q)
				screens.WriteString("$ weft why " + string(q) + "\n")
				if err := s.WriteText(&screens); err != nil {
					t.Fatal(err)
				}
				screens.WriteString("\n")
				encoder := json.NewEncoder(&records)
				encoder.SetEscapeHTML(false)
				encoder.SetIndent("", " ")
				if err := encoder.Encode(s); err != nil {
					t.Fatal(err)
				}
			}
			golden(t, test.name+".txt", screens.Bytes())
			golden(t, test.name+".json", records.Bytes())
		})
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := "testdata/" + name
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (-update rewrites it); now:\n%s", file, got)
	}
}
