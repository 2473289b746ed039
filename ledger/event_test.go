package ledger

import (
	"testing"

	"github.com/weftcrawl/weft/codecs/weftpb"
)

func TestReader(t *testing.T) {
	log := []*weftpb.Event{
		{Claim: &weftpb.Claim{Owner: "a"}},
		{Epoch: 1, Offset: 1, Body: []byte("a1")},
		{Epoch: 1, Offset: 2, Body: []byte("a2")},
		{Claim: &weftpb.Claim{Owner: "b"}},
		{Epoch: 1, Offset: 4, Body: []byte("of an older owner")},
		{Epoch: 4, Offset: 4, Body: []byte("where the older owner's is")},
		{Epoch: 4, Offset: 6, Body: []byte("b1")},
		{Epoch: 4, Offset: 9, Body: []byte("after a lost one")},
	}
	for _, from := range []int{0, 3, 5} { // from the claim, or in the middle
		var r Reader
		var got string
		for offset := from; offset < len(log); offset++ {
			ev, err := r.Read(encode(log[offset]), "t", 0, int64(offset))
			if err != nil {
				t.Fatal(err)
			}
			if ev != nil {
				got += string(ev.Body) + " "
			}
		}
		want := "b1 "
		if from == 0 {
			want = "a1 a2 b1 "
		}
		if got != want {
			t.Errorf("from %d: %q, want %q", from, got, want)
		}
	}
}
