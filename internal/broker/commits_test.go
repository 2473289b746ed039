package broker

import (
	"os"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// TestCommitsBeyondALostEnd takes the end of a log away, as a power failure
// does, and lets the group that had read it go on.
func TestCommitsBeyondALostEnd(t *testing.T) {
	w := newTrimming(t)
	w.write(15)
	w.commit("g", 15)
	w.commit("behind", 3)
	killed := t.TempDir()
	if err := os.CopyFS(killed, os.DirFS(w.dir)); err != nil {
		t.Fatal(err)
	}
	if err := (damage{cut: 2500}).apply(killed); err != nil { // two records and a half
		t.Fatal(err)
	}
	b := open(t, Options{Dir: killed})
	client := connect(t, b, kgo.ConsumerGroup("g"), kgo.ConsumeTopics(trimmed), kgo.DefaultProduceTopic(trimmed))
	commits, err := kadm.NewClient(client).FetchOffsets(w.ctx, "behind")
	if err != nil {
		t.Fatal(err)
	}
	if c, _ := commits.Lookup(trimmed, 0); c.At != 3 {
		t.Errorf("a commit within the log moved to %d", c.At)
	}
	if err := client.ProduceSync(w.ctx, &kgo.Record{Value: []byte("new")}).FirstErr(); err != nil {
		t.Fatal(err)
	}
	fetches := client.PollFetches(w.ctx)
	if err := fetches.Err(); err != nil {
		t.Fatal(err)
	}
	if r := fetches.Records()[0]; r.Offset != 12 || string(r.Value) != "new" {
		t.Errorf("the group reads %q at %d", r.Value, r.Offset)
	}
}
