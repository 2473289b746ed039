package processors

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/processors/parse/simhash"
	"github.com/weftcrawl/weft/topics"
)

// An exchange goes through parse and normalize; what arrives in the records of
// its own domain is told.
func TestEvidenceReachesDedupe(t *testing.T) {
	const at = "https://www.example.org/a"
	evidence := func(kind weftpb.Evidence_Kind, sameAs string) []*weftpb.Evidence {
		return []*weftpb.Evidence{{Kind: kind, Url: at, SameAs: sameAs}}
	}
	for _, c := range []struct {
		name string
		with func(*weftpb.Fetched)
		want []*weftpb.Evidence
	}{
		{"a redirect to a variant", redirect("/a/"), evidence(weftpb.Evidence_KIND_REDIRECT, at+"/")},
		{"a redirect elsewhere", redirect("/b"), evidence(weftpb.Evidence_KIND_MISSING, "")},
		{"a redirect to another domain", redirect("https://example.com/a/"), evidence(weftpb.Evidence_KIND_MISSING, "")},
		{"a redirect to what is no page", redirect("mailto:a@example.com"), evidence(weftpb.Evidence_KIND_MISSING, "")},
		{"a redirect to a variant, with a session id", redirect("/a/?PHPSESSID=1"), evidence(weftpb.Evidence_KIND_REDIRECT, at+"/")},
		{"a redirect to itself, with a session id", redirect("/a?PHPSESSID=1"), nil},
		{"a canonical variant", page(`<link rel=canonical href="//example.org/a"><a href=/b>b</a>`),
			evidence(weftpb.Evidence_KIND_CANONICAL, "https://example.org/a")},
		{"a canonical variant on a page without links", page(`<link rel=canonical href="/a/">`),
			evidence(weftpb.Evidence_KIND_CANONICAL, at+"/")},
		{"a canonical variant, with a session id", page(`<link rel=canonical href="/a/?PHPSESSID=1">`),
			evidence(weftpb.Evidence_KIND_CANONICAL, at+"/")},
		{"a canonical URL of its own", page(`<link rel=canonical href="/a"><a href=/b>b</a>`), evidence(weftpb.Evidence_KIND_SHORT, "")},
		{"a canonical home", page(`<link rel=canonical href="/"><a href=/b>b</a>`), evidence(weftpb.Evidence_KIND_SHORT, "")},
		{"a page", page("<p>" + strings.Repeat("word ", simhash.MinWords)), evidence(weftpb.Evidence_KIND_PAGE, "")},
		{"a page of a few words", page("<p>" + strings.Repeat("word ", simhash.MinWords-1)), evidence(weftpb.Evidence_KIND_SHORT, "")},
		{"a page of no word and no link", page("<p>"), evidence(weftpb.Evidence_KIND_SHORT, "")},
		{"a picture", picture, nil},
		{"a page with relative links", page("<a href=b>b</a><p>" + strings.Repeat("word ", simhash.MinWords)),
			relative(evidence(weftpb.Evidence_KIND_PAGE, ""))},
		{"a page of a few words with relative links", page("<a href=b>b</a>"), relative(evidence(weftpb.Evidence_KIND_SHORT, ""))},
		{"a canonical variant with relative links", page("<link rel=canonical href=/a/><a href=b>b</a>"),
			relative(evidence(weftpb.Evidence_KIND_CANONICAL, at+"/"))},
		{"a page with a canonical variant", page("<link rel=canonical href=/a/><p>" + strings.Repeat("word ", simhash.MinWords)),
			evidence(weftpb.Evidence_KIND_CANONICAL, at+"/")},
		{"a probe with a page", func(f *weftpb.Fetched) {
			page("<p>text")(f)
			f.Request.Target.Via = weftpb.Via_VIA_PROBE
		}, evidence(weftpb.Evidence_KIND_OWN, "")},
		{"a file", text(simhash.MinWords), evidence(weftpb.Evidence_KIND_FILE, "")},
		{"a file of a few words", text(simhash.MinWords - 1), evidence(weftpb.Evidence_KIND_SHORT, "")},
		{"a file that names a canonical variant", func(f *weftpb.Fetched) {
			text(simhash.MinWords)(f)
			f.Headers = append(f.Headers, &weftpb.Header{Name: "Link", Value: "</a/>; rel=canonical"})
		}, evidence(weftpb.Evidence_KIND_CANONICAL, at+"/")},
		{"a probe with a file", func(f *weftpb.Fetched) {
			text(simhash.MinWords - 1)(f)
			f.Request.Target.Via = weftpb.Via_VIA_PROBE
		}, evidence(weftpb.Evidence_KIND_SHORT, "")},
		{"a probe that redirects", func(f *weftpb.Fetched) {
			redirect("/a/")(f)
			f.Request.Target.Via = weftpb.Via_VIA_PROBE
		}, evidence(weftpb.Evidence_KIND_REDIRECT, at+"/")},
		{"nothing there", func(f *weftpb.Fetched) { f.Outcome.Status = 404 }, evidence(weftpb.Evidence_KIND_MISSING, "")},
		{"gone", func(f *weftpb.Fetched) { f.Outcome.Status = 410 }, evidence(weftpb.Evidence_KIND_MISSING, "")},
		{"not for us", func(f *weftpb.Fetched) { f.Outcome.Status = 403 }, evidence(weftpb.Evidence_KIND_MISSING, "")},
		{"too late", func(f *weftpb.Fetched) { f.Outcome.Status = 408 }, nil},
		{"not there", func(f *weftpb.Fetched) { f.Outcome.Status = 421 }, nil},
		{"too early", func(f *weftpb.Fetched) { f.Outcome.Status = 425 }, nil},
		{"too fast", func(f *weftpb.Fetched) { f.Outcome.Status = 429 }, nil},
		{"an error", func(f *weftpb.Fetched) { f.Outcome.Status = 500 }, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := &weftpb.Fetched{
				Id: "1", Request: &weftpb.Request{Target: &weftpb.Target{Url: at, Via: weftpb.Via_VIA_LINK}},
				Outcome: &weftpb.Outcome{Status: 200},
			}
			c.with(f)
			if diff := cmp.Diff(c.want, arriving(t, f), protocmp.Transform()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func relative(shown []*weftpb.Evidence) []*weftpb.Evidence {
	shown[0].Relative = true
	return shown
}

// What a page names depends on its final slash or does not.
func TestRelativeLinks(t *testing.T) {
	for _, c := range []struct {
		at, body string
		want     bool
	}{
		{"/a", "<a href=b>", true},
		{"/a/", "<a href=b>", true},
		{"/a/?q=1", "<a href=./>", true},
		{"/x/a", "<a href=../b>", true},
		{"/a", "<a href=../b>", false}, // there is nothing above the root
		{"/a", "<a href=/b>", false},
		{"/a", "<a href=//example.com/b>", false},
		{"/a", "<a href=https://example.com/b>", false},
		{"/a", "<a href='?page=2'>", false},
		{"/a", "<a href=#b>", false},
		{"/a", "<a href=''>", false},
		{"/a", "<a href=mailto:b>", false},
		{"/a", "<a href=http:b>", false}, // of another scheme it is absolute
		{"/a", "<a href=https:b>", true},
		{"/a", "<base href=/x/><a href=b>", false},
		{"/a", "<base href=https://example.com/><a href=b>", false},
		{"/a", "<base href=x/><a href=b>", true},
		{"/a", "<base href=x/><a href='?page=2'>", true},
		{"/a", "<base href='?x'><a href=b>", true},
		{"/a", "<base href=mailto:x><a href=b>", true},
		{"/a", "<a href=b rel=nofollow>", false},
		{"/a", "<meta name=robots content=nofollow><a href=b>", false},
		{"/a", "<img src=b.png>", false},
		{"/a", "<link rel=stylesheet href=b.css>", false},
		{"/", "<a href=b>", false},
		{"/a.html", "<a href=b>", false},
		{"/a/index.html", "<a href=b>", false},
	} {
		f := &weftpb.Fetched{
			Id: "1", Request: &weftpb.Request{Target: &weftpb.Target{Url: "https://example.org" + c.at, Via: weftpb.Via_VIA_PROBE}},
			Outcome: &weftpb.Outcome{Status: 200},
		}
		page(c.body)(f)
		if shown := arriving(t, f); len(shown) != 1 || shown[0].Relative != c.want {
			t.Errorf("%s at %s shows %v, want relative: %v", c.body, c.at, shown, c.want)
		}
	}
}

func redirect(to string) func(*weftpb.Fetched) {
	return func(f *weftpb.Fetched) { f.Outcome.Status, f.Location = 301, to }
}

func page(body string) func(*weftpb.Fetched) {
	return func(f *weftpb.Fetched) {
		f.Headers, f.Body = []*weftpb.Header{{Name: "Content-Type", Value: "text/html"}}, []byte(body)
	}
}

func text(words int) func(*weftpb.Fetched) {
	return func(f *weftpb.Fetched) {
		f.Headers = []*weftpb.Header{{Name: "Content-Type", Value: "text/plain"}}
		f.Body = []byte(strings.Repeat("word ", words))
	}
}

func picture(f *weftpb.Fetched) {
	f.Headers, f.Body = []*weftpb.Header{{Name: "Content-Type", Value: "image/png"}}, []byte("\x89PNG")
}

// arriving is the evidence about example.org in normalized.
func arriving(t *testing.T, f *weftpb.Fetched) (shown []*weftpb.Evidence) {
	t.Helper()
	parsing, normalizing := newTransforms(t)
	for _, found := range apply(t, parsing, &kgo.Record{Key: []byte("example.org"), Value: stage.Encode(f)}) {
		if found.Topic != topics.Loop("test").Discovered {
			continue
		}
		for _, made := range apply(t, normalizing, found) {
			var record weftpb.Normalized
			if err := proto.Unmarshal(made.Value, &record); err != nil {
				t.Fatal(err)
			}
			if string(made.Key) == "example.org" {
				shown = append(shown, record.Evidence...)
			} else if len(record.Evidence) > 0 {
				t.Errorf("evidence in the record of %s", made.Key)
			}
		}
	}
	return shown
}
