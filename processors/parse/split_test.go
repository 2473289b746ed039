package parse

import (
	"strconv"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/processors/parse/document"
	"github.com/weftcrawl/weft/processors/parse/duplicates"
)

// A link farm makes several records, each well below its topic's limit, and no
// link is lost or doubled.
func TestSplitLinkFarm(t *testing.T) {
	target := &weftpb.Target{Url: "https://farm.example/", Depth: 3, Via: weftpb.Via_VIA_SEED}
	page := &document.Page{}
	for i := range 9000 {
		page.Links = append(page.Links, document.Link{URL: strconv.Itoa(i) + strings.Repeat("x", 300), Text: strings.Repeat("y", 240), Follow: true})
	}
	var n int
	for _, part := range discovered(&weftpb.Fetched{Request: &weftpb.Request{Target: target}}, page) {
		if size := proto.Size(part); size > 1<<20 {
			t.Errorf("a record of %d bytes", size)
		}
		if part.Source != target.Url || part.Depth != 3 || part.Via != weftpb.Via_VIA_LINK || part.SourceVia != target.Via {
			t.Errorf("a part of another page: %v", part.Source)
		}
		for _, l := range part.Links {
			if !strings.HasPrefix(l.Url, strconv.Itoa(n)+"x") {
				t.Fatalf("link %d is %.8s", n, l.Url)
			}
			n++
		}
	}
	if n != 9000 {
		t.Errorf("%d of 9000 links", n)
	}
	leaf := &result{env: &stage.Env{}, named: discovered(&weftpb.Fetched{Request: &weftpb.Request{Target: target}}, &document.Page{})}
	if out := leaf.outputs(duplicates.Verdict{}); out != nil {
		t.Errorf("no links make %d records", len(out))
	}
}
