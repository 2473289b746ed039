package processors

import (
	"strconv"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
)

// A link farm makes several records, each well below its topic's limit, and no
// link is lost or doubled.
func TestSplitLinkFarm(t *testing.T) {
	d := &weftpb.Discovered{Source: "https://farm.example/", Depth: 3, Via: weftpb.Via_VIA_LINK, SourceVia: weftpb.Via_VIA_SEED}
	for i := range 9000 {
		d.Links = append(d.Links, &weftpb.Link{Url: strconv.Itoa(i) + strings.Repeat("x", 300), Text: strings.Repeat("y", 240)})
	}
	var n int
	for _, part := range split(d) {
		if size := proto.Size(part); size > 1<<20 {
			t.Errorf("a record of %d bytes", size)
		}
		if part.Source != d.Source || part.Depth != 3 || part.Via != d.Via || part.SourceVia != d.SourceVia {
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
	if parts := split(&weftpb.Discovered{Source: "https://leaf.example/"}); parts != nil {
		t.Errorf("no links make %d records", len(parts))
	}
}
