package broker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// twenty is the directory of a broker whose topic trimmed has n records, each a
// batch of its own, and the folder of its partition.
func twenty(t *testing.T, n int, closes bool) (dir, partition string) {
	t.Helper()
	dir = t.TempDir()
	b, err := Open(Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	client, err := kgo.NewClient(append(b.Client(), kgo.DefaultProduceTopic(trimmed))...)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if _, err := kadm.NewClient(client).CreateTopic(t.Context(), 1, 1, nil, trimmed); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if err := client.ProduceSync(t.Context(), &kgo.Record{Value: fmt.Appendf(nil, "record %04d", i)}).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	partition = filepath.Join(dir, "kafka", "partitions", trimmed+"-0")
	if !closes { // as after a kill
		if err := os.Remove(filepath.Join(partition, snapshotName)); err != nil {
			t.Fatal(err)
		}
	}
	return dir, partition
}

// turn turns bits of eight bytes of a file.
func turn(t *testing.T, path string, at int64) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if at < 0 {
		at += int64(len(raw))
	}
	for i := range int64(8) {
		raw[at+i] ^= 0x5a
	}
	if err := os.WriteFile(path, raw, 0o644); err != nil {
		t.Fatal(err)
	}
}

// records are what a client reads of the log.
func records(t *testing.T, o Options) (l log) {
	t.Helper()
	b, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	if l, err = readLog(context.Background(), b.Client(), kgo.ReadUncommitted()); err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	return l
}

// Damage in the middle of a log is named, and nothing is changed; those who only
// read get the rest; a repair keeps what is wanted, and a copy.
func TestDamageInTheMiddle(t *testing.T) {
	for name, closes := range map[string]bool{"after an end": true, "after a kill": false} {
		t.Run(name, func(t *testing.T) {
			dir, partition := twenty(t, 20, closes)
			segment := filepath.Join(partition, "0.dat")
			info, err := os.Stat(segment)
			if err != nil {
				t.Fatal(err)
			}
			turn(t, segment, info.Size()/2+20)
			before, err := os.ReadFile(segment)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := Open(Options{Dir: dir}); !errors.Is(err, ErrDamaged) {
				t.Fatalf("open: %v", err)
			}
			var found []Damage
			l := records(t, Options{Dir: dir, Damaged: func(d []Damage) { found = d }})
			if len(found) != 1 || found[0].Topic != trimmed || found[0].From != 10 || found[0].To != 11 {
				t.Fatalf("found %v", found)
			}
			if len(l.Records) != 19 || l.End != 20 {
				t.Errorf("%d records can be read, up to %d", len(l.Records), l.End)
			}
			after, err := os.ReadFile(segment)
			if err != nil || string(after) != string(before) {
				t.Errorf("looking changed the log: %v", err)
			}
			if left, _ := filepath.Glob(filepath.Join(dir, "readable-*")); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
			aside := filepath.Join(dir, "aside")
			keep := map[string]Keep{partition: func(_, next int64) bool { return next <= found[0].From }}
			if err := Repair(dir, aside, keep); err != nil {
				t.Fatal(err)
			}
			if l := records(t, Options{Dir: dir}); len(l.Records) != 10 || l.Start != 0 || l.End != 10 {
				t.Errorf("repaired: %v", l)
			}
			copied, err := os.ReadFile(filepath.Join(aside, trimmed+"-0", "0.dat"))
			if err != nil || string(copied) != string(before) {
				t.Errorf("the copy: %v", err)
			}
		})
	}
}

// What a repair keeps behind the damage stays at its offsets.
func TestRepairKeepsOffsets(t *testing.T) {
	dir, partition := twenty(t, 20, true)
	turn(t, filepath.Join(partition, "0.dat"), 100)
	found, err := FindDamage(dir)
	if err != nil || len(found) != 1 {
		t.Fatalf("found %v, %v", found, err)
	}
	keep := map[string]Keep{partition: func(first, _ int64) bool { return first >= found[0].To }}
	if err := Repair(dir, filepath.Join(dir, "aside"), keep); err != nil {
		t.Fatal(err)
	}
	l := records(t, Options{Dir: dir})
	if l.Start != found[0].To || l.End != 20 || l.Records[0] != fmt.Sprintf("%d:record %04d", l.Start, l.Start) {
		t.Errorf("repaired: %v", l)
	}
}

// What a repair leaves out of the middle of a log is not damage again, and new
// damage beside it is.
func TestRepairLeavesOut(t *testing.T) {
	dir, partition := twenty(t, 20, true)
	turn(t, filepath.Join(partition, "0.dat"), 500)
	found, err := FindDamage(dir)
	if err != nil || len(found) != 1 || found[0].From == 0 {
		t.Fatalf("found %v, %v", found, err)
	}
	all := map[string]Keep{partition: func(_, _ int64) bool { return true }}
	if err := Repair(dir, filepath.Join(dir, "aside"), all); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if l := records(t, Options{Dir: dir}); len(l.Records) != 19 || l.Start != 0 || l.End != 20 {
			t.Errorf("repaired: %v", l)
		}
	}
	turn(t, filepath.Join(partition, "0.dat"), 100)
	again, err := FindDamage(dir)
	if err != nil || len(again) != 1 || again[0].To > found[0].From {
		t.Errorf("found again %v, %v", again, err)
	}
	if err := Repair(dir, filepath.Join(dir, "aside2"), all); err != nil {
		t.Fatal(err)
	}
	if l := records(t, Options{Dir: dir}); len(l.Records) != 18 || l.End != 20 {
		t.Errorf("repaired again: %v", l)
	}
}

// A torn end is no damage, unless the broker had ended behind it.
func TestTornEnd(t *testing.T) {
	dir, partition := twenty(t, 20, false)
	turn(t, filepath.Join(partition, "0.dat"), -10)
	if l := records(t, Options{Dir: dir}); len(l.Records) != 19 {
		t.Errorf("after a kill: %v", l)
	}
	dir, partition = twenty(t, 20, true)
	turn(t, filepath.Join(partition, "0.dat"), -10)
	if found, err := FindDamage(dir); err != nil || len(found) != 1 || found[0].From != 19 || found[0].To != 20 {
		t.Errorf("after an end: %v, %v", found, err)
	}
}
