package ledger

import (
	"bytes"
	"errors"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
)

// readAll returns the bodies of the events that count, from an offset on.
func readAll(log [][]byte, from int) (got string, err error) {
	var r EventReader
	for offset := from; offset < len(log); offset++ {
		ev, err := r.Read(log[offset], "t", 0, int64(offset))
		if err != nil {
			return got, err
		}
		if ev != nil {
			got += string(ev.Body) + " "
		}
	}
	return got, nil
}

// Events of older programs have no checksum, and do not say what was acknowledged.
func TestReaderOfAnOlderProgramsLedger(t *testing.T) {
	var log [][]byte
	for _, ev := range []*weftpb.Event{
		{Claim: &weftpb.Claim{Owner: "a"}},
		{Epoch: 1, Offset: 1, Body: []byte("a1")},
		{Epoch: 1, Offset: 2, Body: []byte("a2")},
		{Claim: &weftpb.Claim{Owner: "b"}},
		{Epoch: 1, Offset: 4, Body: []byte("of an older owner")},
		{Epoch: 4, Offset: 4, Body: []byte("where the older owner's is")},
		{Epoch: 4, Offset: 6, Body: []byte("b1")},
		{Epoch: 4, Offset: 9, Body: []byte("after a lost one")},
	} {
		raw, err := proto.Marshal(ev)
		if err != nil {
			t.Fatal(err)
		}
		log = append(log, raw)
	}
	for _, from := range []int{0, 3, 5} { // from the claim, or in the middle
		want := "b1 "
		if from == 0 {
			want = "a1 a2 b1 "
		}
		if got, err := readAll(log, from); got != want || err != nil {
			t.Errorf("from %d: %q, %v; want %q", from, got, err, want)
		}
	}
	log[5] = []byte("garbage")
	if got, err := readAll(log, 0); !errors.Is(err, ErrCorrupt) {
		t.Errorf("with garbage in the middle: %q, %v", got, err)
	}
}

// Behind a hole nothing of its owner counts, and what shows that the owner had an
// event there acknowledged shows damage.
func TestReaderAtAHole(t *testing.T) {
	claim := encode(&weftpb.Event{Claim: &weftpb.Claim{Owner: "a"}})
	event := func(offset, unacknowledged int64) []byte {
		return encode(&weftpb.Event{Epoch: 1, Offset: offset, Unacknowledged: unacknowledged, Body: []byte{'0' + byte(offset)}})
	}
	stranger := []byte("\xff")
	for _, test := range []struct {
		name   string
		log    [][]byte
		want   string
		broken bool
	}{
		{"a stranger at the end", [][]byte{claim, event(1, 0), stranger}, "1 ", false},
		{"a stranger took a place", [][]byte{claim, event(1, 0), stranger, event(2, 0), event(3, 1)}, "1 ", false},
		{"the event there was lost", [][]byte{claim, event(1, 0), stranger, event(3, 1), event(4, 2)}, "1 ", false},
		{"the event there was acknowledged", [][]byte{claim, event(1, 0), stranger, event(3, 1), event(4, 1)}, "1 ", true},
		{"a new claim", [][]byte{claim, stranger, event(2, 1), claim, encode(&weftpb.Event{Epoch: 4, Offset: 4, Body: []byte("4")})}, "4 ", false},
	} {
		for _, from := range []int{0, 1, 2} {
			want := test.want
			switch {
			case from == 2 && test.name == "a new claim":
				want = "2 4 " // what stood before it is not known
			case from == 2:
				want = ""
			}
			got, err := readAll(test.log, from)
			if got != want || errors.Is(err, ErrCorrupt) != test.broken || (err != nil) != test.broken {
				t.Errorf("%s, from %d: %q, %v; want %q", test.name, from, got, err, want)
			}
		}
	}
}

// Wherever bits of an event are turned, it is not taken for another one.
func TestTurnedBits(t *testing.T) {
	whole := encode(&weftpb.Event{Epoch: 3, Offset: 7, Body: []byte("body"), Positions: []*weftpb.Position{{Topic: "in", Offset: 9}}})
	for i := range whole {
		for bit := range 8 {
			raw := append([]byte{}, whole...)
			raw[i] ^= 1 << bit
			ev, err := decode(raw, "t", 0, 7)
			if err == nil && (ev.Epoch != 3 || ev.Offset != 7 || string(ev.Body) != "body" || len(ev.Positions) != 1 || ev.Positions[0].Offset != 9) {
				t.Errorf("bit %d of byte %d: %v", bit, i, ev)
			}
		}
	}
}

// An event whose checksum is wrong is damaged where it belongs, whatever of it is
// damaged but its place, and elsewhere it is a stranger's copy.
func TestDamageOrACopy(t *testing.T) {
	for _, ev := range []*weftpb.Event{
		{Epoch: 3, Offset: 700, Body: []byte("body")},
		{Epoch: 3, Offset: 700, Unacknowledged: 5, Strangers: 300, Body: []byte("body")},
		{Epoch: 3, Offset: 700, Strangers: 1},
	} {
		whole := encode(ev)
		place := bytes.Index(whole, []byte{0x30, 0xbc, 0x05})
		for i := range place {
			raw := append([]byte{}, whole...)
			raw[i] ^= 0x81
			if _, err := decode(raw, "t", 0, 701); !errors.Is(err, errStranger) {
				t.Errorf("%v, byte %d, elsewhere: %v", ev, i, err)
			}
			if _, err := decode(raw, "t", 0, 700); !errors.Is(err, ErrCorrupt) {
				t.Errorf("%v, byte %d: %v", ev, i, err)
			}
		}
	}
}
