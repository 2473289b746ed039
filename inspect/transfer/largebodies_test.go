package transfer_test

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/inspect/transfer"
	"github.com/weftcrawl/weft/internal/blob"
	"github.com/weftcrawl/weft/internal/bodies"
	"github.com/weftcrawl/weft/internal/topiclog"
	"github.com/weftcrawl/weft/internal/urls"
	"github.com/weftcrawl/weft/test/webserver"
	"github.com/weftcrawl/weft/topics"
)

// bodiesIn are the bodies of a crawl's fetched in a folder.
func bodiesIn(t *testing.T, addr, name, folder string) *bodies.Store {
	t.Helper()
	bucket, err := blob.Open(deadline(t), folder)
	if err != nil {
		t.Fatal(err)
	}
	client, err := kgo.NewClient(at(addr)...)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	fetched := topics.Loop(name).Fetched
	listed, err := kadm.NewClient(client).ListTopics(deadline(t), fetched)
	if err != nil {
		t.Fatal(err)
	}
	return bodies.New(bucket, listed[fetched].ID, slog.New(slog.DiscardHandler))
}

// lastOf is the last record of a crawl's fetched that parse has to read.
func lastOf(t *testing.T, addr, name, url string) []byte {
	t.Helper()
	reader, err := topiclog.New(at(addr)...)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	var value []byte
	err = reader.Records(deadline(t), topics.Loop(name).Fetched, func(r *kgo.Record) error {
		var f weftpb.Fetched
		if err := proto.Unmarshal(r.Value, &f); err != nil {
			return err
		}
		if f.Request.Target.Url == url {
			value = r.Value
		}
		return nil
	})
	if err != nil || value == nil {
		t.Fatalf("%s is not in fetched of %s: %v", url, name, err)
	}
	return value
}

// TestLargeBodiesTravel moves a crawl with a body that is in a store, to another
// store and into a record, after the first store is gone. The record has no room for its
// coded form.
func TestLargeBodiesTravel(t *testing.T) {
	_, server := serve(t, webserver.Options{Pages: 10, Domains: 2}, webserver.ServerOptions{})
	o := options(t, server)
	cluster, folder := newCluster(t), t.TempDir()
	o.Cluster.Brokers, o.Definition.Crawl, o.Definition.Bodies, o.Definition.BodyThreshold = []string{cluster}, "old", folder, 100_000
	crawlUntil(t, o, server, 0)

	const url, domain = "http://large.example/", "large.example"
	body, coded := bytes.Repeat([]byte("body "), 60_000), bytes.Repeat([]byte("coded "), int(topics.LargestInRecord)/6)
	partition := topics.Partition(domain, 4)
	ref, err := bodiesIn(t, cluster, "old", folder).Put(deadline(t), partition, urls.PageID(url, 0), body, coded)
	if err != nil {
		t.Fatal(err)
	}
	value, err := proto.Marshal(&weftpb.Fetched{
		Id: urls.PageID(url, 0), Request: &weftpb.Request{Target: &weftpb.Target{Url: url}}, Outcome: &weftpb.Outcome{Status: 200}, Stored: ref,
	})
	if err != nil {
		t.Fatal(err)
	}
	client, err := kgo.NewClient(append(at(cluster), kgo.RecordPartitioner(kgo.ManualPartitioner()))...)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	record := &kgo.Record{Topic: topics.Loop("old").Fetched, Partition: partition, Key: []byte(domain), Value: value}
	if err := client.ProduceSync(deadline(t), record).FirstErr(); err != nil {
		t.Fatal(err)
	}

	dir := filepath.Join(t.TempDir(), "export")
	if _, err := transfer.Export(deadline(t), transfer.ExportOptions{Crawl: "old", Dir: dir, Client: at(cluster), Bodies: bodiesOf("")}); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	other := t.TempDir()
	for name, place := range map[string]string{"stored": other, "inside": ""} {
		made, err := transfer.Import(deadline(t), opened(t, dir), transfer.ImportOptions{
			Client: at(cluster), Crawl: name, Partitions: 3, Replication: 1, Bodies: place, OpenBodies: bodiesOf(""),
		})
		if err != nil || made.Definition.Bodies != place {
			t.Fatalf("%s: %+v, %v", name, made, err)
		}
		value := lastOf(t, cluster, name, url)
		if large := bodies.Reference(value) != nil; large != (place != "") {
			t.Errorf("%s: the body is in the store: %v", name, large)
		}
		store := bodiesIn(t, cluster, name, other)
		if value, err = store.Load(deadline(t), value); err != nil {
			t.Fatal(err)
		}
		if value, err = store.LoadCoded(deadline(t), value); err != nil {
			t.Fatal(err)
		}
		var f weftpb.Fetched
		if err := proto.Unmarshal(value, &f); err != nil || !bytes.Equal(f.Body, body) || place != "" && !bytes.Equal(f.CodedBody, coded) || place == "" && f.CodedBody != nil {
			t.Errorf("%s: a body of %d and %d bytes became one of %d and %d, %v", name, len(body), len(coded), len(f.Body), len(f.CodedBody), err)
		}
	}

	o.Dir, o.Definition.Crawl, o.Definition.Bodies, o.Definition.MaxBody = t.TempDir(), "huge", t.TempDir(), 64<<20
	crawlUntil(t, o, server, 0)
	dir = filepath.Join(t.TempDir(), "huge")
	if _, err := transfer.Export(deadline(t), transfer.ExportOptions{Crawl: "huge", Dir: dir, Client: at(cluster), Bodies: bodiesOf("")}); err != nil {
		t.Fatal(err)
	}
	if _, err := transfer.Import(deadline(t), opened(t, dir), transfer.ImportOptions{Client: at(cluster), Crawl: "nowhere", Replication: 1}); !errors.Is(err, transfer.ErrBodies) {
		t.Errorf("bodies of 64 MiB into records: %v", err)
	}
}
