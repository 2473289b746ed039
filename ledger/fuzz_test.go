package ledger

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/blob"
)

// A record of a ledger is an event, a stranger's, or named corrupt. One that is an event means
// the same when it is written again.
func FuzzDecode(f *testing.F) {
	f.Add(encode(&weftpb.Event{Claim: &weftpb.Claim{Owner: "a"}}))
	f.Add(encode(&weftpb.Event{Epoch: 3, Body: []byte("body")}))
	f.Add([]byte{})
	f.Add([]byte{0xff, 0xff})
	f.Fuzz(func(t *testing.T, raw []byte) {
		ev, err := decode(raw, "t", 0, 7)
		if err != nil {
			if !errors.Is(err, ErrCorrupt) && err != errStranger {
				t.Fatalf("refused, and neither as corrupt nor as a stranger's: %v", err)
			}
			return
		}
		again, err := decode(encode(ev), "t", 0, 7)
		if err != nil || again.Epoch != ev.Epoch || (again.Claim == nil) != (ev.Claim == nil) || !bytes.Equal(again.Body, ev.Body) {
			t.Fatalf("%v, written again %v, %v", ev, again, err)
		}
		var r EventReader
		valid, err := r.Read(raw, "t", 0, 7)
		if ev.Claim == nil && ev.Offset == 7 && ev.Epoch > 7 && errors.Is(err, ErrCorrupt) {
			return // its claim would stand behind it
		}
		if err != nil || valid != nil && (valid.Claim != nil || valid.Offset != 7) || r.Epoch == 0 && ev.Claim != nil {
			t.Fatalf("read %v at epoch %d, %v", valid, r.Epoch, err)
		}
	})
}

// Bytes in a bucket or on a disk under the name of a checkpoint are a sealed checkpoint, or are
// refused.
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

// shelf is a bucket that has only keys.
type shelf struct {
	blob.Bucket
	keys []string
}

func (s shelf) List(_ context.Context, prefix string) iter.Seq2[blob.Object, error] {
	return func(yield func(blob.Object, error) bool) {
		for _, key := range s.keys {
			if strings.HasPrefix(key, prefix) && !yield(blob.Object{Key: key, Size: 1}, nil) {
				return
			}
		}
	}
}

// Whatever others keep in the bucket, manifests have the names of manifests, the
// newest first, and every object is one of the partition's own.
func FuzzInventory(f *testing.F) {
	p := place{cluster: "c", topic: "t", id: "i", partition: 7}
	f.Add(nameOf(12, 3), nameOf(9, 1), "CURRENT")
	f.Add("12-3", nameOf(9, 1)+"/x", "../../8/objects/a")
	f.Add("00000000000000000012-+0000000000000000003", "-1-1", "")
	f.Fuzz(func(t *testing.T, first, second, object string) {
		in := p
		in.bucket = shelf{keys: []string{
			p.key(manifestsDir, first), p.key(manifestsDir, second), p.key(objectsDir, object), p.key(pinsDir, second), p.key("other", first),
			strings.Replace(p.key(manifestsDir, nameOf(99, 9)), "/7/", "/71/", 1),
		}}
		have, err := in.list(t.Context())
		if err != nil || len(have.manifests) > 2 || len(have.objects) != 1 {
			t.Fatalf("%+v, %v", have, err)
		}
		for i, name := range have.manifests {
			if name != first && name != second || offsetOf(name) < 0 || strings.ContainsAny(name, "/.") {
				t.Fatalf("a manifest %q", name)
			}
			if i > 0 && offsetOf(name) > offsetOf(have.manifests[i-1]) {
				t.Fatalf("%q are out of order", have.manifests)
			}
		}
	})
}

// Of the records of a ledger those are events that the latest claim's owner wrote
// to where they stand, as long as nothing else stands between that claim and them.
//
// Of script each byte is a record: a stranger's if it is 255, a claim if it is
// divisible by 4, else an event of the epoch, and for the place, that are so much
// behind.
func FuzzReader(f *testing.F) {
	f.Add([]byte{0, 1, 1, 0, 1, 5, 1, 2})
	f.Add([]byte{1, 0, 17, 0, 33})
	f.Add([]byte{255, 0, 1, 255, 1, 0, 1})
	f.Fuzz(func(t *testing.T, script []byte) {
		var r EventReader
		claim, broken, strangers := int64(0), false, int64(0)
		for at, step := range script {
			offset := int64(at)
			epoch, meant := claim-int64(step>>4), offset-int64(step>>2&3)
			// All before it may be lost, for all that the event says.
			value := encode(&weftpb.Event{Epoch: epoch, Offset: meant, Body: []byte{1}, Unacknowledged: offset})
			switch {
			case step == 255:
				value = []byte{0xff}
			case step%4 == 0:
				value = encode(&weftpb.Event{Claim: &weftpb.Claim{Owner: "a"}})
			}
			got, err := r.Read(value, "t", 0, offset)
			switch {
			case step == 255 || step%4 != 0 && epoch <= 0:
				broken, strangers = true, strangers+1
				if got != nil || err != nil || r.Strangers != strangers {
					t.Fatalf("a stranger's record at %d: %v, %v, %d counted of %d", offset, got, err, r.Strangers, strangers)
				}
			case step%4 == 0:
				claim, broken = offset+1, false
				if got != nil || err != nil || r.Epoch != claim {
					t.Fatalf("a claim at %d: %v, %v, epoch %d", offset, got, err, r.Epoch)
				}
			default:
				broken = broken || epoch != claim || meant != offset
				if err != nil || (got != nil) == broken {
					t.Fatalf("at %d, epoch %d of %d, meant for %d: %v, %v", offset, epoch, claim, meant, got, err)
				}
			}
		}
	})
}
