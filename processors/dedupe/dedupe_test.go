package dedupe

import (
	"errors"
	"testing"
	"time"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/ledger"
	"github.com/weftcrawl/weft/test/memstore"
	"github.com/weftcrawl/weft/topics"
)

func TestURLsOfADomain(t *testing.T) {
	for _, test := range []struct {
		domain, url string
		want        bool
	}{
		{"a.example", "http://a.example/", true},
		{"a.example", "https://a.example/b?c=http://d.example/", true},
		{"a.example", "http://www.a.example:8080/", true},
		{"a.example", "http://www.a.example./", true},
		{"127.0.0.1", "http://127.0.0.1:8080/x", true},
		{"[::1]", "http://[::1]/", true},
		{"[::1]", "http://[::1]:8080/", true},
		{"a.example", "", false},
		{"a.example", "weft.deduped", false},
		{"a.example", "a.example/", false},
		{"a.example", "http://a.example", false},
		{"a.example", "ftp://a.example/", false},
		{"a.example", "http://ba.example/", false},
		{"a.example", "http://b.example/a.example/", false},
		{"a.example", "http://b.example:80/?http://a.example/", false},
	} {
		if got := isOf(test.domain, test.url); got != test.want {
			t.Errorf("%s of %s: %v", test.url, test.domain, got)
		}
	}
}

// An event of a ledger decodes as a Normalized, the topics of its positions as
// targets. Admitted, they would be damage to the ledger behind.
func TestRecordsOfAnotherTypeAreNoTargets(t *testing.T) {
	env := stage.Env{Names: topics.Loop("test"), Meter: stage.NoMeter{}, Definition: topics.Definition{Scope: "any", Partitions: 1, MaxDepth: -1, PerDomain: 1}}
	event, err := ledger.Encode(&weftpb.Event{Epoch: 1, Offset: 2, Positions: []*weftpb.Position{{Topic: "weft.normalized", Offset: 7}}})
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string][]byte{
		"an event":     event,
		"no URL":       stage.Encode(&weftpb.Normalized{Targets: []*weftpb.Target{{}}}),
		"another one":  stage.Encode(&weftpb.Normalized{Targets: []*weftpb.Target{{Url: "http://a.example/"}, {Url: "http://b.example/"}}}),
		"not absolute": stage.Encode(&weftpb.Normalized{Targets: []*weftpb.Target{{Url: "/a.example/"}}}),
		"no port":      stage.Encode(&weftpb.Normalized{Targets: []*weftpb.Target{{Url: "http://a.example:80l/"}}}),
		"two hosts":    stage.Encode(&weftpb.Normalized{Targets: []*weftpb.Target{{Url: "http://b.example\\.a.example/"}}}),
	} {
		p, err := ledger.NewPartition(Define(env), 0, &memstore.Store{}, ledger.Nothing(), ledger.PartitionOptions{})
		if err != nil {
			t.Fatal(err)
		}
		p.Live(0)
		_, err = p.Answer(ledger.InputRecord{Topic: env.Names.Normalized, Key: "a.example", Value: value}, time.Now())
		var rejected *ledger.Rejection
		if !errors.As(err, &rejected) || rejected.Reason != "undecodable" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Another program may change a copy of a record, and another version may write a URL
// in another way. It enters the crawl as this one writes it, once.
func TestURLsEnterAsNormalizeWritesThem(t *testing.T) {
	d := newDeduper(t, topics.Definition{Scope: "any", MaxDepth: -1})
	ev := d.take("a.example", named("http://a.example/", "http://a.example:80/x y", "http://a.example/./x%20y"))
	if len(ev.GetTargets()) != 1 || ev.Targets[0].Url != "http://a.example/x%20y" {
		t.Fatalf("%v", ev)
	}
	if ev := d.take("a.example", named("http://a.example/", "http://a.example/x y")); len(ev.GetTargets()) != 0 {
		t.Errorf("it enters again: %v", ev)
	}
}
