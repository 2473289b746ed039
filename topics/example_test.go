package topics_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/topics"
)

// The names of a crawl's topics and groups begin with the crawl's name.
func ExampleLoop() {
	news := topics.Loop("news")
	fmt.Println(news.Seeds, news.Parsed, news.Group(topics.Parse))
	// Output: news.seeds news.parsed news.parse
}

// The loop as a table.
func ExampleNames_Steps() {
	for _, step := range topics.Loop("news").Steps() {
		fmt.Printf("%-9s %v → %v\n", step.Stage, step.Inputs, step.Outputs)
	}
	// Output:
	// normalize [news.seeds news.discovered] → [news.normalized]
	// dedupe    [news.normalized] → [news.deduped]
	// schedule  [news.deduped news.visited] → [news.scheduled]
	// fetch     [news.scheduled] → [news.fetched news.visited]
	// parse     [news.fetched] → [news.parsed news.discovered]
	// pages     [news.parsed] → []
	// archive   [news.fetched news.parsed] → []
}

// How long the records of each topic stay.
func ExampleNames_Topics() {
	kept := map[topics.Kept]string{topics.Forever: "for ever", topics.UntilConsumed: "until consumed", topics.UserDefined: "as you like", topics.OneWeek: "a week"}
	for _, topic := range topics.Loop("news").Topics() {
		fmt.Printf("%-15s %s\n", topic.Name, kept[topic.Kept])
	}
	// Output:
	// news.config     for ever
	// news.seeds      until consumed
	// news.discovered until consumed
	// news.normalized until consumed
	// news.deduped    for ever
	// news.scheduled  for ever
	// news.fetched    until consumed
	// news.visited    until consumed
	// news.parsed     as you like
	// news.rejected   a week
}

func ExampleNames_Topic() {
	news := topics.Loop("news")
	parsed, found := news.Topic("news.parsed")
	fmt.Println(parsed.Short, parsed.Kept == topics.UserDefined, found)
	_, found = news.Topic("orders")
	fmt.Println(found)
	// Output:
	// parsed true true
	// false
}

// Which topics the stage schedule consumes.
func ExampleNames_Inputs() {
	fmt.Println(topics.Loop("news").Inputs(topics.Schedule))
	// Output: [news.deduped news.visited]
}

// What a producer of seeds has to be allowed.
func ExampleNames_Roles() {
	for _, role := range topics.Loop("news").Roles() {
		if role.Name == "seed" {
			fmt.Printf("%s: %+v\n", role.Does, role.Grants)
		}
	}
	// Output: weft seed, and every other producer of seeds: [{Operation:Write On:topic Name:news.seeds Prefixed:false}]
}

// A ledger is kept for ever.
func ExampleTopic_Configs() {
	ledger, _ := topics.Loop("news").Topic("news.deduped")
	configs := ledger.Configs(3)
	fmt.Println(configs["cleanup.policy"], configs["retention.ms"], configs["min.insync.replicas"])
	// Output: delete -1 2
}

func ExampleCheckCrawl() {
	fmt.Println(topics.CheckCrawl("news-2026"))
	fmt.Println(topics.CheckCrawl("news.2026") != nil)
	// Output:
	// <nil>
	// true
}

func ExampleIsSeeds() {
	fmt.Println(topics.IsSeeds("news.seeds"), topics.IsSeeds("news.parsed"))
	// Output: true false
}

func ExampleIsGroup() {
	fmt.Println(topics.IsGroup("news.parse"), topics.IsGroup("news.consumers.search"))
	// Output: true false
}

// Everything that concerns a domain lies in partitions of one number.
func ExamplePartition() {
	fmt.Println(topics.Partition("example.com", 16), topics.Partition("example.org", 16))
	// Output: 6 1
}

func ExampleStages() {
	fmt.Println(topics.Stages(), topics.StagesOf(topics.Ledger))
	// Output: [normalize dedupe schedule fetch parse] [dedupe schedule]
}

// A control says what people ask of a crawl that runs.
func ExampleControl() {
	var control topics.Control
	control = control.WithPaused(true, topics.Parse, topics.Fetch)
	fmt.Println(control, control.Pauses(topics.Fetch))
	control = control.WithPaused(false, topics.Fetch)
	fmt.Println(control, control.Pauses(topics.Fetch))
	// Output:
	// paused: fetch parse true
	// paused: parse false
}

// What decides who owns a domain never changes.
func ExampleDefinition_After() {
	have := topics.Definition{UserAgent: "one/1.0"}
	want := have
	want.UserAgent = "two/1.0"
	fmt.Println(want.After(have, time.UnixMilli(1_800_000_000_000)).AgentSinceMS)
	fmt.Println(have.After(have, time.UnixMilli(1_800_000_000_000)).AgentSinceMS)
	// Output:
	// 1800000000000
	// 0
}

func ExampleDefinition_Agrees() {
	first := topics.Definition{Version: topics.DefinitionVersion, Crawl: "news", Partitions: 16, SuffixList: "2026-10"}
	later := first
	later.DelayMS = 2000
	fmt.Println(first.Agrees(later))
	later.Partitions = 32
	fmt.Println(errors.Is(first.Agrees(later), topics.ErrPinned))
	// Output:
	// <nil>
	// true
}

// The headers of a page say how to read the value and which page it is.
func ExampleExchange_Headers() {
	exchange := topics.Loop("news").Exchange("0123456789abcdef0123456789abcdef", 1763900000000)
	for _, header := range exchange.Headers(topics.SchemaParsed, topics.Parse) {
		fmt.Printf("%s: %s\n", header.Key, header.Value)
	}
	// Output:
	// schema: weft.parsed/1
	// page-id: 0123456789abcdef0123456789abcdef
	// crawl: news
	// traceparent: 00-187a66797f8b752c174c0f9552172c7e-cd647403543ea960-01
}

// Creates the topics of a crawl, gives it a seed, and reads the seed as normalize
// would. The cluster is one in memory.
func Example() {
	ctx := context.Background()
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1))
	if err != nil {
		log.Fatal(err)
	}
	defer cluster.Close()
	brokers := kgo.SeedBrokers(cluster.ListenAddrs()...)
	names := topics.Loop("news")

	client, err := kgo.NewClient(brokers, kgo.ConsumeTopics(names.Seeds))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	admin := kadm.NewClient(client)
	created, err := topics.Create(ctx, admin, topics.Spec{Crawl: "news", Partitions: 4, Replication: 1})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(created.Topics), "topics")
	fmt.Println(topics.Check(ctx, admin, names, 4))

	producer, err := topics.NewProducer(names, topics.DefaultProducerOptions(), brokers)
	if err != nil {
		log.Fatal(err)
	}
	defer producer.Close()
	seed := &kgo.Record{Topic: names.Seeds, Value: []byte("https://example.com/")}
	if err := producer.ProduceSync(ctx, seed).FirstErr(); err != nil {
		log.Fatal(err)
	}
	for _, record := range client.PollFetches(ctx).Records() {
		fmt.Printf("%s\n", record.Value)
	}
	// Output:
	// 10 topics
	// <nil>
	// https://example.com/
}
