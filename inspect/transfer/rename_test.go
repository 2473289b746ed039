package transfer

import (
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/topics"
)

// A record of visited or of fetched of a visit that is out has its new id, and
// nothing else of it is changed; what is no such record stays as it is. No id of
// the old crawl is left, which may be the id of another visit of the new one.
func FuzzRename(f *testing.F) {
	add := func(m proto.Message) {
		raw, err := proto.Marshal(m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	add(&weftpb.Visited{Visit: "0-1-0", Done: true, Outcomes: []*weftpb.Outcome{{Status: 200}}})
	add(&weftpb.Visited{Visit: "0-9-9"})
	add(&weftpb.Visited{Referral: &weftpb.Target{Url: "https://a.example/robots.txt"}})
	add(&weftpb.Fetched{Id: "1", Visit: "0-1-0", Body: []byte("body")})
	f.Add([]byte{0xff})
	im := &importer{history: &history{out: map[string]*visit{"0-1-0": {id: "3-7-1"}}}}
	l := &largeBodies{}
	f.Fuzz(func(t *testing.T, value []byte) {
		renamed, out, err := im.renameVisited(value)
		if err != nil {
			t.Fatal(err)
		}
		var before, after weftpb.Visited
		if proto.Unmarshal(value, &before) != nil {
			if string(renamed) != string(value) || !out {
				t.Fatalf("no record of visited becomes %x, %v", renamed, out)
			}
		} else {
			if err := proto.Unmarshal(renamed, &after); err != nil {
				t.Fatal(err)
			}
			want := proto.CloneOf(&before)
			switch before.Visit {
			case "":
			case "0-1-0":
				want.Visit = "3-7-1"
			default:
				want.Visit = ""
			}
			if !proto.Equal(&after, want) || out != (before.Visit == "" || before.Visit == "0-1-0") {
				t.Fatalf("%v becomes %v, %v", &before, &after, out)
			}
		}

		renamed, out, err = im.renameFetched(value)
		if err != nil {
			t.Fatal(err)
		}
		var page, moved weftpb.Fetched
		if proto.Unmarshal(value, &page) != nil {
			if string(renamed) != string(value) || out {
				t.Fatalf("no record of fetched becomes %x, %v", renamed, out)
			}
			return
		}
		if err := proto.Unmarshal(renamed, &moved); err != nil {
			t.Fatal(err)
		}
		if out != (page.Visit == "0-1-0") || out && moved.Visit != "3-7-1" || !out && moved.Visit != "" {
			t.Fatalf("visit %q becomes %q, %v", page.Visit, moved.Visit, out)
		}
		page.Visit, moved.Visit = "", ""
		if !proto.Equal(&page, &moved) {
			t.Fatalf("%v becomes %v", &page, &moved)
		}
		// Without a place for large bodies a record is as it was, or refused.
		if kept, err := l.put(t.Context(), topics.Definition{}, 0, value); err == nil && string(kept) != string(value) {
			t.Fatal("a record is changed")
		}
	})
}
