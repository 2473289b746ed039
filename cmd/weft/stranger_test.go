package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/codecs"
	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/broker"
	"github.com/weftcrawl/weft/topics"
)

// writeStrange is a command of the test scripts: stranger DIR writes what is no
// record of theirs into the first partition of every topic but seeds of the crawl in DIR.
func writeStrange() {
	if err := strange(context.Background(), os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func strange(ctx context.Context, dir string) error {
	b, err := broker.Open(broker.Options{Dir: dir + "/broker"})
	if err != nil {
		return err
	}
	defer b.Close()
	client, err := kgo.NewClient(append(b.Client(), kgo.RecordPartitioner(kgo.ManualPartitioner()))...)
	if err != nil {
		return err
	}
	defer client.Close()
	names := topics.Loop("weft")
	for _, topic := range names.Topics() {
		if topic.Name == names.Seeds {
			continue
		}
		for _, value := range [][]byte{{0xff, 0xff}, []byte("text"), nil, {}, bytes.Repeat([]byte("weft"), 200<<10)} {
			r := &kgo.Record{Topic: topic.Name, Key: []byte("other.example"), Value: value}
			if err := client.ProduceSync(ctx, r).FirstErr(); err != nil {
				return err
			}
		}
	}
	// What is a record of that type by chance.
	chance := codecs.EncodeRejected(&weftpb.Rejected{
		Stage: "4123\n7\n\x1b[2J", Topic: "http://example.com/", Reason: "HTTP/1.1", Value: []byte("Date: today"),
	})
	return client.ProduceSync(ctx, &kgo.Record{Topic: names.Rejected, Value: chance}).FirstErr()
}

// turnBits is a command of the test scripts: damage FILE turns bits of eight bytes
// in the middle of a file, and leaves a copy of it in damaged.dat.
func turnBits() {
	raw, err := os.ReadFile(os.Args[1])
	if err == nil {
		for i := range 8 {
			raw[len(raw)/2+i] ^= 0x5a
		}
		err = errors.Join(os.WriteFile(os.Args[1], raw, 0o644), os.WriteFile("damaged.dat", raw, 0o644))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
