package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/codecs"
	"github.com/weftcrawl/weft/crawl"
	"github.com/weftcrawl/weft/internal/urls"
	"github.com/weftcrawl/weft/topics"
)

type seedCmd struct {
	URLs []string `arg:"" optional:"" name:"file|url" help:"A file of seeds, or - for standard input, or URLs. The file has a URL or a JSON object per line."`

	Sitemap []string `placeholder:"URL" sep:"none" help:"URL of a sitemap: its entries are crawled. The sitemap itself is not a page. You may give this flag several times."`

	reachFlags
}

func (c *seedCmd) Run(ctx context.Context, std streams) error {
	seeds, err := c.seeds(std.in)
	if err != nil {
		return err
	}
	open, err := c.open(ctx, std, crawl.ToWrite, topics.Loop(c.Crawl).Seeds)
	if err != nil {
		return err
	}
	defer open.close()
	producer, err := topics.NewProducer(open.names, topics.DefaultProducerOptions(), open.client()...)
	if err != nil {
		return err
	}
	defer producer.Close()
	produced, err := produce(ctx, producer, open.names.Seeds, seeds)
	if err != nil && produced > 0 {
		return fmt.Errorf("%w (%d seeds before it are produced)", err, produced)
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(std.out, "%d seeds\n", produced)
	return err
}

// seeds are the arguments. The first one may name a file of seeds.
func (c *seedCmd) seeds(in io.Reader) (iter.Seq2[[]byte, error], error) {
	if len(c.URLs)+len(c.Sitemap) == 0 {
		return seedLines("-", in), nil
	}
	file, urls := "", c.URLs
	if len(urls) > 0 && checkSeed([]byte(urls[0])) != nil && isFile(urls[0]) {
		file, urls = urls[0], urls[1:]
	}
	seeds, err := argumentSeeds(urls, c.Sitemap)
	if err != nil {
		return nil, err
	}
	return func(yield func([]byte, error) bool) {
		for _, seed := range seeds {
			if !yield(seed, nil) {
				return
			}
		}
		if file != "" {
			seedLines(file, in)(yield)
		}
	}, nil
}

// produce returns how many seeds are acknowledged. It ends at the first error.
func produce(ctx context.Context, producer *kgo.Client, topic string, seeds iter.Seq2[[]byte, error]) (produced int, err error) {
	const batch = 1000
	records := make([]*kgo.Record, 0, batch)
	send := func() error {
		err := producer.ProduceSync(ctx, records...).FirstErr()
		if err != nil {
			return fmt.Errorf("produce to %s: %w", topic, err)
		}
		produced += len(records)
		records = records[:0]
		return nil
	}
	for seed, wrong := range seeds {
		if wrong != nil {
			err = wrong
			break
		}
		if records = append(records, &kgo.Record{Topic: topic, Value: seed}); len(records) == batch {
			if err := send(); err != nil {
				return produced, err
			}
		}
	}
	if failed := send(); failed != nil {
		return produced, failed
	}
	return produced, err
}

// maxSeedBytes bounds a line of seeds: a URL and its options.
const maxSeedBytes = 64 << 10

// argumentSeeds makes records for the topic seeds from URLs and sitemaps of the command line.
func argumentSeeds(pages, sitemaps []string) (seeds [][]byte, err error) {
	for i, argument := range slices.Concat(pages, sitemaps) {
		if _, refusal := urls.Parse(argument); refusal != urls.Accepted {
			return nil, usagef("%q cannot be crawled: %s", argument, explain(refusal))
		}
		seed := []byte(argument)
		if i >= len(pages) {
			seed = codecs.EncodeSeed(codecs.Seed{URL: argument, Sitemap: true})
		}
		seeds = append(seeds, seed)
	}
	return seeds, nil
}

// seedLines yields the records of a file, or of in when path is "-": a URL or a
// JSON object per line, without empty lines and lines that begin with #. It ends at
// the first line that is not a seed. The caller may keep the records.
func seedLines(path string, in io.Reader) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		if path != "-" {
			file, err := os.Open(path)
			if err != nil {
				yield(nil, usagef("read seeds: %w", err))
				return
			}
			defer file.Close()
			in = file
		}
		scanner := bufio.NewScanner(in)
		scanner.Buffer(nil, maxSeedBytes)
		number := 0
		for scanner.Scan() {
			number++
			line := bytes.TrimSpace(scanner.Bytes())
			if len(line) == 0 || line[0] == '#' {
				continue
			}
			if err := checkSeed(line); err != nil {
				yield(nil, usagef("seeds, line %d of %s: %w", number, path, err))
				return
			}
			if !yield(bytes.Clone(line), nil) {
				return
			}
		}
		if err := scanner.Err(); err != nil {
			yield(nil, usagef("seeds, line %d of %s: %w", number+1, path, err))
		}
	}
}

func checkSeed(line []byte) error {
	seeds, bad := codecs.DecodeSeeds(line)
	if len(bad) > 0 {
		return fmt.Errorf("not a seed: %s", bad[0].Reason)
	}
	for _, seed := range seeds {
		if _, refusal := urls.Parse(seed.URL); refusal != urls.Accepted {
			return fmt.Errorf("%q cannot be crawled: %s", seed.URL, explain(refusal))
		}
	}
	return nil
}

func explain(refusal urls.Refusal) string {
	switch {
	case refusal == urls.Empty:
		return "it is empty"
	case refusal == urls.NotAbsolute:
		return "it has no scheme such as https://"
	case refusal.NotCrawlable():
		return "its scheme is neither http nor https"
	case refusal == urls.NoHost:
		return "it names no host"
	case refusal == urls.TooLong:
		return fmt.Sprintf("it is longer than %d bytes", urls.MaxBytes)
	default:
		return "it is not a valid URL"
	}
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return path == "-" || err == nil && !info.IsDir()
}
