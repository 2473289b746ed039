package ledger

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/internal/blob"
)

func auditor(w *world, b blob.Bucket) Auditor {
	return Auditor{Bucket: b, Client: []kgo.Opt{kgo.SeedBrokers(w.brokers...)}, Dir: w.t.TempDir()}
}

// Two sound checkpoints are found to be so, and whatever is wrong with either of
// them is found.
func TestAudit(t *testing.T) {
	t.Parallel()
	w, sound := sent(t)
	a := auditor(w, sound)
	got, err := a.Audit(t.Context(), w.stage(), 0)
	check(t, err)
	all := manifests(t, sound)
	if got.Older.Offset != all[0].Checkpoint.Offset || got.Newer.Offset != all[1].Checkpoint.Offset ||
		got.Events != got.Newer.Offset-got.Older.Offset || got.Keys != 150 || got.Log.Start != 0 || got.Log.End != w.end() {
		t.Errorf("found %+v", got)
	}
	if left := keys(t, sound, pinsDir); len(left) != 0 {
		t.Errorf("pins are left: %q", left)
	}
	for name, test := range map[string]struct {
		spoil func(t *testing.T, b blob.Bucket)
		want  string
	}{
		"one": {func(t *testing.T, b blob.Bucket) { check(t, b.Delete(t.Context(), keys(t, b, manifestsDir)[0])) }, "not covered by two checkpoints: there are 1"},
		"the newer one says what the older one holds": {func(t *testing.T, b blob.Bucket) {
			older := manifests(t, b)[0]
			remake(t, b, func(m *manifest) { m.Objects, m.Checkpoint.Files = older.Objects, older.Checkpoint.Files })
		}, "it differs from the replay"},
		"another claim": {func(t *testing.T, b blob.Bucket) {
			remake(t, b, func(m *manifest) { m.Checkpoint.Epoch-- })
		}, "the claim in force"},
		"object missing": {func(t *testing.T, b blob.Bucket) {
			_, key := onlyNewest(t, b, "")
			check(t, b.Delete(t.Context(), key))
		}, "is missing or incomplete"},
		"object rotten": {func(t *testing.T, b blob.Bucket) {
			_, key := onlyNewest(t, b, tableExt)
			body := read(t, b, key)
			body[9] ^= 1
			write(t, b, key, body)
		}, "holds something else"},
		"of another topic": {func(t *testing.T, b blob.Bucket) {
			remake(t, b, func(m *manifest) { m.Checkpoint.Ledger = "another" })
		}, "it is of cluster"},
		"beyond the log": {func(t *testing.T, b blob.Bucket) {
			remake(t, b, func(m *manifest) { m.Checkpoint.Offset += 1000 })
		}, "beyond the ledger's end"},
	} {
		t.Run(name, func(t *testing.T) {
			spoilt := copyOfFolder(t, sound)
			test.spoil(t, spoilt)
			a.Bucket = spoilt
			_, err := a.Audit(t.Context(), w.stage(), 0)
			if err == nil || !strings.Contains(err.Error(), test.want) || errors.Is(err, ErrUncovered) != (name == "one") {
				t.Errorf("found %v, want %q", err, test.want)
			}
		})
	}
}

// A stage with another fold than the one that made the checkpoints is detected.
func TestAuditOfAnotherFold(t *testing.T) {
	t.Parallel()
	w, bucket := sent(t)
	stage := w.stage()
	opened := stage.Open
	stage.Open = func(p int32, s Store) (State, error) { return opened(p, forgetful{s}) }
	if _, err := auditor(w, bucket).Audit(t.Context(), stage, 0); err == nil || !strings.Contains(err.Error(), `it differs from the replay at key "w/50"`) {
		t.Errorf("found %v", err)
	}
}

// forgetful is a store that does not take one key.
type forgetful struct{ Store }

func (f forgetful) Set(key, value []byte) {
	if !bytes.Equal(key, []byte("w/50")) {
		f.Store.Set(key, value)
	}
}

// Checkpoints that are being audited are kept by the owner, for as long.
func TestPinsKeepCheckpoints(t *testing.T) {
	t.Parallel()
	w, bucket := sent(t)
	pinned := keys(t, bucket, manifestsDir)
	m := manifests(t, bucket)[0]
	p := place{bucket, m.Cluster, ledgerTopic, m.Checkpoint.Ledger, 0}
	_, _, err := p.pinTwo(t.Context(), source{client: []kgo.Opt{kgo.SeedBrokers(w.brokers...)}, topic: ledgerTopic})
	check(t, err)
	boot(w, w.dir, bucket).works(250, nil)
	boot(w, w.dir, bucket).works(250, nil)
	if got := keys(t, bucket, manifestsDir); len(got) != 4 || !slices.Equal(got[:2], pinned) {
		t.Errorf("with pins there are %q", got)
	}
	check(t, p.unpin(t.Context()))
	boot(w, w.dir, bucket).works(250, nil)
	if got := keys(t, bucket, manifestsDir); len(got) != 2 || slices.Contains(got, pinned[1]) {
		t.Errorf("without pins there are %q", got)
	}
	got, replayed := boot(w, t.TempDir(), bucket).recovers()
	if len(got) != 200 || replayed != 0 {
		t.Errorf("%d keys after a replay of %d events", len(got), replayed)
	}
}

// Closing tries what waits once, and does not wait for a bucket that is away.
func TestCloseWithoutBucket(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	refused := errors.New("the bucket is away")
	bucket := &watched{Bucket: folder(t), before: func(string) error { return refused }}
	m := boot(w, w.dir, bucket)
	m.works(10, numbers(0, 10))
	if m.happened()[IncidentUnsent] == 0 || len(keys(t, bucket, manifestsDir)) > 0 {
		t.Errorf("happened: %v", m.happened())
	}
	remote(bucket).Close()
}
