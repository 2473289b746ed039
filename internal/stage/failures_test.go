package stage

import (
	"errors"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/internal/supervise"
	"github.com/weftcrawl/weft/internal/trouble"
	"github.com/weftcrawl/weft/topics"
)

// A stage that works again is not said to fail. Each of its partitions may fail by itself.
func TestStageWorksAgain(t *testing.T) {
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1))
	if err != nil {
		t.Fatal(err)
	}
	defer cluster.Close()
	client, err := kgo.NewClient(kgo.SeedBrokers(cluster.ListenAddrs()...))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	admin, names := kadm.NewClient(client), topics.Loop("weft")
	if _, err := topics.Create(t.Context(), admin, topics.Spec{Crawl: "weft", Partitions: 2, Replication: 1}); err != nil {
		t.Fatal(err)
	}
	told := func() int {
		all, err := trouble.Read(t.Context(), names, admin, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	env := Env{Names: names, Troubles: trouble.NewReporter(names, admin, "a", 2)}
	f := &failures{env: env, stage: topics.Dedupe}
	failure := func(first bool) supervise.Failure {
		return supervise.Failure{Err: errors.New("broken"), Times: 1, Since: time.Now(), First: first}
	}
	f.failed(t.Context(), failure(true)) // one partition
	f.failed(t.Context(), failure(true)) // the other
	f.failed(t.Context(), failure(false))
	f.over(t.Context())
	if got := told(); got != 1 {
		t.Errorf("%d troubles while a partition fails, want 1", got)
	}
	f.over(t.Context())
	if got := told(); got != 0 {
		t.Errorf("%d troubles of a stage that works, want 0", got)
	}
}
