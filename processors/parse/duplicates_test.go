package parse

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/weftcrawl/weft/codecs"
	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/processors/parse/duplicates"
	"github.com/weftcrawl/weft/topics"
)

// pending is a page with a text of 40 words, a heading and a link.
func pending(t *testing.T, d topics.Definition) *result {
	t.Helper()
	p, err := newParser(stage.Env{Names: topics.Loop("test"), Meter: stage.NoMeter{}, Definition: d})
	if err != nil {
		t.Fatal(err)
	}
	f := exchange()
	f.Headers = nil
	f.Body = []byte("<title>A title</title><h1>A heading</h1><p>" + strings.Repeat("one word another ", 20) + "<a href=next>on</a>")
	page, reason, _ := p.read(t.Context(), &kgo.Record{Key: []byte("example.org"), Value: stage.Encode(f)})
	if page == nil || page.record == nil || reason != "" {
		t.Fatalf("no page: %q", reason)
	}
	return page
}

var elsewhere = duplicates.Verdict{ID: "page-0", URL: "https://example.org/same", Distance: 2, Own: true}

func TestWhatBecomesOfDuplicates(t *testing.T) {
	for name, c := range map[string]struct {
		definition  topics.Definition
		verdict     duplicates.Verdict
		text, links bool
		evidence    bool
	}{
		"an original":              {topics.Definition{}, duplicates.Verdict{}, true, true, false},
		"an original, dropping":    {topics.Definition{Duplicates: topics.DropDuplicateText, DuplicateLinks: topics.IgnoreDuplicateLinks}, duplicates.Verdict{}, true, true, false},
		"kept":                     {topics.Definition{}, elsewhere, true, true, true},
		"without text":             {topics.Definition{Duplicates: topics.DropDuplicateText}, elsewhere, false, true, true},
		"without links":            {topics.Definition{DuplicateLinks: topics.IgnoreDuplicateLinks}, elsewhere, true, false, true},
		"of another domain":        {topics.Definition{}, duplicates.Verdict{ID: "page-0", URL: "https://other.example/"}, true, true, false},
		"of the URL's former text": {topics.Definition{}, duplicates.Verdict{ID: "page-0", URL: "https://www.example.org/dir/page", Own: true}, true, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			out := pending(t, c.definition).outputs(c.verdict)
			var record codecs.Parsed
			if err := json.Unmarshal(out[0].Value, &record); err != nil {
				t.Fatal(err)
			}
			var want *codecs.ParsedOriginal
			if c.verdict.Duplicate() {
				want = &codecs.ParsedOriginal{ID: c.verdict.ID, URL: c.verdict.URL, Distance: c.verdict.Distance}
			}
			if diff := cmp.Diff(want, record.DuplicateOf); diff != "" {
				t.Error(diff)
			}
			if (record.Text != "") != c.text || (len(record.Headings) > 0) != c.text || (record.Unparsed == codecs.Duplicate) == c.text {
				t.Errorf("text %q, headings %v, unparsed %q", record.Text, record.Headings, record.Unparsed)
			}
			if record.Title != "A title" || len(record.ContentHash) != 32 || len(record.SimHash) != 16 || len(record.MinHash) != 32 || len(record.Links) != 1 {
				t.Errorf("%+v", record)
			}
			if (record.Unfollowed == codecs.Duplicate) == c.links {
				t.Errorf("unfollowed %q", record.Unfollowed)
			}
			var links []*weftpb.Link
			var shown []*weftpb.Evidence
			for _, o := range out[1:] {
				var d weftpb.Discovered
				if err := proto.Unmarshal(o.Value, &d); err != nil {
					t.Fatal(err)
				}
				links, shown = append(links, d.Links...), append(shown, d.Evidence...)
			}
			if (len(links) > 0) != c.links {
				t.Errorf("links %v", links)
			}
			const at = "https://www.example.org/dir/page"
			// Its link is relative.
			evidence := []*weftpb.Evidence{{Kind: weftpb.Evidence_KIND_PAGE, Url: at, Relative: true}}
			if c.evidence {
				evidence = append(evidence, &weftpb.Evidence{Kind: weftpb.Evidence_KIND_CONTENT, Url: at, SameAs: elsewhere.URL, Distance: 2, Relative: true})
			}
			if diff := cmp.Diff(evidence, shown, protocmp.Transform()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// What a duplicate shows about its URL depends on how much it says, and where.
func TestWhatDuplicatesShow(t *testing.T) {
	const nothing, content, empty = weftpb.Evidence_KIND_UNSPECIFIED, weftpb.Evidence_KIND_CONTENT, weftpb.Evidence_KIND_EMPTY
	const few, enough = evidentWords - 1, evidentWords
	for _, c := range []struct {
		path     string
		words    int
		distance int
		want     weftpb.Evidence_Kind
	}{
		{"/a", enough, 0, content},
		{"/a", enough, 3, content},
		{"/a", few, 0, nothing},
		{"/list?q=a", few, 0, nothing},
		{"/list?page=7", few, 0, empty},
		{"/list?color=red&size=m", few, 0, empty},
		{"/list?page=7", few, 1, nothing},
		{"/calendar/2031/07", few, 0, empty},
		{"/calendar/2031/07", few, 1, empty},
	} {
		verdict := elsewhere
		verdict.Distance = c.distance
		kind := nothing
		if shown := contentEvidence("https://example.org"+c.path, c.words, false, verdict); len(shown) == 1 {
			kind = shown[0].Kind
		}
		if kind != c.want {
			t.Errorf("%s with %d words at distance %d shows %v, want %v", c.path, c.words, c.distance, kind, c.want)
		}
	}
}

// What is written to parsed is read again as it was judged.
func TestPagesLogReadsWhatIsWritten(t *testing.T) {
	log := pagesLog{}
	for _, v := range []duplicates.Verdict{{}, elsewhere, {ID: "x", URL: "https://sub.example.org/", Own: true}, {ID: "y", URL: "https://example.com/"}} {
		d := pending(t, topics.Definition{Duplicates: topics.DropDuplicateText})
		want := d.judged
		want.Verdict = v
		if diff := cmp.Diff(&want, log.page(d.outputs(v)[0].Value)); diff != "" {
			t.Error(diff)
		}
	}
	old := `{"id":"1","content_hash":"` + strings.Repeat("0a", 16) + `","simhash":"00000000000000ff"}`
	if got := log.page([]byte(old)); got == nil || got.Print.Sim != 0xff || !got.Print.Min.Empty() {
		t.Errorf("a record without a MinHash is %+v", got)
	}
	for _, value := range []string{"", "{", `{"id":"1"}`, `{"content_hash":"12"}`, `{"content_hash":"` + strings.Repeat("0", 32) + `","simhash":"x"}`, `{"content_hash":"` + strings.Repeat("0", 32) + `","minhash":"x"}`} {
		if got := log.page([]byte(value)); got != nil {
			t.Errorf("%s is %v", value, got)
		}
	}
}
