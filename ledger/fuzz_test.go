package ledger

import (
	"bytes"
	"errors"
	"testing"

	"github.com/weftcrawl/weft/codecs/weftpb"
)

// A record of a ledger is an event or named corrupt. One that is an event means
// the same when it is written again.
func FuzzDecode(f *testing.F) {
	f.Add(encode(&weftpb.Event{Claim: &weftpb.Claim{Owner: "a"}}))
	f.Add(encode(&weftpb.Event{Epoch: 3, Body: []byte("body")}))
	f.Add([]byte{})
	f.Add([]byte{0xff, 0xff})
	f.Fuzz(func(t *testing.T, raw []byte) {
		ev, err := decode(raw, "t", 0, 7)
		if err != nil {
			if !errors.Is(err, ErrCorrupt) {
				t.Fatalf("refused, and not as corrupt: %v", err)
			}
			return
		}
		again, err := decode(encode(ev), "t", 0, 7)
		if err != nil || again.Epoch != ev.Epoch || (again.Claim == nil) != (ev.Claim == nil) || !bytes.Equal(again.Body, ev.Body) {
			t.Fatalf("%v, written again %v, %v", ev, again, err)
		}
		var r Reader
		valid, err := r.Read(raw, "t", 0, 7)
		if err != nil || valid != nil && (valid.Claim != nil || valid.Offset != 7) || r.Epoch == 0 && ev.Claim != nil {
			t.Fatalf("read %v at epoch %d, %v", valid, r.Epoch, err)
		}
	})
}

// What stands in a bucket or on a disk under the name of a checkpoint is one
// that was sealed, or none.
func FuzzUnseal(f *testing.F) {
	for _, m := range []manifest{
		{},
		{Checkpoint: checkpoint{Version: checkpointVersion, Ledger: "l", Dir: "1", Offset: 4, Files: map[string]int64{"CURRENT": 3}}, Objects: map[string]string{"CURRENT": "00"}},
	} {
		raw, err := seal(m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Add([]byte(`{"checkpoint":{},"crc32c":0}`))
	f.Add([]byte(`{}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var m manifest
		if err := unseal(raw, &m); err != nil {
			if !errors.Is(err, errNoCheckpoint) {
				t.Fatalf("refused, and not as no checkpoint: %v", err)
			}
			return
		}
		if offset := offsetOf(m.name()); m.Checkpoint.Offset >= 0 && offset != m.Checkpoint.Offset {
			t.Fatalf("name %q of offset %d says %d", m.name(), m.Checkpoint.Offset, offset)
		}
		again, err := seal(m)
		if err != nil {
			t.Fatalf("cannot be sealed again: %v", err)
		}
		var same manifest
		if err := unseal(again, &same); err != nil || same.name() != m.name() {
			t.Fatalf("%+v, sealed again %+v, %v", m, same, err)
		}
	})
}
