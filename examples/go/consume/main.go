// Command consume prints the pages of a crawl, one line each: id, URL, title.
//
// It is a member of a consumer group. Run it twice, and each copy gets half of the
// partitions. Stop it, and the next run goes on where it was.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// page holds the members that this program uses; codecs/parsed.schema.json has all.
type page struct{ ID, URL, Title string }

func main() {
	brokers := flag.String("brokers", "127.0.0.1:9092", "host:port of brokers, comma-separated")
	crawl := flag.String("crawl", "weft", "name of the crawl")
	group := flag.String("group", "my-indexer", "consumer group: who you are")
	pages := flag.Int("pages", 0, "end after about so many pages; 0: never")
	idle := flag.Int("idle", 0, "end when no page comes for so many seconds; 0: never")
	flag.Parse()

	client, err := kgo.NewClient(
		kgo.SeedBrokers(strings.Split(*brokers, ",")...),
		kgo.ConsumerGroup(*group),
		kgo.ConsumeTopics(*crawl+".parsed"), // a new group begins at the topic's start
		kgo.DisableAutoCommit(),             // commit what is done, and not what is read
		kgo.BlockRebalanceOnPoll(),          // a partition is not taken away between the two
	)
	if err != nil {
		log.Fatal(err)
	}
	defer client.CloseAllowingRebalance()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()

	// After a crash, here or in the crawl, a page may come again with the same id. Make
	// the id the primary key of the database that the pages go to. This program has no
	// database, and remembers the ids of its own lifetime.
	seen := map[string]bool{}
	out := bufio.NewWriter(os.Stdout)
	for *pages == 0 || len(seen) < *pages {
		waiting, cancel := ctx, context.CancelFunc(func() {})
		if *idle > 0 {
			waiting, cancel = context.WithTimeout(ctx, time.Duration(*idle)*time.Second)
		}
		fetches := client.PollRecords(waiting, 50)
		cancel()
		if err := fetches.Err0(); errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
			return // idle for too long, or interrupted
		}
		if err := fetches.Err(); err != nil {
			log.Fatal(err)
		}
		fetches.EachRecord(func(r *kgo.Record) {
			var p page
			if err := json.Unmarshal(r.Value, &p); err != nil {
				log.Fatal(err)
			}
			if !seen[p.ID] {
				seen[p.ID] = true
				fmt.Fprintf(out, "%s\t%s\t%s\n", p.ID, p.URL, p.Title)
			}
		})
		// First make the work safe, then commit it: at least once.
		if err := out.Flush(); err != nil {
			log.Fatal(err)
		}
		if err := client.CommitUncommittedOffsets(ctx); err != nil {
			log.Fatal(err)
		}
		client.AllowRebalance()
	}
}
