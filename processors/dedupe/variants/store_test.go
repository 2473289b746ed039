package variants

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/test/memstore"
)

var kinds = map[string]weftpb.Evidence_Kind{
	"redirect": weftpb.Evidence_KIND_REDIRECT, "canonical": weftpb.Evidence_KIND_CANONICAL, "content": weftpb.Evidence_KIND_CONTENT,
	"own": weftpb.Evidence_KIND_OWN, "page": weftpb.Evidence_KIND_PAGE, "missing": weftpb.Evidence_KIND_MISSING, "nearly": weftpb.Evidence_KIND_CONTENT,
	"short": weftpb.Evidence_KIND_SHORT, "file": weftpb.Evidence_KIND_FILE,
}

// script reads "redirect /a /a/": paths are of x.org, what has a scheme stays.
// "relative" in front is of a page with relative links.
func script(t *testing.T, line string) *weftpb.Evidence {
	t.Helper()
	line, relative := strings.CutPrefix(line, "relative ")
	words := append(strings.Fields(line), "")
	kind, ok := kinds[words[0]]
	if !ok {
		t.Fatalf("%q is no evidence", line)
	}
	e := &weftpb.Evidence{Kind: kind, Url: full(words[1]), SameAs: full(words[2]), Relative: relative}
	if words[0] == "nearly" {
		e.Distance = 1
	}
	return e
}

func full(path string) string {
	if strings.HasPrefix(path, "/") {
		return "http://x.org" + path
	}
	return path
}

// sixContents bring no-slash into force.
var sixContents = []string{"content /a/ /a", "content /b/ /b", "content /c/ /c", "content /d/ /d", "content /e/ /e", "content /f/ /f"}

func TestRulesAreLearnt(t *testing.T) {
	for _, c := range []struct {
		name  string
		shown []string
		// want is "rule in force", "rule broken" or "rule POINTS", in order.
		want string
	}{
		{"three paths", []string{"redirect /a /a/", "redirect /b /b/", "canonical /c /c/"}, "slash in force, no-slash broken"},
		{"one path three times", []string{"redirect /a /a/", "redirect /a?p=1 /a/?p=1", "canonical /a?p=2 /a/?p=2"}, "slash 2, no-slash broken"},
		{"the content of six", []string{"content /a/ /a", "content /b/ /b", "content /c/ /c", "content /d/ /d", "content /e/ /e", "content /f/ /f"},
			"no-slash in force"},
		{"content follows what was said", []string{"redirect /a /a/", "content /b/ /b", "content /c/ /c"}, "slash 4, no-slash broken"},
		{"said later of the same path", []string{"content /a /a/", "redirect /a /a/"}, "slash 2, no-slash broken"},
		{"content of both ways keeps to the first", []string{"content /a /a/", "content /b/ /b"}, "slash 2"},
		{"nearly the same is not enough", []string{"content /a /a/", "nearly /b /b/", "nearly /c/ /c"}, "slash 1"},
		{"relative links: contents are none", []string{"relative content /a/ /a", "relative content /b/ /b", "relative content /c/ /c",
			"relative content /d/ /d", "relative content /e/ /e", "relative content /f/ /f"}, ""},
		{"relative links: the contents of others", []string{"relative page /z", "content /a/ /a", "content /b/ /b", "content /c/ /c",
			"content /d/ /d", "content /e/ /e", "content /f/ /f"}, ""},
		{"relative links: of another site", []string{"relative page http://a.x.org/z", "content /a/ /a", "content /b/ /b", "content /c/ /c",
			"content /d/ /d", "content /e/ /e", "content /f/ /f"}, "no-slash in force"},
		{"relative links later", []string{"content /a/ /a", "content /b/ /b", "relative short /z", "content /c/ /c"}, ""},
		{"relative links break what contents say", []string{"content /a/ /a", "content /b/ /b", "content /c/ /c", "content /d/ /d", "content /e/ /e",
			"content /f/ /f", "relative page /z"}, "no-slash broken"},
		{"relative links of a probe", []string{"content /a/ /a", "content /b/ /b", "content /c/ /c", "content /d/ /d", "content /e/ /e",
			"content /f/ /f", "relative content /z/ /z"}, "no-slash broken"},
		{"relative links of an index file do not depend on it", []string{"content /a/ /a", "relative content /a/index.html /a/"}, "no-slash 1, index.html 1"},
		{"relative links of an index file and no slash", []string{"relative content /a/index.html /a"}, ""},
		{"relative links and other rules", []string{"relative content http://www.x.org/a/ /a/", "relative content https://x.org/b/ /b/"},
			"https 1, no-www 1"},
		{"relative links do not matter to redirects", []string{"redirect /a /a/", "redirect /b /b/", "relative content /z /z/", "redirect /c /c/",
			"relative page /z/", "relative content /y /y/"}, "slash in force, no-slash broken"},
		{"relative links leave what redirects say", []string{"content /a /a/", "content /b /b/", "redirect /c /c/", "relative content /z /z/"},
			"slash 2, no-slash broken"},
		{"relative links: a canonical URL is none", []string{"relative canonical /a /a/", "relative canonical /b /b/", "relative canonical /c /c/"},
			"no-slash broken"},
		{"relative links: a canonical URL the other way", []string{"canonical /a /a/", "relative canonical /b/ /b"}, "slash broken, no-slash broken"},
		{"relative links elsewhere leave canonical URLs", []string{"canonical /a /a/", "relative page /z/", "canonical /b /b/", "canonical /c /c/"},
			"slash in force, no-slash broken"},
		{"both ways", []string{"redirect /a /a/", "redirect /b/ /b"}, "slash broken, no-slash broken"},
		{"broken stays broken", []string{"page /a", "page /a/", "redirect /a /a/", "redirect /b /b/", "redirect /c /c/"}, "slash broken, no-slash broken"},
		{"all in one", []string{"redirect http://www.x.org/a https://x.org/a/", "redirect http://www.x.org/b https://x.org/b/",
			"redirect http://www.x.org/c https://x.org/c/"}, "https in force, no-www in force, www broken, slash in force, no-slash broken, http broken"},
		{"https to http", []string{"redirect https://x.org/a /a"}, "https broken, http 2"},
		{"https to http by three", []string{"canonical https://x.org/a /a", "content https://x.org/b /b", "canonical https://x.org/b /b", "redirect https://x.org/c /c"},
			"https broken, http in force"},
		{"both schemes name each other", []string{"canonical https://x.org/a /a", "canonical /a https://x.org/a"}, "https broken, http broken"},
		{"a page of its own at https", []string{"canonical https://x.org/a /a", "canonical https://x.org/b /b", "canonical https://x.org/c /c", "own https://x.org/d"},
			"https broken, http broken"},
		{"a file at https", []string{"canonical https://x.org/a /a", "canonical https://x.org/b /b", "canonical https://x.org/c /c", "file https://x.org/d", "page /e"},
			"https broken, http in force"},
		{"equal texts speak for https", []string{"content https://x.org/a /a", "content /b https://x.org/b"}, "https 2"},
		{"equal texts do not speak for http", []string{"canonical https://x.org/a /a", "content https://x.org/b /b", "content /c https://x.org/c"}, "https broken, http 2"},
		{"of another site", []string{"redirect http://a.x.org/a http://b.x.org/a"}, ""},
		{"unrelated", []string{"redirect /a /b/", "content /a /b", "canonical /a /a", "missing /a"}, ""},
		{"a page of its own without a rule", []string{"own /a"}, ""},
		{"a page of its own against one", []string{"redirect /a /a/", "redirect /b /b/", "redirect /c /c/", "own /d"}, "slash broken, no-slash broken"},
		{"a page of its own that it keeps", []string{"redirect /a /a/", "redirect /b /b/", "redirect /c /c/", "own /d/"}, "slash in force, no-slash broken"},
		{"a probe of equal texts that is read before its variant", append(slices.Clone(sixContents), "own /g/", "content /g /g/"), "no-slash in force"},
		{"a probe of equal texts and its variant are two pages", append(slices.Clone(sixContents), "own /g/", "page /g"), "slash broken, no-slash broken"},
		{"a probe of equal texts is another page than its variant", append(slices.Clone(sixContents), "page /g", "own /g/"), "slash broken, no-slash broken"},
		{"a page where others redirect", []string{"redirect /a /a/", "page /b"}, "slash broken, no-slash broken"},
		{"a page, and others redirect later", []string{"page /a", "redirect /b /b/"}, "slash broken, no-slash broken"},
		{"a page against a rule in force", []string{"redirect /a /a/", "redirect /b /b/", "redirect /c /c/", "page /d"}, "slash broken, no-slash broken"},
		{"a file where pages name canonical URLs", []string{"file /p", "canonical /a /a/", "canonical /b /b/", "file /q", "canonical /c /c/", "file /d"}, "slash in force, no-slash broken"},
		{"other files at both", append(slices.Clone(sixContents), "file /g/", "file /g"), "slash broken, no-slash broken"},
		{"pages at what others redirect to", []string{"page /a/", "redirect /a /a/", "page /b/"}, "slash 2, no-slash broken"},
		{"a page that comes before its copy", []string{"page /a", "content /a/ /a"}, "no-slash 1"},
		{"the content of six where others have pages", []string{"page /a/", "content /a /a/", "page /b/", "content /b /b/", "page /c/", "content /c /c/",
			"page /d/", "content /d /d/", "page /e/", "content /e /e/", "page /f/", "content /f /f/", "page /g"}, "slash in force"},
		{"other pages at both", []string{"content /a/index.php /a/", "page /d/index.php", "page /d/"}, "index.php broken"},
		{"other pages at both, of a rule in force", []string{"content /a /a/", "content /b /b/", "content /c /c/", "content /d /d/", "content /e /e/",
			"content /f /f/", "page /g/?p=1", "page /g?p=2", "page /g?p=1"}, "slash broken, no-slash broken"},
		{"other pages at all", []string{"page http://www.x.org/a", "page https://x.org/a/"}, "https broken, no-www broken, www broken, slash broken, no-slash broken, http broken"},
		{"pages of two index files", []string{"page /index.html", "page /index.php"}, ""},
		{"index files", []string{"canonical /index.html /", "canonical /a/index.html /a/", "redirect /b/index.html /b/", "redirect /index.php /"},
			"index.html in force, index.php 2"},
		{"no index file is added", []string{"redirect / /index.html"}, "index.html broken"},
	} {
		t.Run(c.name, func(t *testing.T) {
			crawl := newCrawl(t, true)
			for _, line := range c.shown {
				crawl.take(&weftpb.Normalized{Evidence: []*weftpb.Evidence{script(t, line)}})
			}
			crawl.check()
			var got []string
			for _, account := range crawl.sites.Accounts() {
				for _, r := range account.Rules {
					state := fmt.Sprint(r.Points)
					if r.InForce {
						state = "in force"
					} else if r.Broken {
						state = "broken"
					}
					got = append(got, r.Rule+" "+state)
				}
			}
			if got := strings.Join(got, ", "); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// taught is a crawl of a site whose URLs end with a slash.
func taught(t *testing.T, same ...string) *crawl {
	c := newCrawl(t, true, same...)
	c.show(t, "redirect /1 /1/", "redirect /2 /2/", "redirect /3 /3/")
	c.name(weftpb.Via_VIA_LINK, "/first", "/second")
	return c
}

func (c *crawl) show(t *testing.T, lines ...string) (last *weftpb.Deduped) {
	for _, line := range lines {
		last = c.take(&weftpb.Normalized{Evidence: []*weftpb.Evidence{script(t, line)}})
	}
	return last
}

func (c *crawl) name(via weftpb.Via, paths ...string) *weftpb.Deduped {
	n := &weftpb.Normalized{}
	for _, path := range paths {
		n.Targets = append(n.Targets, &weftpb.Target{Url: full(path), Via: via})
	}
	return c.take(n)
}

// became is an event as "/a, /b (probe); /c → /d by slash".
func became(d *weftpb.Deduped) string {
	var targets, merged []string
	for _, t := range d.Targets {
		text := strings.TrimPrefix(t.Url, "http://x.org")
		if t.Via == weftpb.Via_VIA_PROBE {
			text += " (probe)"
		}
		targets = append(targets, text)
	}
	for _, m := range d.Merged {
		text := strings.TrimPrefix(m.Target.Url, "http://x.org") + " → " + strings.TrimPrefix(m.Kept, "http://x.org")
		if len(m.Rules) > 0 {
			text += " by " + strings.Join(m.Rules, " and ")
		}
		merged = append(merged, text)
	}
	return strings.Join(targets, ", ") + "; " + strings.Join(merged, ", ")
}

func TestWhatIsGivenUp(t *testing.T) {
	const link, seed, redirect = weftpb.Via_VIA_LINK, weftpb.Via_VIA_SEED, weftpb.Via_VIA_REDIRECT
	for _, c := range []struct {
		name  string
		steps func(*crawl) *weftpb.Deduped // the last event is judged
		want  string
	}{
		{"a link", func(c *crawl) *weftpb.Deduped { return c.name(link, "/a") }, "/a/; /a → /a/ by slash"},
		{"both forms in one page", func(c *crawl) *weftpb.Deduped { return c.name(link, "/a/", "/a") }, "/a/; /a → /a/ by slash"},
		{"the kept one is known", func(c *crawl) *weftpb.Deduped { c.name(link, "/a/"); return c.name(link, "/a") }, "; /a → /a/ by slash"},
		{"a second time", func(c *crawl) *weftpb.Deduped { c.name(link, "/a"); return c.name(link, "/a") }, "; "},
		{"a seed", func(c *crawl) *weftpb.Deduped { return c.name(seed, "/a") }, "/a; "},
		{"what a redirect leads to", func(c *crawl) *weftpb.Deduped { return c.name(redirect, "/a") }, "/a; "},
		{"a seed that was given up", func(c *crawl) *weftpb.Deduped { c.name(link, "/a"); return c.name(seed, "/a") }, "/a; "},
		{"a redirect to what was given up", func(c *crawl) *weftpb.Deduped { c.name(link, "/a"); return c.name(redirect, "/a") }, "/a; "},
		{"out of scope", func(c *crawl) *weftpb.Deduped { return c.name(link, "/forbidden") }, "/forbidden; "},
		{"another site", func(c *crawl) *weftpb.Deduped { return c.name(link, "http://a.x.org/a") }, "http://a.x.org/a; "},
		{"the kept one is missing", func(c *crawl) *weftpb.Deduped {
			c.name(link, "/a", "/b")
			return c.take(&weftpb.Normalized{Evidence: []*weftpb.Evidence{script(c.t.(*testing.T), "missing /a/")}})
		}, "/a (probe); "},
		{"the kept one was missing before", func(c *crawl) *weftpb.Deduped {
			c.take(&weftpb.Normalized{Evidence: []*weftpb.Evidence{script(c.t.(*testing.T), "missing /a/")}})
			return c.name(link, "/a")
		}, "/a (probe); "},
		{"the rule breaks", func(c *crawl) *weftpb.Deduped {
			c.name(link, "/a", "/b", "/c/index.html")
			c.name(seed, "/b")
			return c.take(&weftpb.Normalized{Evidence: []*weftpb.Evidence{script(c.t.(*testing.T), "redirect /x/ /x")}})
		}, "/a, /second; "},
		{"it breaks in the record that names a URL", func(c *crawl) *weftpb.Deduped {
			return c.take(&weftpb.Normalized{
				Targets:  []*weftpb.Target{{Url: full("/y"), Via: link}},
				Evidence: []*weftpb.Evidence{script(c.t.(*testing.T), "redirect /x/ /x")},
			})
		}, "/y, /second; "},
		{"a page, and equal ones elsewhere", func(c *crawl) *weftpb.Deduped {
			c.take(&weftpb.Normalized{Evidence: []*weftpb.Evidence{script(c.t.(*testing.T), "page /x"), script(c.t.(*testing.T), "content /x /y")}})
			return c.name(link, "/a")
		}, "/a/; /a → /a/ by slash"},
		{"a page that names others", func(c *crawl) *weftpb.Deduped {
			c.name(link, "/a")
			return c.take(&weftpb.Normalized{
				Targets:  []*weftpb.Target{{Url: full("/y"), Via: link}},
				Evidence: []*weftpb.Evidence{script(c.t.(*testing.T), "page /x")},
			})
		}, "/y, /a, /second; "},
		{"a page of its own with the same content", func(c *crawl) *weftpb.Deduped {
			c.take(&weftpb.Normalized{Evidence: []*weftpb.Evidence{
				script(c.t.(*testing.T), "own /x"), script(c.t.(*testing.T), "content /x /x/"),
			}})
			return c.name(link, "/a")
		}, "/a/; /a → /a/ by slash"},
		{"a page of its own with nearly the same content", func(c *crawl) *weftpb.Deduped {
			c.take(&weftpb.Normalized{Evidence: []*weftpb.Evidence{
				script(c.t.(*testing.T), "own /x"), script(c.t.(*testing.T), "nearly /x /x/"),
			}})
			return c.name(link, "/a")
		}, "/a; "},
	} {
		t.Run(c.name, func(t *testing.T) {
			crawl := taught(t)
			event := c.steps(crawl)
			crawl.check()
			if got := became(event); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestConfiguredRules(t *testing.T) {
	c := taught(t, "no-slash", "index.php@x.org", "www@a.x.org")
	for _, step := range []struct{ url, want string }{
		{"/a/", "/a; /a/ → /a"}, // against what the site has shown
		{"/b/index.php", "/b; /b/index.php → /b"},
		{"http://a.x.org/c", "http://www.a.x.org/c; http://a.x.org/c → http://www.a.x.org/c"},
		{"http://b.x.org/c", "http://b.x.org/c; "},
	} {
		if got := became(c.name(weftpb.Via_VIA_LINK, step.url)); got != step.want {
			t.Errorf("%s: got %s, want %s", step.url, got, step.want)
		}
	}
	c.take(&weftpb.Normalized{Evidence: []*weftpb.Evidence{script(t, "redirect /x/ /x")}})
	if got := became(c.name(weftpb.Via_VIA_LINK, "/d/")); got != "/d; /d/ → /d" {
		t.Errorf("what was configured was given up: %s", got)
	}
	c.check()
	for _, bad := range [][]string{{"case"}, {"slash@"}, {"slash", "no-slash"}, {"slash", "no-slash@x.org"}, {"www@x.org", "no-www@a.x.org"}, {"https@a/b"}} {
		if _, err := NewOptions(true, bad); err == nil {
			t.Errorf("%q are taken", bad)
		}
	}
}

func TestNothingIsLearntUnasked(t *testing.T) {
	c := newCrawl(t, false)
	for _, path := range []string{"/1", "/2", "/3"} {
		if d := c.take(&weftpb.Normalized{Evidence: []*weftpb.Evidence{script(t, "redirect "+path+" "+path+"/")}}); len(d.Evidence) > 0 {
			t.Errorf("%v is written", d.Evidence)
		}
	}
	if got := became(c.name(weftpb.Via_VIA_LINK, "/a")); got != "/a; " {
		t.Error(got)
	}
}

// Directories redirect, and pages do not: if no page links to the other form, or if it is not a
// page, the first URL that is merged would be the last.
func TestFirstIsAProbe(t *testing.T) {
	for _, kind := range []string{"redirect", "canonical"} {
		c := newCrawl(t, true)
		c.show(t, kind+" /1 /1/", kind+" /2 /2/", kind+" /3 /3/")
		if got, want := became(c.name(weftpb.Via_VIA_LINK, "/a", "/e", "/c")), "/a (probe), /e/, /c/; /e → /e/ by slash, /c → /c/ by slash"; got != want {
			t.Errorf("%s: got %s, want %s", kind, got, want)
		}
		if got, want := became(c.show(t, "own /a")), "/e, /c; "; got != want {
			t.Errorf("%s: when it is no variant, got %s, want %s", kind, got, want)
		}
	}
	c := newCrawl(t, true)
	c.show(t, "content /1/ /1", "content /2/ /2", "content /3/ /3", "content /4/ /4", "content /5/ /5", "content /6/ /6")
	if got, want := became(c.name(weftpb.Via_VIA_LINK, "/a/", "/b/")), "/a, /b; /a/ → /a by no-slash, /b/ → /b by no-slash"; got != want {
		t.Errorf("of equal contents got %s, want %s", got, want)
	}
}

// Of many URLs, some are probes, if what stands for them is known; and so much
// only is given up that it can come back at once.
func TestProbesAndBounds(t *testing.T) {
	c := taught(t)
	var probes int
	for i := range 20_000 {
		path := fmt.Sprintf("/%060d", i)
		c.known[full(path+"/")] = true
		d := c.decide(&weftpb.Normalized{Targets: []*weftpb.Target{link(full(path))}})
		if len(d.Targets) > 0 && d.Targets[0].Via == weftpb.Via_VIA_PROBE {
			probes++
		}
		if i%100 == 0 {
			c.apply(d)
		}
	}
	if probes < 20_000/probeEvery/2 || probes > 20_000/probeEvery*2 {
		t.Errorf("%d of 20,000 are probes", probes)
	}
	c = taught(t)
	given := len(c.merged)
	for i := range 100 {
		n := &weftpb.Normalized{}
		for j := range 100 {
			n.Targets = append(n.Targets, link(full(fmt.Sprintf("/%060d", i*100+j))))
		}
		d := c.decide(n)
		c.apply(d)
		given += len(d.Merged)
	}
	restored := c.decide(&weftpb.Normalized{Evidence: []*weftpb.Evidence{script(t, "redirect /x/ /x")}}).Targets
	if len(restored) != given || given > 9_000 || given < 2_000 {
		t.Errorf("%d URLs were given up, %d come back", given, len(restored))
	}
	if size := proto.Size(&weftpb.Deduped{Targets: restored}); size > maxMergedBytes || size < maxMergedBytes/2 {
		t.Errorf("they come back in %d bytes", size)
	}
}

// A store that was opened anew decides as before.
func TestOpenedAnew(t *testing.T) {
	c := taught(t)
	c.name(weftpb.Via_VIA_LINK, "/a", "/b")
	again := Open(c.store)
	n := &weftpb.Normalized{Targets: []*weftpb.Target{link(full("/c"))}, Evidence: []*weftpb.Evidence{script(t, "missing /a/")}}
	want := c.decide(n)
	c.sites = again
	if got := c.decide(n); !proto.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// FuzzDecode: whatever stands in a store, it is read, and what is written is
// read as it was.
func FuzzDecode(f *testing.F) {
	f.Add([]byte{})
	s := site{merged: 3, bytes: 300, rules: map[Rule]ruleState{Slash: {paths: []confirmation{{1, 2}, {3, 1}}}, NoSlash: {broken: true}}}
	f.Add(s.encode())
	f.Fuzz(func(t *testing.T, value []byte) {
		once := decode(value)
		if got := decode(once.encode()); fmt.Sprint(got) != fmt.Sprint(once) {
			t.Errorf("%v becomes %v", once, got)
		}
	})
}

// What was given up by a rule that is not in force any more, as folded by a program
// that takes other evidence for less, comes back when the rule breaks.
func TestGivenUpByARuleThatIsNotInForce(t *testing.T) {
	c := newCrawl(t, true)
	c.apply(&weftpb.Deduped{
		Targets: []*weftpb.Target{link(full("/a/"))},
		Merged:  []*weftpb.Merged{{Target: link(full("/a")), Kept: full("/a/"), Rules: []string{"slash"}}},
	})
	if got := became(c.take(&weftpb.Normalized{Evidence: []*weftpb.Evidence{script(t, "redirect /x/ /x")}})); got != "/a; " {
		t.Error(got)
	}
	c.check()
}

// Of a site of any size a sample of pages is kept, in which those whose URLs are
// related meet.
func TestSampleOfPages(t *testing.T) {
	c := newCrawl(t, true)
	written := 0
	for i := range 5000 {
		written += len(c.take(&weftpb.Normalized{Evidence: []*weftpb.Evidence{script(t, fmt.Sprintf("page /%d", i))}}).Evidence)
	}
	if written > 8*maxPages+5000/probeEvery*2 {
		t.Errorf("%d of 5,000 pages are in events", written)
	}
	v := newView(c.sites, domain)
	if kept := len(v.lookAtPages("x.org").sample); kept != maxPages {
		t.Errorf("%d pages are kept", kept)
	}
	against := 0
	for i := range 5000 {
		if refuted, _ := v.lookAtPages("x.org").add(pageAt(parse(t, full(fmt.Sprintf("/%d/", i))), domain)); refuted == of(Slash, NoSlash) {
			against++
		}
	}
	if against != maxPages {
		t.Errorf("%d pages meet another", against)
	}
}

// A large site has probes outside of its sample. A probe and its variant are compared,
// whichever is read first.
func TestProbesOfEqualTexts(t *testing.T) {
	for _, order := range [][]string{{"page /%d", "own /%d/"}, {"own /%d/", "page /%d"}} {
		c := newCrawl(t, true)
		for i := range 2000 {
			c.show(t, fmt.Sprintf("page /first/%d", i))
		}
		c.show(t, sixContents...)
		inForce := func() bool { return c.sites.tracked["x.org"].inForce.Has(NoSlash) }
		probes := 0
		for i := 0; i < 5000 && inForce(); i++ {
			c.known[full(fmt.Sprintf("/%d", i))] = true
			d := c.name(weftpb.Via_VIA_LINK, fmt.Sprintf("/%d/", i))
			if len(d.Targets) == 0 {
				continue
			}
			if at := pageAt(parse(t, d.Targets[0].Url), domain); at.class < decodePages(c.sites.store.Get(pagesKey("x.org"))).sample[maxPages-1].class {
				continue // the sample alone would do
			}
			if probes++; d.Targets[0].Via != weftpb.Via_VIA_PROBE {
				t.Fatal(became(d))
			}
			for _, line := range order {
				if !inForce() {
					t.Fatalf("%s alone breaks the rule", order[0])
				}
				c.show(t, fmt.Sprintf(line, i))
			}
		}
		if inForce() || probes != 1 {
			t.Errorf("%s: after %d probes with other texts the rule is in force: %v", order[0], probes, inForce())
		}
	}
}

// FuzzDecodePages: as FuzzDecode.
func FuzzDecodePages(f *testing.F) {
	f.Add([]byte{})
	p := pages{denied: of(Slash), relative: true, answered: 1 << ofWWW, sample: []page{{1, of(HTTPS)}, {1 << 63, of(NoSlash, firstIndex+12)}}}
	f.Add(p.encode())
	f.Fuzz(func(t *testing.T, value []byte) {
		once := decodePages(value)
		if got := decodePages(once.encode()); fmt.Sprint(got) != fmt.Sprint(once) {
			t.Errorf("%v becomes %v", once, got)
		}
	})
}

// FuzzWeigh: whatever exchanges claim, a rule and its opposite are never both in
// force.
func FuzzWeigh(f *testing.F) {
	f.Add(uint8(1), "http://x.org/a", "http://x.org/a/", uint8(0), false)
	f.Add(uint8(2), "http://x.org/a", "http://x.org/a/", uint8(0), true)
	f.Add(uint8(3), "https://www.x.org/a/index.html", "http://x.org/a", uint8(64), true)
	f.Fuzz(func(t *testing.T, kind uint8, url, sameAs string, distance uint8, relative bool) {
		v := newView(Open(&memstore.Store{}), domain)
		e := &weftpb.Evidence{Kind: weftpb.Evidence_Kind(kind % 9), Url: url, SameAs: sameAs, Distance: uint32(distance), Relative: relative}
		v.weigh(e)
		if v.weigh(e) {
			t.Errorf("%v changes something twice", e)
		}
		for name, s := range v.sites {
			confirmed := s.confirmed()
			if both := confirmed & confirmed.opposites(); both != 0 {
				t.Errorf("%s is for %v", name, both)
			}
		}
	})
}
