// Command seed gives URLs to a crawl: seed [-depth N] URL...
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"
)

func main() {
	brokers := flag.String("brokers", "127.0.0.1:9092", "host:port of brokers, comma-separated")
	crawl := flag.String("crawl", "weft", "name of the crawl")
	depth := flag.Int("depth", 0, "count links from this depth on, so that a crawl with --max-depth follows them less far")
	flag.Parse()

	// By default franz-go waits until all replicas have acknowledged each record, once
	// and in order.
	client, err := kgo.NewClient(kgo.SeedBrokers(strings.Split(*brokers, ",")...))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	var records []*kgo.Record
	for _, url := range flag.Args() {
		// A seed is a URL in plain text, or a JSON object with options. It needs
		// no key, and any partition will do.
		value := []byte(url)
		if *depth > 0 {
			value, err = json.Marshal(map[string]any{"url": url, "depth": *depth})
			if err != nil {
				log.Fatal(err)
			}
		}
		records = append(records, &kgo.Record{Topic: *crawl + ".seeds", Value: value})
	}
	if err := client.ProduceSync(context.Background(), records...).FirstErr(); err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(records), "seeds")
}
