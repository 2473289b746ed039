package traps_test

import (
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/urls"
	"github.com/weftcrawl/weft/processors/dedupe/seen"
	"github.com/weftcrawl/weft/processors/dedupe/traps"
	"github.com/weftcrawl/weft/processors/normalize/scope"
	"github.com/weftcrawl/weft/processors/parse/simhash"
	"github.com/weftcrawl/weft/test/memstore"
	"github.com/weftcrawl/weft/test/webserver"
)

var (
	hrefs = regexp.MustCompile(`href="([^"]*)"`)
	tags  = regexp.MustCompile(`<title>.*</title>|<[^>]*>`)
)

// TestTrapSite crawls a site of traps without a network: what is decided is
// decided by the packages that decide in a crawl, and what is the same content is
// the same text.
func TestTrapSite(t *testing.T) {
	const domain = "trap.example"
	site := webserver.NewTrapSite(domain)
	policy, err := scope.New(scope.Options{Mode: scope.Domain, MaxDepth: scope.NoDepthLimit})
	if err != nil {
		t.Fatal(err)
	}
	set, book := seen.Open(seen.DefaultOptions(), new(memstore.Store)), traps.Open(new(memstore.Store))
	asked, texts, parked := map[string]int{}, map[simhash.Fingerprint]bool{}, map[string]int{}
	queue := []*weftpb.Target{{Url: "http://" + domain + "/", Via: weftpb.Via_VIA_SEED}}
	set.Apply(&weftpb.Deduped{Targets: queue})
	refused := map[scope.Refusal]int{}
	withdrawn := map[string][]*weftpb.Target{} // what waits in groups that are withdrawn
	for len(queue) > 0 && len(asked) < 20_000 {
		target := queue[0]
		queue = queue[1:]
		if withdrawn[target.Group] != nil {
			withdrawn[target.Group] = append(withdrawn[target.Group], target)
			continue
		}
		source, _ := urls.Parse(target.Url)
		asked[source.PathAndQuery()]++
		answer := site.Answer(source.Hostname(), 80, source.PathAndQuery(), nil)
		event := &weftpb.Deduped{Source: target.Url}
		from := scope.Referrer{URL: source, Domain: domain, Depth: target.Depth, Via: weftpb.Via_VIA_LINK, Redirects: target.Redirects}
		links := []string{answer.Location}
		if answer.Status == http.StatusOK {
			text := tags.ReplaceAllString(string(answer.Body), " ")
			event.Showing = weftpb.Showing_SHOWING_NEW
			print, _ := simhash.Of(text)
			if print.Sim != 0 {
				print.Hash = simhash.Hash{} // nearly the same will do
			}
			if texts[print] {
				event.Showing = weftpb.Showing_SHOWING_AGAIN
			}
			texts[print] = true
			links = nil
			for _, m := range hrefs.FindAllStringSubmatch(string(answer.Body), -1) {
				links = append(links, html.UnescapeString(m[1]))
			}
		} else {
			from.Via = weftpb.Via_VIA_REDIRECT
		}
		base := urls.NewBase(source)
		var named []*weftpb.Target
		for _, link := range links {
			u, refusal := base.Resolve(link)
			if refusal != urls.Accepted {
				continue
			}
			standing, outside := policy.Judge(from, u, domain)
			if outside != scope.Accepted {
				refused[outside]++
				continue
			}
			named = append(named, &weftpb.Target{Url: u.String(), Depth: standing.Depth, Via: standing.Via, Redirects: standing.Redirects})
		}
		fresh := set.Unseen(named)
		if len(fresh) == 0 {
			continue
		}
		event.Targets, event.Parked = book.Judge(traps.DefaultOptions(), domain, event.Showing, fresh)
		book.Group(domain, event)
		set.Apply(event)
		book.Apply(domain, event)
		for _, g := range event.Groups {
			if g.State == weftpb.Group_STATE_WITHDRAWN {
				withdrawn[g.Name] = append([]*weftpb.Target{}, withdrawn[g.Name]...)
				continue
			}
			queue = append(queue, withdrawn[g.Name]...)
			delete(withdrawn, g.Name)
		}
		queue = append(queue, event.Targets...)
		for _, p := range event.Parked {
			parked[p.Reason+" "+p.Host+p.Template] += len(p.Targets)
		}
	}
	for _, path := range site.Real() {
		if asked[path] != 1 {
			t.Errorf("%s was asked for %d times", path, asked[path])
		}
	}
	aside := 0
	for _, waiting := range withdrawn {
		aside += len(waiting)
	}
	if aside == 0 {
		t.Error("nothing is withdrawn")
	}
	t.Logf("%d URLs are withdrawn", aside)
	t.Logf("%d requests for %d real pages; parked %v; refused %v", len(asked), len(site.Real()), parked, refused)
	if n := len(asked); n > 1000 {
		t.Errorf("%d requests", n)
	}
	var all strings.Builder
	for name := range parked {
		all.WriteString(name + "\n")
	}
	for _, reason := range []traps.Reason{traps.Calendar, traps.Pagination, traps.Session, traps.Faceted, traps.SameContent} {
		if !strings.Contains(all.String(), string(reason)+" ") {
			t.Errorf("nothing is held back as %s:\n%s", reason, &all)
		}
	}
	for _, reason := range []scope.Refusal{scope.RepeatedSegments, scope.TooManyRedirects} {
		if refused[reason] == 0 {
			t.Errorf("nothing is refused as %s: %v", reason, refused)
		}
	}
}
